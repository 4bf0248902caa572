import type { ServiceBroker } from "moleculer";
import { Loop } from "../../../mixins/loop.ts";
import type { ServiceFactory } from "../../runtime.ts";
import { FirstIds } from "./first-ids.ts";
import { receiveActions } from "./receive.ts";
import { registerActions } from "./register.ts";
import { WebhookBodyModel } from "./webhook-bodies.model.ts";
import { WebhookModel } from "./webhooks.model.ts";

const SWEEP_MS = 600_000;

/** The inlet for what other systems send over HTTP (spec: Events 3). */
export const ingestService: ServiceFactory = (runtime) => {
  const { store } = runtime;
  const webhooks = store.collection(WebhookModel);
  const firstIds = new FirstIds(store.collection(WebhookBodyModel), () => store.now());
  let sweep: Loop;
  return {
    name: "ingest",
    actions: { ...registerActions(runtime, webhooks), ...receiveActions(runtime, webhooks, firstIds) },

    events: {
      "$broker.started"() {
        sweep.start();
      },
    },

    created() {
      const broker = this.broker as ServiceBroker;
      const report = (err: unknown) =>
        broker.logger.warn("ingest: old bodies stay until the next sweep", err);
      sweep = new Loop(() => firstIds.sweep(), SWEEP_MS, report);
    },

    async stopped() {
      await sweep.stop();
    },
  };
};
