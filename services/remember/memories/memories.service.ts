import { createHash } from "node:crypto";
import type { ActionSchema } from "moleculer";
import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import { mayRead } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { Due, deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import type { Where } from "../../../storage/query.ts";
import { backupsUntil } from "../../platform/system/scrub.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { newAnnouncements } from "./announce.ts";
import { cite, newSettlement } from "./cites.ts";
import { createMemories, createMemory } from "./create.ts";
import { eraseMemories } from "./erase.contract.ts";
import { type Erased, Erasures, eraseEverywhere } from "./erasures.ts";
import { type BundleLeg, forBundle } from "./for-bundle.ts";
import { reportHealth } from "./health.ts";
import * as keys from "./keys.contract.ts";
import { deleteByKey, getByKey, listOwnNamespaces, putByKey } from "./keys.ts";
import * as lifecycle from "./lifecycle.contract.ts";
import { forget, promote, restore, update } from "./lifecycle.ts";
import { listMemories } from "./list.ts";
import type { MemoryStatus } from "./memories.contract.ts";
import * as contract from "./memories.contract.ts";
import { internalActions } from "./memories.internal.ts";
import { type MemoryDoc, MemoryErasureModel } from "./memories.model.ts";
import { type Calls, Memories } from "./memories.ts";
import { searchMemories } from "./search.contract.ts";
import { FirstSearches, search } from "./search.ts";
import { completeReplacement, supersede } from "./supersede.ts";
import { Touches } from "./touches.ts";
import * as usage from "./usage.contract.ts";
import { computeActivity, getMemory, listCitations, MOST_ANCESTORS } from "./usage.ts";
import { correctionsOf, presentValidity } from "./validity.ts";

const ANNOUNCE_MS = 1000;
const SWEEP_MS = 60_000;
const CITE_MS = 5_000;
const PLACE_MS = 2_000;
/** Interval for finishing interrupted replacements: until then the new memory, and perhaps the old one, is hidden. */
const FINISH_MS = 5_000;
const FAILED = "memories: a sweep failed and will be retried";

export const memoriesService: ServiceFactory = (runtime) => {
  const { store, config, log } = runtime;
  const { MEMORY_REVERSIBILITY_DAYS } = config;
  const memories = new Memories(store, MEMORY_REVERSIBILITY_DAYS, log, () => announcing.nudge());
  const announcing = new SharedLoop("announcements", newAnnouncements(memories.rows, store.now), ANNOUNCE_MS);
  const erasures = new Erasures(memories, store.collection(MemoryErasureModel), runtime);
  const touches = new Touches(memories.rows, (err) => log.warn({ err }, FAILED));
  const firstSearches = new FirstSearches();
  const citing = new SharedLoop("citations", newSettlement(memories), CITE_MS);
  const purging = new SharedLoop("purge", newPurge(memories), SWEEP_MS);
  const finishing = new SharedLoop("pending", newFinishing(memories), FINISH_MS);
  const placing = new SharedLoop("findings", newPlacing(memories.rows, store.now), PLACE_MS);
  const erasing = new SharedLoop("erasures", (broker) => erasures.resume(broker), SWEEP_MS);

  return {
    name: "memories",
    mixins: [announcing, citing, purging, finishing, placing, erasing].map(({ mixin }) => mixin),
    actions: {
      create: action(contract.createMemory, (ctx) => createMemory(memories, ctx)),
      create_batch: action(contract.createMemoryBatch, (ctx) => createMemories(memories, ctx)),
      list: action(contract.listMemories, (ctx) => listMemories(memories, ctx)),

      get: action(contract.getMemory, (ctx) => getMemory(memories, ctx, touches)),
      update: action(contract.updateMemory, (ctx) => update(memories, ctx)),
      promote: action(lifecycle.promoteMemory, (ctx) => promote(memories, ctx)),
      forget: action(lifecycle.forgetMemory, (ctx) => forget(memories, ctx, ctx.params.id)),
      restore: action(lifecycle.restoreMemory, (ctx) => restore(memories, ctx)),
      supersede: action(lifecycle.supersedeMemory, (ctx) => supersede(memories, ctx)),
      history: action(lifecycle.getMemoryHistory, (ctx) => readHistory(memories, ctx, ctx.params.id)),
      lineage: action(lifecycle.getMemoryLineage, (ctx) => explainLineage(memories, ctx, ctx.params.id)),
      put_by_key: action(keys.putMemoryByKey, async (ctx) => {
        const { memory, isNew } = await putByKey(memories, ctx);
        if (!isNew) ctx.meta.$statusCode = 200;
        return memory;
      }),
      get_by_key: action(keys.getMemoryByKey, (ctx) => getByKey(memories, ctx)),
      delete_by_key: action(keys.deleteMemoryByKey, (ctx) => deleteByKey(memories, ctx)),
      namespaces: action(keys.listMemoryNamespaces, (ctx) => listOwnNamespaces(memories, ctx)),
      search: action(searchMemories, async (ctx) => {
        const found = await search(memories, ctx, touches);
        await firstSearches.report(ctx);
        return found;
      }),
      cite: action(usage.citeMemory, async (ctx) => {
        if (await cite(memories, ctx)) citing.nudge();
      }),
      citations: action(usage.listMemoryCitations, (ctx) => listCitations(memories, ctx)),
      activity: action(usage.getAgentActivity, (ctx) => computeActivity(memories, ctx)),
      health: action(usage.getMemoryHealth, (ctx) => reportHealth(memories, ctx)),
      erase: action(eraseMemories, (ctx) => erase(erasures, config, ctx)),
      erase_owner: internal<{ tenant_id: string; owner_id: string; shared: "keep" | "erase" }>((ctx) =>
        eraseOwner(erasures, config, ctx),
      ),
      for_bundle: idempotent<BundleLeg>((ctx) => forBundle(memories, ctx)),
      ...internalActions(memories),
      ...findingsOutbox(memories.rows),
    },

    events: {
      "findings.due"() {
        // Every node hears of it.
        if (placing.isOwn) placing.nudge();
      },
    },

    async started() {
      if (store.driver === "sqlite") await erasures.reclaim();
    },

    stopped: () => touches.flush(store.now()),
  };
};

/** Hands over memories that became institutional and need a position among the findings (findings/findings.service.ts). */
function findingsOutbox(memories: TenantCollection<MemoryDoc>): Record<string, ActionSchema> {
  return {
    /** Returns the oldest due memories of a tenant. */
    findings_due: idempotent<{ tenant_id: string; limit: number }>(
      async ({ params: { tenant_id, limit } }) => {
        const due = { finding_due_at: { $gt: new Date(0) }, ...WRITTEN };
        const options = { sort: { finding_due_at: 1, _id: 1 } as const, limit, projection: PROJECTION };
        return (await memories.find(tenant_id, due, options)).map(toDueFinding);
      },
    ),

    /** Removes memories that have their position from the outbox. */
    findings_placed: idempotent<{ tenant_id: string; ids: string[] }>(({ params: { tenant_id, ids } }) =>
      memories.updateMany(tenant_id, { _id: { $in: ids } }, { $unset: { finding_due_at: 1 } }),
    ),
  };
}

/** Has the memories get their positions that nobody asked for. The task returns whether there may be more. */
function newPlacing(rows: TenantCollection<MemoryDoc>, now: () => number): (ctx: Calls) => Promise<boolean> {
  const asking = { by: "finding_due_at", batch: BATCH, where: WRITTEN, projection: PROJECTION } as const;
  const due = new Due({ rows, now, ...asking });
  return (ctx) =>
    due.work((tenant_id, rows) => ctx.call("findings.place", { tenant_id, due: rows.map(toDueFinding) }));
}

function toDueFinding(row: MemoryDoc) {
  return {
    ...{ memory_id: row._id, agent_id: row.agent_id, origin: row.finding_origin },
    ...{ from_scope: row.finding_from_scope ?? null, at: row.finding_due_at?.getTime() },
  };
}

const WRITTEN = { status: { $ne: "pending" as const } };
const PROJECTION = {
  agent_id: 1,
  finding_due_at: 1,
  finding_origin: 1,
  finding_from_scope: 1,
} as const;

/**
 * Returns a memory's lineage (spec: Lineage result): the memories merged into it, and into those, nearest first, and
 * the one it replaced. Names only readable memories.
 */
async function explainLineage(memories: Memories, ctx: RequestContext, id: string) {
  const { doc, access } = await memories.findReadable(ctx, id);
  const { tenant_id } = doc;
  const merge_lineage: { loser_memory_id: string; winner_memory_id: string; origin: string }[] = [];
  const seen = new Set([id]);
  let winners = [id];
  let replaced: MemoryDoc[] = [];
  while (winners.length > 0 && seen.size < MOST_ANCESTORS) {
    const sort = { invalid_at: -1 as const, _id: -1 as const };
    const limit = MOST_ANCESTORS;
    const projection = { content: 0, metadata: 0, citations: 0, corrections: 0 } as const;
    const merged = { superseded_by: { $in: winners } };
    const into = await memories.rows.find(tenant_id, merged, { sort, limit, projection });
    const readable = into.filter((row) => mayRead(access, row) && !seen.has(row._id));
    // Forgetting what was replaced does not undo the replacement.
    const isReplaced = ({ status, merge_origin }: MemoryDoc) =>
      status === "superseded" || (status === "forgotten" && !merge_origin);
    if (winners[0] === id) replaced = readable.filter(isReplaced);
    const losers = readable.filter(({ status }) => status === "merged");
    for (const { _id, superseded_by, merge_origin } of losers) {
      seen.add(_id);
      merge_lineage.push({
        loser_memory_id: _id,
        winner_memory_id: superseded_by as string,
        origin: merge_origin ?? "proposal",
      });
    }
    winners = losers.map(({ _id }) => _id);
  }
  return {
    memory_id: id,
    merge_lineage,
    superseded: doc.superseded_by !== null,
    supersedes_target: replaced[0]?._id ?? null,
  };
}

const BATCH = 100;
/** After this long the writer of a replacement has finished or crashed. */
const PENDING_MS = 5_000;

/** Deletes memories permanently once they can no longer be restored. The task returns whether there may be more. */
export const newPurge = (of: Memories) =>
  deletion(
    { rows: of.rows, by: "purge_at", now: () => of.now().getTime() },
    async (tenant_id, over, ctx: Calls) => {
      await eraseEverywhere(of, ctx, tenant_id, over._id.$in);
      await of.rows.deleteMany(tenant_id, over);
    },
  );

/** Finishes replacements that were interrupted. The task returns whether there may be more. */
export function newFinishing(memories: Memories): (ctx: Calls) => Promise<boolean> {
  const { rows } = memories;
  const now = () => memories.now().getTime() - PENDING_MS;
  const due = new Due({ rows, by: "pending_at", now, batch: BATCH, bytes: PAGE_BYTES });
  return (ctx) => due.each((row) => completeReplacement(memories, ctx, row));
}

const MOST_VERSIONS = 200;

/**
 * Returns the versions of a memory, newest first: those that it superseded, directly or indirectly, and those that
 * superseded it. Names only what the caller may read. @throws Fault not_found
 */
async function readHistory(memories: Memories, ctx: RequestContext, id: string) {
  const { doc, access } = await memories.findReadable(ctx, id);
  const { tenant_id } = doc;
  // Those that the caller may not read lead to others.
  const seen = new Set([id]);
  const byId = new Map([[id, doc]]);
  const add = async (filter: Where<MemoryDoc>): Promise<MemoryDoc[]> => {
    const { rows } = await memories.rows.findWithin(tenant_id, filter, { limit: MOST_VERSIONS });
    const fresh = rows.filter(({ _id }) => !seen.has(_id));
    for (const row of fresh) {
      seen.add(row._id);
      if (memories.mayReadById(ctx.meta.caller, access, row)) byId.set(row._id, row);
    }
    return fresh;
  };
  const isReplaced = { status: { $in: ["superseded", "forgotten"] as MemoryDoc["status"][] } };
  for (let some = [doc]; some.length > 0 && seen.size < MOST_VERSIONS; )
    some = await add({ superseded_by: { $in: some.map(({ _id }) => _id) }, ...isReplaced });
  for (let some = [doc]; some.length > 0 && seen.size < MOST_VERSIONS; ) {
    const next = some.flatMap(({ superseded_by }) => superseded_by ?? []);
    some = next.length > 0 ? await add({ _id: { $in: next } }) : [];
  }
  const versions = [...byId.values()].sort(
    (a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? 1 : -1),
  );
  const replacing = new Map([...byId.values()].map((row) => [row.superseded_by, row.superseded_reason]));
  return {
    versions: versions.slice(0, MOST_VERSIONS).map((row) => ({
      ...{ id: row._id, title: row.title, content: row.content, status: row.status as MemoryStatus },
      ...{ valid: presentValidity(row), recorded_at: row.created_at.toISOString() },
      ...{ agent_id: row.agent_id, user_id: row.user_id, reason: replacing.get(row._id) ?? null },
      superseded_by: row.superseded_by !== null && byId.has(row.superseded_by) ? row.superseded_by : null,
      superseded_at: row.invalid_at?.toISOString() ?? null,
      corrections: correctionsOf(row)
        .reverse()
        .map(({ succeeded: _, ...shown }) => shown),
    })),
  };
}

type EraseParams = ParamsOf<typeof eraseMemories>;

/** Erases memories, or counts what it would erase. */
async function erase(erasures: Erasures, config: { BACKUP_RETENTION_DAYS: number }, ctx: Call<EraseParams>) {
  const { dry_run = false, agent_id, ids, subject } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const target = { ...(agent_id && { agent_id }), ...(ids && { ids }), ...(subject && { subject }) };
  const by = await namedBy(ctx);
  if (dry_run) {
    const erased = await erasures.count(ctx.broker, tenant_id, target);
    return { dry_run, erased_at: null, erased, storage: null, backups_until: null, receipt: null };
  }
  await note(ctx, "memories.erase_begun", { by });
  const row = await erasures.begin(tenant_id, target, by);
  const done = await erasures.carryOut(ctx.broker, row);
  const { erased, memory_ids_sha256 } = done;
  await note(ctx, "memories.erase", { by, erased, memory_ids_sha256 });
  return { dry_run, ...(await signed(ctx, { tenant_id, by }, done, config)) };
}

/** Erases what is an agent's or a person's own, and at last the account. Its caller has checked that it may. */
async function eraseOwner(
  erasures: Erasures,
  config: { BACKUP_RETENTION_DAYS: number },
  ctx: Call<{ tenant_id: string; owner_id: string; shared: "keep" | "erase" }>,
) {
  const { tenant_id, owner_id, shared } = ctx.params;
  const by = { owner_id, shared };
  const row = await erasures.begin(tenant_id, { agent_id: owner_id, gone: shared }, by);
  return signed(ctx, { tenant_id, by }, await erasures.carryOut(ctx.broker, row), config);
}

/** Returns the result of an erasure with its receipt. */
async function signed(
  ctx: Pick<Call, "call">,
  of: { tenant_id: string; by: object },
  { erased_at, erased, memory_ids_sha256, storage }: Erased,
  config: { BACKUP_RETENTION_DAYS: number },
) {
  const result = {
    ...{ erased_at: erased_at.toISOString(), erased, storage },
    backups_until: backupsUntil(erased_at, config),
  };
  const claims = { ...of, memory_ids_sha256, ...result };
  return { ...result, receipt: await ctx.call("auth.sign_receipt", { claims }) };
}

function note(ctx: RequestContext, what: string, details: object): Promise<unknown> {
  const { tenant_id } = ctx.meta.caller;
  return ctx.call("audit.record", { tenant_id, action: what, resource_type: "memory", details });
}

/**
 * Returns the audit log's name for the requested memories: a subject only as its digest, so that the log does not keep
 * erased data. @throws Fault validation_error, not_found
 */
async function namedBy(ctx: Call<EraseParams>): Promise<object> {
  const { agent_id, ids, subject } = ctx.params;
  const named = [agent_id, ids, subject].filter((each) => each !== undefined);
  if (named.length !== 1) {
    const message = `The request: expected exactly one of agent_id, ids and subject, got ${named.length}.`;
    throw invalidValue("agent_id", message, { expected: "exactly one of agent_id, ids, subject" });
  }
  if (ids) return { ids: ids.length };
  if (subject !== undefined) return { subject_sha256: createHash("sha256").update(subject).digest("hex") };
  const { tenant_id } = ctx.meta.caller;
  const known = await ctx.call<unknown[], unknown>("agents.get_many", { tenant_id, agent_ids: [agent_id] });
  if (known.length === 0) throw notFound("agent", agent_id as string);
  return { agent_id };
}
