import type { ServiceBroker } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import { compileKeyCheck } from "../../../lib/contract/known-keys.ts";
import { Type } from "../../../lib/contract/type.ts";
import { compileCheck } from "../../../lib/contract/validator.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { callerAccess } from "../../../mixins/access.ts";
import { Loop, working } from "../../../mixins/loop.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { Changes } from "./changes.ts";
import { CiteModel } from "./cites.model.ts";
import { Cites } from "./cites.ts";
import { collapseActions } from "./collapse.ts";
import { createMany, createOne } from "./create.ts";
import { eraseAction } from "./erase.ts";
import { eraseEverywhere } from "./erase-everywhere.ts";
import { MemoryErasureModel } from "./erasures.model.ts";
import { Erasures } from "./erasures.ts";
import { findingsOutbox } from "./findings-outbox.ts";
import { forBundleAction } from "./for-bundle.ts";
import { healthActions } from "./health.ts";
import { internalActions } from "./internal-actions.ts";
import { forget, promote, restore, update } from "./lifecycle.ts";
import { lineageOf } from "./lineage.ts";
import { listPage } from "./list.ts";
import * as contract from "./memories.contract.ts";
import { type MemoryDoc, MemoryModel } from "./memories.model.ts";
import { findReadable } from "./parts.ts";
import { finishPending, purge } from "./purge.ts";
import { recallAction } from "./recall.ts";
import { type NewMemory, present } from "./rows.ts";
import { searchMemories } from "./search.contract.ts";
import { search } from "./search.ts";
import { Searches } from "./searches.ts";
import { presentAll, presentOne } from "./shown.ts";
import { supersede } from "./supersede.ts";
import { Touches } from "./touches.ts";
import { type UsageParts, usageActions, usageOf } from "./usage.ts";

const SWEEP_MS = 60_000;
/** Interval for finishing interrupted replacements: until then the new memory, and perhaps the old one, is hidden. */
const FINISH_MS = 5_000;

export const memoriesService: ServiceFactory = ({ store, config }) => {
  const memories = store.collection(MemoryModel);
  const now = () => new Date(store.now());
  let broker: ServiceBroker;
  let purges: Loop;
  let finishing: Loop;
  let resuming: Loop;
  let erasures: Erasures;
  let touches: Touches;
  const searches = new Searches();
  let cites: Cites;
  const parts: UsageParts = {
    memories,
    cites: store.collection(CiteModel),
    now,
    windowMs: config.MEMORY_REVERSIBILITY_DAYS * DAY_MS,
    changes: new Changes(memories, () => broker),
  };

  return {
    name: "memories",
    mixins: [working(() => [parts.changes, purges, finishing, cites, resuming])],
    actions: {
      create: action(contract.createMemory, async (ctx) => present(await createOne(parts, ctx, ctx.params))),

      create_batch: action(contract.createMemories, async (ctx) => {
        const given = ctx.params.memories.map(checkNew);
        const results = await createMany(parts, ctx as Call, given);
        return { results: results.map(toResult) };
      }),

      list: action(contract.listMemories, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const access = await callerAccess(ctx);
        const { rows, ...page } = await listPage(memories, tenant_id, access, ctx.params, now());
        return { memories: await presentAll(parts, ctx as Call, rows, access), ...page };
      }),

      get: action(contract.getMemory, async (ctx) => {
        const { doc } = await findReadable(parts, ctx, ctx.params.id);
        touches.note([doc], store.now());
        return { ...(await presentOne(parts, ctx, doc)), usage: await usageOf(parts, ctx, doc) };
      }),

      update: action(contract.updateMemory, async (ctx) => presentOne(parts, ctx, await update(parts, ctx))),
      promote: action(contract.promoteMemory, async (ctx) =>
        presentOne(parts, ctx, await promote(parts, ctx)),
      ),
      restore: action(contract.restoreMemory, async (ctx) =>
        presentOne(parts, ctx, await restore(parts, ctx)),
      ),

      forget: action(contract.forgetMemory, async (ctx) => {
        const { _id, invalid_at } = await forget(parts, ctx);
        return { memory_id: _id, forgotten: true, invalid_at: (invalid_at as Date).toISOString() };
      }),

      supersede: action(contract.supersedeMemory, async (ctx) => {
        const { id, superseded_by_id } = ctx.params;
        const { superseded_by, invalid_at } = await supersede(parts, ctx, id, superseded_by_id);
        return { memory_id: id, superseded_by, invalid_at: (invalid_at as Date).toISOString() };
      }),

      search: action(searchMemories, async (ctx) => {
        const found = await search(parts, ctx, touches);
        await searches.note(ctx as Call);
        return found;
      }),
      lineage: action(contract.explainLineage, (ctx) => lineageOf(parts, ctx, ctx.params.id)),

      recall: recallAction(parts),
      for_bundle: forBundleAction(parts),
      ...internalActions(parts),
      ...collapseActions(parts),
      ...usageActions(parts, () => cites),
      ...healthActions(parts),
      ...findingsOutbox(parts),
      erase: eraseAction(() => erasures, config),
    },

    created() {
      broker = this.broker as ServiceBroker;
      const report = (err: unknown) => broker.logger.warn("memories: a sweep failed and is tried again", err);
      touches = new Touches(memories, report);
      cites = new Cites(parts, () => broker, report);
      const eraseAll = (tenant_id: string, ids: string[]) => eraseEverywhere(parts, broker, tenant_id, ids);
      purges = new Loop(() => purge(parts, eraseAll), SWEEP_MS, report);
      const rows = store.collection(MemoryErasureModel);
      erasures = new Erasures({ ...parts, erasures: rows, store, broker: () => broker });
      resuming = new Loop(() => erasures.resume(), SWEEP_MS, report);
      finishing = new Loop(() => finishPending(parts, broker), FINISH_MS, report);
    },

    async started() {
      if (store.driver === "sqlite") await erasures.reclaim();
    },

    stopped: () => touches.flush(store.now()),
  };
};

const NewMemoryBody = Type.Object(contract.newMemoryFields);
const checkOne = compileCheck(NewMemoryBody);
const checkKeys = compileKeyCheck(NewMemoryBody);

/** Returns a memory of a batch, or its validation error. */
function checkNew(given: unknown): NewMemory | Error {
  return checkKeys(given) ?? checkOne(given) ?? (given as NewMemory);
}

/** Returns the batch's result for one memory. */
function toResult(made: MemoryDoc | Error) {
  if (!(made instanceof Error)) return { status: 201, memory: present(made) };
  if (!isFault(made)) throw made;
  return { status: made.code, error: { code: made.type, message: made.message, details: made.data ?? {} } };
}
