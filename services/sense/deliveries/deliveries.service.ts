import { keyedBy } from "../../../mixins/affinity.ts";
import { working } from "../../../mixins/loop.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { action, event, type ServiceFactory } from "../../runtime.ts";
import { newBacklog } from "./backlog.ts";
import { deadLetterActions } from "./dead-letter-actions.ts";
import { stats } from "./deliveries.contract.ts";
import { DeliveryModel } from "./deliveries.model.ts";
import type { Ready } from "./enqueue.ts";
import { internalActions, queueActions } from "./internal-actions.ts";
import { newParts, type Parts } from "./parts.ts";
import { receiverActions } from "./receiver-actions.ts";
import { release } from "./settle.ts";
import { newStats } from "./stats.ts";

/** Deliveries from fan-out to acknowledgement or the dead-letter queue (spec: DeliveryEvent, Delivery states). */
export const deliveriesService: ServiceFactory = (runtime) => {
  const deliveries = runtime.store.collection(DeliveryModel);
  let own: Parts;
  const parts = () => own;
  return {
    name: "deliveries",
    mixins: [working(() => Object.values(own.loops))],
    actions: {
      // An agent's queue lives on one node: its waiters, its queued calls and the leases of its streams.
      ...keyedBy("meta.caller.agent_id", receiverActions(parts)),
      ...keyedBy("params.agent_id", queueActions(parts)),
      ...deadLetterActions(parts),
      ...internalActions(parts),
      stats: action(stats, newStats(deliveries, runtime.store)),
    },
    events: {
      "deliveries.ready": event<{ ready: Ready[] }>(({ ready }) => {
        for (const { agent_id } of ready) own.receivers.wake(agent_id);
      }),
      "deliveries.stream_closed": event<{ tenant_id: string; agent_id: string; lease: string }>(
        async ({ tenant_id, agent_id, lease }) => {
          own.receivers.cancel(lease);
          const delivery_ids = await own.receivers.letGo(agent_id, lease);
          if (delivery_ids.length === 0) return;
          await release(deliveries, { tenant_id, agent_id, lease, delivery_ids, at: own.now() });
          own.announceReady([{ tenant_id, agent_id }]);
        },
      ),
      "request.abandoned": event<{ caller_id: string; request_id: string }>(({ caller_id, request_id }) =>
        own.receivers.cancel(`${caller_id} ${request_id}`),
      ),
      "agents.changed": event<{ agent_id: string }>(({ agent_id }) => own.agents.forget(agent_id)),
      "node.stopping": event(() => own.receivers.stop()),
    },
    created() {
      own = newParts(runtime, deliveries, this.broker);
      observeGauge(
        "deliveries_pending",
        "Deliveries not settled",
        "state",
        newBacklog(this.broker, deliveries),
      );
    },
    stopped: () => own.receivers.stop(),
  };
};
