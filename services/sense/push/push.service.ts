import type { ServiceBroker } from "moleculer";
import type { OfAgent } from "../../../lib/access/caller.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { FollowingLoop } from "../../../mixins/shared.ts";
import { observeGauge, observeValue } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { event, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { Unreachable } from "../deliveries/health/health.ts";
import { type PushEndpointDoc, PushEndpointModel } from "./push.model.ts";
import { failedAt } from "./push-worker.ts";
import { PushWorkers } from "./push-workers.ts";

/** Polling interval for changes of agents whose message was lost between nodes. */
const LOOK_MS = 30_000;
/** The same for deliveries that became ready. */
const READY_MS = 15_000;
const FAILED = "push: the sweep failed and will be retried";

/** Pushes deliveries to the endpoints of agents with the delivery mode `push` (api.md Delivery). */
export const pushService: ServiceFactory = (runtime) => {
  const endpoints = runtime.store.collection(PushEndpointModel);
  let broker: ServiceBroker;
  let workers: PushWorkers;
  const checking = new ServiceLoop("ready deliveries", () => workers.lookForReady(), READY_MS);
  const looking = new FollowingLoop("agents", lookAtAll, LOOK_MS, ["agents", "tenants"]);

  async function lookAtAll(): Promise<boolean> {
    // Their owner may have looked before this node knew of it.
    if (await workers.lookAtAll()) broker.broadcast("push.moved");
    // New workers have not looked yet.
    checking.nudge();
    return false;
  }

  async function stop(): Promise<void> {
    await Promise.all([looking.stop(), checking.stop(), workers.stop()]);
  }

  return {
    name: "push",
    mixins: [looking.mixin, checking.mixin],
    actions: {
      /** Returns which of the tenant's endpoints, or of some agents', cannot be reached. */
      unreachable: idempotent<{ tenant_id: string; agent_ids?: string[] }>(({ params }) =>
        findUnreachable(endpoints, params),
      ),
      wake: internal<{ ready: OfAgent[] }>(({ params }) => {
        for (const { agent_id } of params.ready) workers.nudge(agent_id);
      }),
    },
    events: {
      "agents.changed": event<{ agent_id: string }>(({ agent_id }) =>
        workers.look(agent_id).catch((err) => {
          broker.logger.warn(FAILED, err);
          looking.nudge();
        }),
      ),
      "push.moved": event(() => looking.nudge()),
      "tenants.changed": event(() => looking.nudge()),
      // Another pushing node joined or left: some targets have a new owner.
      "$services.changed": event(() => {
        if (workers.peersChanged()) looking.nudge();
      }),
      // Earlier messages can be lost.
      "$node.connected": event(() => looking.nudge()),
      "$node.disconnected": event(() => looking.nudge()),
      // Before the services needed for settling stop.
      "node.stopping": event(stop),
    },
    created() {
      broker = this.broker;
      workers = new PushWorkers(runtime, broker);
      const size = async () => ({ push: workers.size });
      observeGauge("push_targets", size);
      observeValue("push_breakers_open", () => workers.unreachable);
    },
    stopped: stop,
  };
};

async function findUnreachable(
  endpoints: TenantCollection<PushEndpointDoc>,
  { tenant_id, agent_ids }: { tenant_id: string; agent_ids?: string[] },
): Promise<Unreachable[]> {
  const rows = await endpoints.find(tenant_id, agent_ids ? { _id: { $in: agent_ids } } : {}, { limit: 1000 });
  return rows.map((row) => ({
    agent_id: row._id,
    endpoint: row.endpoint,
    since: row.opened_at.toISOString(),
    failed_at: failedAt(row).toISOString(),
    error: row.last_error,
  }));
}
