import type { ServiceBroker } from "moleculer";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { listFindings } from "./findings.contract.ts";
import { CursorModel, FindingModel } from "./findings.model.ts";
import { keepPlaces } from "./places.ts";
import { readFindings } from "./read.ts";
import { Relay } from "./relay.ts";

const SWEEP_MS = 2_000;

export const findingsService: ServiceFactory = ({ store }) => {
  const findings = store.collection(FindingModel);
  const cursors = store.collection(CursorModel);
  const parts = { findings, cursors, now: () => new Date(store.now()) };
  let broker: ServiceBroker;
  const relay = new Relay(parts, () => broker);
  const loop = new ServiceLoop(() => relay.run(), SWEEP_MS, "findings: some wait for their place");

  return {
    name: "findings",
    mixins: [loop.mixin],
    actions: {
      list: action(listFindings, async (ctx) => {
        // Includes all memories whose write was answered before this request.
        await relay.run(ctx.meta.caller.tenant_id);
        return readFindings(parts, ctx);
      }),

      /** Removes the findings of erased memories; returns how many. */
      erase_memories: idempotent<EraseMemories>(async ({ params }) => {
        const { tenant_id, ids, dry_run } = params;
        if (!dry_run) await keepPlaces(parts, tenant_id, ids);
        return { findings: await eraseRows(findings, params, { _id: { $in: ids } }) };
      }),
    },

    events: {
      "findings.due"() {
        loop.nudge();
      },
    },

    created() {
      broker = this.broker as ServiceBroker;
    },
  };
};
