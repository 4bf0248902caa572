import type { ActionSchema } from "moleculer";
import type { RequestContext } from "../../../lib/access/caller.ts";
import { mayRead } from "../../../lib/access/visibility.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { announceChanges } from "./announce.ts";
import type { BundleLeg } from "./bundle-leg.ts";
import { cite, settleCites } from "./cites.ts";
import { createMemories, createMemory } from "./create.ts";
import { eraseMemories } from "./erase.contract.ts";
import { erase, eraseOwner } from "./erase.ts";
import { MemoryErasureModel } from "./erasures.model.ts";
import { Erasures, eraseEverywhere } from "./erasures.ts";
import { forBundle } from "./for-bundle.ts";
import { reportHealth } from "./health.ts";
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
/** Interval for finishing interrupted replacements: until then the new memory, and perhaps the old one, is hidden. */
const FINISH_MS = 5_000;
const FAILED = "memories: a sweep failed and will be retried";

export const memoriesService: ServiceFactory = (runtime) => {
  const { store, config, log } = runtime;
  const { MEMORY_REVERSIBILITY_DAYS } = config;
  const memories = new Memories(store, MEMORY_REVERSIBILITY_DAYS, log, () => announcing.nudge());
  const announcing = new SharedLoop(
    "announcements",
    (broker) => announceChanges(memories.rows, broker),
    ANNOUNCE_MS,
  );
  const erasures = new Erasures(memories, store.collection(MemoryErasureModel), runtime);
  const touches = new Touches(memories.rows, (err) => log.warn({ err }, FAILED));
  const firstSearches = new FirstSearches();
  const citing = new SharedLoop("citations", (broker) => settleCites(memories, broker), CITE_MS);
  const purging = new SharedLoop("purge", (broker) => purge(memories, broker), SWEEP_MS);
  const finishing = new SharedLoop("pending", (broker) => finishPending(memories, broker), FINISH_MS);
  const erasing = new SharedLoop("erasures", (broker) => erasures.resume(broker), SWEEP_MS);

  return {
    name: "memories",
    mixins: [announcing, citing, purging, finishing, erasing].map(({ mixin }) => mixin),
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

    async started() {
      if (store.driver === "sqlite") await erasures.reclaim();
    },

    stopped: () => touches.flush(store.now()),
  };
};

/** Hands over memories that became institutional and need a position among the findings (findings/findings.service.ts). */
function findingsOutbox(memories: TenantCollection<MemoryDoc>): Record<string, ActionSchema> {
  return {
    /** Returns the oldest due memories, of one tenant or of all. */
    findings_due: idempotent<{ tenant_id?: string; limit: number }>(
      async ({ params: { tenant_id, limit } }) => {
        const due = { finding_due_at: { $gt: new Date(0) }, status: { $ne: "pending" as const } };
        const options = { sort: { finding_due_at: 1, _id: 1 } as const, limit, projection: PROJECTION };
        const rows = (
          tenant_id === undefined
            ? await memories.system.find(due, options).toArray()
            : await memories.find(tenant_id, due, options)
        ) as MemoryDoc[];
        return rows.map((row) => ({
          memory_id: row._id,
          tenant_id: row.tenant_id,
          agent_id: row.agent_id,
          origin: row.finding_origin,
          from_scope: row.finding_from_scope ?? null,
          at: row.finding_due_at?.getTime(),
        }));
      },
    ),

    /** Removes memories that have their position from the outbox. */
    findings_placed: idempotent<{ tenant_id: string; ids: string[] }>(({ params: { tenant_id, ids } }) =>
      memories.updateMany(tenant_id, { _id: { $in: ids } }, { $unset: { finding_due_at: 1 } }),
    ),
  };
}

const PROJECTION = {
  tenant_id: 1,
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
    const projection = { content: 0, metadata: 0, citations: 0 } as const;
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

/** Deletes memories permanently once they can no longer be restored. @returns whether there may be more */
export async function purge(of: Memories, ctx: Calls): Promise<boolean> {
  const { rows: memories, now } = of;
  const due = { purge_at: { $lte: now() } };
  const rows = (await memories.system
    .find(due, { limit: BATCH, projection: { tenant_id: 1 } })
    .toArray()) as Pick<MemoryDoc, "_id" | "tenant_id">[];
  for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const ids = those.map(({ _id }) => _id);
    await eraseEverywhere(of, ctx, tenant_id, ids);
    await memories.deleteMany(tenant_id, { _id: { $in: ids }, ...due });
  }
  return rows.length === BATCH;
}

/** Finishes replacements that were interrupted. @returns whether there may be more */
export async function finishPending(memories: Memories, ctx: Calls): Promise<boolean> {
  const before = new Date(memories.now().getTime() - PENDING_MS);
  const { rows, more } = await memories.rows.findAnyWithin(
    { pending_at: { $lte: before } },
    { limit: BATCH },
  );
  for (const row of rows) await completeReplacement(memories, ctx, row);
  return more || rows.length === BATCH;
}
