import type { AgentCaller, Call } from "../../lib/caller.ts";
import { invalidValue, notFound } from "../../lib/faults.ts";
import { newUuid } from "../../lib/ids.ts";
import { WEIGHTS_VERSION } from "../../lib/search-features.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { action, idempotent, type ServiceFactory } from "../runtime.ts";
import { type Placed, renderBrief } from "./brief.ts";
import { assembleBundle, getBundle, getBundleBrief } from "./bundles.contract.ts";
import { type BundleDoc, type BundleItem, BundleModel } from "./bundles.model.ts";
import { gather, isSaid } from "./gather.ts";

/** What an agent may need for a task, gathered once and kept as it was (spec: Context bundle). */
export const bundlesService: ServiceFactory = ({ store }) => {
  const bundles = store.collection(BundleModel);

  function findOwn({ params: { id }, meta }: Call<{ id: string }>): Promise<BundleDoc | null> {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    return bundles.findOne(tenant_id, { _id: id.toLowerCase(), agent_id });
  }

  async function requireOwn(ctx: Call<{ id: string }>): Promise<BundleDoc> {
    const doc = await findOwn(ctx);
    if (!doc) throw notFound("bundle", ctx.params.id);
    return doc;
  }

  return {
    name: "bundles",
    actions: {
      assemble: action(assembleBundle, async (ctx) => {
        const { tenant_id, agent_id } = ctx.meta.caller as AgentCaller;
        const { query, project_id, since, until } = ctx.params;
        if (since && until && Date.parse(since) > Date.parse(until)) {
          throw invalidValue("until", "until: expected a time not before since.", { value: until });
        }
        if (project_id) await ctx.call("projects.require", { tenant_id, key: project_id });
        const asked = isSaid(query) ? query : null;
        const { items, degraded_reasons } = await gather(ctx);
        const kept = await bundles.insertOnce({
          ...{ _id: newUuid(ctx.meta.idempotency_seed), tenant_id, agent_id, query: asked },
          items: items.map(toItem),
          rendered_brief: renderBrief({ query: asked, items, degraded_reasons }),
          ...{ degraded_reasons, weights_version: WEIGHTS_VERSION },
          memory_ids: items.filter(({ kind }) => kind === "memory").map(({ item_id }) => item_id),
          created_at: new Date(store.now()),
        });
        return present(kept);
      }),

      get: action(getBundle, async (ctx) => present(await requireOwn(ctx))),
      brief: action(getBundleBrief, async (ctx) => (await requireOwn(ctx)).rendered_brief),

      /** Whether the calling agent has this bundle. */
      is_own: idempotent<{ id: string }>(async (ctx) => (await findOwn(ctx)) !== null),

      /** Removes the bundles that hold memories that are erased: a brief is never written anew. Says how many. */
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
