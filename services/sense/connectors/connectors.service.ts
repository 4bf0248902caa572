import { FollowingLoop } from "../../../mixins/shared.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { action, event, idempotent, type ServiceFactory } from "../../runtime.ts";
import type { Again } from "../deliveries/deliveries.model.ts";
import * as contract from "./connectors.contract.ts";
import { ConnectorModel } from "./connectors.model.ts";
import { Connectors } from "./connectors.ts";
import { Runner } from "./runner.ts";

/** Polling interval, for changes and wake-ups that were lost between nodes. */
const LOOK_MS = 15_000;

/** Ingests brokers' messages as events (spec: Events 3), on every node that runs it. */
export const connectorsService: ServiceFactory = (runtime) => {
  let connectors: Connectors;
  let runner: Runner;
  const read = [ConnectorModel.name, "tenants"];
  const loop = new FollowingLoop("sweep", () => runner.look(), LOOK_MS, read);

  async function stop(): Promise<void> {
    await Promise.all([loop.stop(), runner.stopAll()]);
  }

  return {
    name: "connectors",
    mixins: [loop.mixin],
    actions: {
      create: action(contract.createConnector, (ctx) => connectors.create(ctx)),
      list: action(contract.listConnectors, (ctx) => connectors.list(ctx)),
      get: action(contract.getConnector, (ctx) => connectors.get(ctx)),
      update: action(contract.updateConnector, (ctx) => connectors.update(ctx)),
      delete: action(contract.deleteConnector, (ctx) => connectors.delete(ctx)),
      map_again: idempotent<Again>(({ params }) => connectors.mapAgain(params)),
    },

    events: {
      "connectors.changed": event(() => loop.nudge()),
      // Sent, among others, when a tenant is suspended, activated or erased.
      "auth.changed": event<Record<string, string>>((changed) => {
        if (Object.keys(changed).join() === "tenant_id") loop.nudge();
      }),
      // Before the services needed for publishing stop.
      "node.stopping": event(stop),
    },

    created() {
      runner = new Runner(runtime, this.broker);
      connectors = new Connectors(runtime, this.broker, (id) => runner.stop(id));
      const states = async () => runner.states();
      observeGauge("connectors", states);
    },

    stopped: stop,
  };
};
