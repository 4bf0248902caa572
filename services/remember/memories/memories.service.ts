import type { ActionSchema } from "moleculer";
import type { RequestContext } from "../../../lib/access/caller.ts";
import { mayRead } from "../../../lib/access/visibility.ts";
import { Due } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { newAnnouncements } from "./announce.ts";
import type { BundleLeg } from "./bundle-leg.ts";
import { cite, newSettlement } from "./cites.ts";
import { createMemories, createMemory } from "./create.ts";
import { eraseMemories } from "./erase.contract.ts";
import { erase, eraseOwner } from "./erase.ts";
import { MemoryErasureModel } from "./erasures.model.ts";
import { Erasures, eraseEverywhere } from "./erasures.ts";
import { forBundle } from "./for-bundle.ts";
import { reportHealth } from "./health.ts";
import { readHistory } from "./history.ts";
import * as keys from "./keys.contract.ts";
import { deleteByKey, getByKey, listOwnNamespaces, putByKey } from "./keys.ts";
import * as lifecycle from "./lifecycle.contract.ts";
import { forget, promote, restore, update } from "./lifecycle.ts";
import { listMemories } from "./list.ts";
import * as contract from "./memories.contract.ts";
import { internalActions } from "./memories.internal.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { type Calls, Memories } from "./memories.ts";
import { searchMemories } from "./search.contract.ts";
import { FirstSearches, search } from "./search.ts";
import { completeReplacement, supersede } from "./supersede.ts";
import { Touches } from "./touches.ts";
import * as usage from "./usage.contract.ts";
import { computeActivity, getMemory, listCitations } from "./usage.ts";

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
    due.work((tenant_id, those) => ctx.call("findings.place", { tenant_id, due: those.map(toDueFinding) }));
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

/** Limits the lineage to the nearest ancestors. */
const MOST_ANCESTORS = 500;

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
export function newPurge(of: Memories): (ctx: Calls) => Promise<boolean> {
  const { rows, now } = of;
  const projection = { purge_at: 1 };
  const due = new Due({ rows, by: "purge_at", now: () => now().getTime(), batch: BATCH, projection });
  return (ctx) =>
    due.work(async (tenant_id, those) => {
      const ids = those.map(({ _id }) => _id);
      await eraseEverywhere(of, ctx, tenant_id, ids);
      await rows.deleteMany(tenant_id, { _id: { $in: ids }, purge_at: { $lte: now() } });
    });
}

/** Finishes replacements that were interrupted. The task returns whether there may be more. */
export function newFinishing(memories: Memories): (ctx: Calls) => Promise<boolean> {
  const { rows } = memories;
  const now = () => memories.now().getTime() - PENDING_MS;
  const due = new Due({ rows, by: "pending_at", now, batch: BATCH, bytes: PAGE_BYTES });
  return (ctx) => due.each((row) => completeReplacement(memories, ctx, row));
}
