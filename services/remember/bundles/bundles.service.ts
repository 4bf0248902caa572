import type { AgentCaller, Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { EraseContent } from "../../erasers.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { getBundleOfAgent, listBundlesOfAgent } from "./agent-bundles.contract.ts";
import { getAgentBundle, listAgentBundles } from "./agent-bundles.ts";
import { assembleBundle } from "./assemble.ts";
import * as contract from "./bundles.contract.ts";
import { type BundleDoc, BundleModel, present } from "./bundles.model.ts";
import { hold, reap } from "./retention.ts";

const SWEEP_MS = 10 * 60_000;
const FAILED = "bundles: old ones could not be removed; the next sweep retries";

/** Gathers what an agent may need for a task, and keeps it unchanged (spec: Context bundle). */
export const bundlesService: ServiceFactory = ({ store, config: { BUNDLE_RETENTION_DAYS } }) => {
  const bundles = store.collection(BundleModel);
  const { now } = store;
  const reaper = new SharedLoop("sweep", (broker) => reap(bundles, now(), broker), SWEEP_MS, FAILED);

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
      assemble: action(contract.assembleBundle, (ctx) =>
        assembleBundle(bundles, now, BUNDLE_RETENTION_DAYS, ctx),
      ),
      get: action(contract.getBundle, async (ctx) => present(await requireOwn(ctx))),
      brief: action(contract.getBundleBrief, async (ctx) => (await requireOwn(ctx)).rendered_brief),
      list_of_agent: action(listBundlesOfAgent, (ctx) => listAgentBundles(bundles, ctx)),
      get_of_agent: action(getBundleOfAgent, (ctx) => getAgentBundle(bundles, ctx)),

      /**
       * Whether the calling agent has this bundle, which is then kept for a handoff or an attempt on a step to name it.
       */
      hold: idempotent<{ id: string; by: "handoff" | "attempt" }>(({ params: { id, by }, meta }) => {
        const { tenant_id, agent_id } = meta.caller as AgentCaller;
        // Runs, and so their attempts, are never removed.
        return hold(bundles, now(), { tenant_id, agent_id, id: id.toLowerCase(), forGood: by === "attempt" });
      }),

      /** Removes the bundles that hold erased memories, because a brief is never rewritten; returns how many. */
      erase_agent: idempotent<EraseContent>(async ({ params: { tenant_id, agent_id, dry_run } }) => ({
        bundles: dry_run
          ? await bundles.count(tenant_id, { agent_id })
          : await bundles.deleteMany(tenant_id, { agent_id }),
      })),
      erase_memories: idempotent<EraseMemories>(async ({ params }) => ({
        bundles: await eraseRows(bundles, params, { memory_ids: { $in: params.ids } }),
      })),
    },
  };
};
