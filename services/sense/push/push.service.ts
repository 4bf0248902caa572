import { ServiceLoop } from "../../../mixins/loop.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { event, type ServiceFactory } from "../../runtime.ts";
import type { Ready } from "../deliveries/notify.ts";
import { PushWorkers } from "./workers.ts";

/** Polling interval, for changes and wake-ups that were lost between nodes. */
const LOOK_MS = 15_000;

/** Pushes deliveries to the endpoints of agents with the delivery mode `push` (api.md Delivery). */
export const pushService: ServiceFactory = (runtime) => {
  let workers: PushWorkers;
  const loop = new ServiceLoop(() => workers.lookAtAll(), LOOK_MS, "push: will be tried again");

  async function stop(): Promise<void> {
    await Promise.all([loop.stop(), workers.stop()]);
  }

  return {
    name: "push",
    mixins: [loop.mixin],
    events: {
      "deliveries.ready": event<{ ready: Ready[] }>(({ ready }) => {
        for (const { agent_id } of ready) workers.nudge(agent_id);
      }),
      "agents.changed": event<{ agent_id: string }>(({ agent_id }) => workers.look(agent_id)),
      "tenants.changed": event(() => loop.nudge()),
      // Another pushing node joined or left: some targets have a new owner.
      "$services.changed": event(() => loop.nudge()),
      "$node.disconnected": event(() => loop.nudge()),
      // Before the services needed for settling stop.
      "node.stopping": event(stop),
    },
    created() {
      workers = new PushWorkers(runtime, this.broker);
      const size = async () => ({ push: workers.size });
      observeGauge("push_targets", "Agents that this node pushes to", "by", size);
    },
    stopped: stop,
  };
};
