import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { announceChanges } from "./announce.ts";
import type { BundleLeg } from "./bundle-leg.ts";
import { cite, settleCites } from "./cites.ts";
import { createMemories, createMemory } from "./create.ts";
import { eraseMemories } from "./erase.contract.ts";
import { erase, eraseOwner } from "./erase.ts";
import { MemoryErasureModel } from "./erasures.model.ts";
import { Erasures } from "./erasures.ts";
import { findingsOutbox } from "./findings-outbox.ts";
import { forBundle } from "./for-bundle.ts";
import { reportHealth } from "./health.ts";
import * as keys from "./keys.contract.ts";
import { deleteByKey, getByKey, listOwnNamespaces, putByKey } from "./keys.ts";
import * as lifecycle from "./lifecycle.contract.ts";
import { forget, promote, restore, update } from "./lifecycle.ts";
import { explainLineage } from "./lineage.ts";
import { listMemories } from "./list.ts";
import * as contract from "./memories.contract.ts";
import { internalActions } from "./memories.internal.ts";
import { Memories } from "./memories.ts";
import { finishPending, purge } from "./purge.ts";
import { searchMemories } from "./search.contract.ts";
import { FirstSearches, search } from "./search.ts";
import { supersede } from "./supersede.ts";
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
    "memories: events could not be published; the next sweep retries",
  );
  const erasures = new Erasures(memories, store.collection(MemoryErasureModel), runtime);
  const touches = new Touches(memories.rows, (err) => log.warn({ err }, FAILED));
  const firstSearches = new FirstSearches();
  const citing = new SharedLoop("citations", (broker) => settleCites(memories, broker), CITE_MS, FAILED);
  const purging = new SharedLoop("purge", (broker) => purge(memories, broker), SWEEP_MS, FAILED);
  const finishing = new SharedLoop("pending", (broker) => finishPending(memories, broker), FINISH_MS, FAILED);
  const erasing = new SharedLoop("erasures", (broker) => erasures.resume(broker), SWEEP_MS, FAILED);

  return {
    name: "memories",
    mixins: [announcing, citing, purging, finishing, erasing].map(({ mixin }) => mixin),
    actions: {
      create: action(contract.createMemory, (ctx) => createMemory(memories, ctx)),
      create_batch: action(contract.createMemories, (ctx) => createMemories(memories, ctx)),
      list: action(contract.listMemories, (ctx) => listMemories(memories, ctx)),

      get: action(contract.getMemory, (ctx) => getMemory(memories, ctx, touches)),
      update: action(contract.updateMemory, (ctx) => update(memories, ctx)),
      promote: action(lifecycle.promoteMemory, (ctx) => promote(memories, ctx)),
      forget: action(lifecycle.forgetMemory, (ctx) => forget(memories, ctx, ctx.params.id)),
      restore: action(lifecycle.restoreMemory, (ctx) => restore(memories, ctx)),
      supersede: action(lifecycle.supersedeMemory, (ctx) => supersede(memories, ctx)),
      lineage: action(lifecycle.explainLineage, (ctx) => explainLineage(memories, ctx, ctx.params.id)),
      put_by_key: action(keys.putMemoryByKey, async (ctx) => {
        const { memory, isNew } = await putByKey(memories, ctx);
        if (!isNew) ctx.meta.$statusCode = 200;
        return memory;
      }),
      get_by_key: action(keys.getMemoryByKey, (ctx) => getByKey(memories, ctx)),
      delete_by_key: action(keys.deleteMemoryByKey, (ctx) => deleteByKey(memories, ctx)),
      namespaces: action(keys.listNamespaces, (ctx) => listOwnNamespaces(memories, ctx)),
      search: action(searchMemories, async (ctx) => {
        const found = await search(memories, ctx, touches);
        await firstSearches.report(ctx);
        return found;
      }),
      cite: action(usage.citeMemory, async (ctx) => {
        if (await cite(memories, ctx)) citing.nudge();
      }),
      citations: action(usage.listCitations, (ctx) => listCitations(memories, ctx)),
      activity: action(usage.agentActivity, (ctx) => computeActivity(memories, ctx)),
      health: action(usage.memoryHealth, (ctx) => reportHealth(memories, ctx)),
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
