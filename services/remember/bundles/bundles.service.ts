import type { AgentCaller, Call } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { WEIGHTS_VERSION } from "../../../storage/search/features.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { deletedMemories } from "../memories/readable.ts";
import { type Placed, renderBrief } from "./brief.ts";
import { assembleBundle, getBundle, getBundleBrief } from "./bundles.contract.ts";
import { type BundleDoc, type BundleItem, BundleModel } from "./bundles.model.ts";
import { gather, isSaid } from "./gather.ts";
import { hold, reap } from "./retention.ts";

const SWEEP_MS = 10 * 60_000;

/** Gathers what an agent may need for a task, and keeps it unchanged (spec: Context bundle). */
export const bundlesService: ServiceFactory = ({ store, config }) => {
  const bundles = store.collection(BundleModel);
  const parts = { bundles, now: () => store.now() };
  const reaper = new ServiceLoop(
    (broker) => reap(parts, broker),
    SWEEP_MS,
    "bundles: some are removed later",
  );

  async function requireOwn({ params: { id }, meta }: Call<{ id: string }>): Promise<BundleDoc> {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    const doc = await bundles.findOne(tenant_id, { _id: id.toLowerCase(), agent_id });
    if (!doc) throw notFound("bundle", id);
    return doc;
  }

  return {
    name: "bundles",
    mixins: [reaper.mixin],
    actions: {
      assemble: action(assembleBundle, async (ctx) => {
        const { tenant_id, agent_id } = ctx.meta.caller as AgentCaller;
        const { query, project_id, since, until } = ctx.params;
        if (since && until && Date.parse(since) > Date.parse(until)) {
          throw invalidValue("until", "until: expected a time not before since.", { value: until });
        }
        if (project_id) await ctx.call("projects.require", { tenant_id, key: project_id });
        const asked = isSaid(query) ? query : null;
        for (;;) {
          const { items, degraded_reasons } = await gather(ctx);
          const at = store.now();
          const kept = await bundles.insertOnce({
            ...{ _id: newUuid(ctx.meta.idempotency_seed), tenant_id, agent_id, query: asked },
            items: items.map(toItem),
            rendered_brief: renderBrief({ query: asked, items, degraded_reasons }),
            ...{ degraded_reasons, weights_version: WEIGHTS_VERSION },
            memory_ids: items.filter(({ kind }) => kind === "memory").map(({ item_id }) => item_id),
            created_at: new Date(at),
            expires_at: new Date(at + config.BUNDLE_RETENTION_DAYS * DAY_MS),
          });
          if ((await deletedMemories(ctx as Call, kept.memory_ids)).length === 0) return present(kept);
          // A memory was erased while the bundle was gathered.
          await bundles.delete(tenant_id, { _id: kept._id });
        }
      }),

      get: action(getBundle, async (ctx) => present(await requireOwn(ctx))),
      brief: action(getBundleBrief, async (ctx) => (await requireOwn(ctx)).rendered_brief),

      /**
       * Whether the calling agent has this bundle, which is then kept for a handoff or an attempt on a step to name it.
       */
      hold: idempotent<{ id: string; by: "handoff" | "attempt" }>(({ params: { id, by }, meta }) => {
        const { tenant_id, agent_id } = meta.caller as AgentCaller;
        // Runs, and so their attempts, are never removed.
        return hold(parts, { tenant_id, agent_id, id: id.toLowerCase(), forGood: by === "attempt" });
      }),

      /** Removes the bundles that hold erased memories, because a brief is never rewritten; returns how many. */
      erase_memories: idempotent<EraseMemories>(async ({ params }) => ({
        bundles: await eraseRows(bundles, params, { memory_ids: { $in: params.ids } }),
      })),
    },
  };
};

function toItem({ kind, item_id, title, score, source, why, rank }: Placed): BundleItem {
  return { kind, item_id, title, score, source, why, rank };
}

function present(doc: BundleDoc) {
  const { _id, query, items, rendered_brief, degraded_reasons, weights_version, created_at } = doc;
  return {
    ...{ id: _id, query, items: items.map((each) => ({ ...each })), rendered_brief },
    ...{ degraded: degraded_reasons.length > 0, degraded_reasons, weights_version },
    created_at: created_at.toISOString(),
  };
}
