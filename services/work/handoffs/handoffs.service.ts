import { notFound } from "../../../lib/contract/faults.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { getHandoffOfAgent, listHandoffsOfAgent } from "./agent-handoffs.contract.ts";
import { getAgentHandoff, listAgentHandoffs } from "./agent-handoffs.ts";
import { renderBrief } from "./brief.ts";
import { listHandoffs } from "./find.ts";
import * as contract from "./handoffs.contract.ts";
import { internalActions } from "./handoffs.internal.ts";
import { present } from "./handoffs.model.ts";
import { Handoffs } from "./handoffs.ts";
import { resume } from "./resume.ts";
import { save } from "./save.ts";

const SWEEP_MS = 60_000;

/** Stores named snapshots of an agent's work for another client to resume (spec: Handoff). */
export const handoffsService: ServiceFactory = ({ store, log }) => {
  const handoffs = new Handoffs(store, log);
  const reaping = new SharedLoop(
    "sweep",
    (broker) => handoffs.reap(broker),
    SWEEP_MS,
    "handoffs: some could not be removed; the next sweep retries",
  );

  return {
    name: "handoffs",
    mixins: [reaping.mixin],
    actions: {
      save: action(contract.saveHandoff, (ctx) => save(handoffs, ctx)),
      list: action(contract.listHandoffs, (ctx) => listHandoffs(handoffs, ctx)),
      get: action(contract.getHandoff, async (ctx) => present(await handoffs.require(ctx, ctx.params.id))),
      resume: action(contract.resumeHandoff, (ctx) => resume(handoffs, ctx)),

      export: action(contract.exportHandoff, async (ctx) =>
        renderBrief(await handoffs.require(ctx, ctx.params.id)),
      ),

      delete: action(contract.deleteHandoff, async (ctx) => {
        const doc = await handoffs.require(ctx, ctx.params.id);
        if (!(await handoffs.remove(ctx, doc))) throw notFound("handoff", doc._id);
      }),

      pin: action(contract.pinHandoff, async (ctx) =>
        present(await handoffs.setPinned(ctx, ctx.params.id, true)),
      ),
      unpin: action(contract.unpinHandoff, async (ctx) =>
        present(await handoffs.setPinned(ctx, ctx.params.id, false)),
      ),
      list_of_agent: action(listHandoffsOfAgent, (ctx) => listAgentHandoffs(handoffs, ctx)),
      get_of_agent: action(getHandoffOfAgent, (ctx) => getAgentHandoff(handoffs, ctx)),
      ...internalActions(handoffs),
    },
  };
};
