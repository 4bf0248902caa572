import type { ServiceBroker } from "moleculer";
import { PushSender } from "../../../connectors/push-sender.ts";
import { Actor, Actors } from "../../../mixins/actor.ts";
import { ownerOf } from "../../../mixins/affinity.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { resourceQueue } from "../../../observability/resources.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import { event, type ServiceFactory } from "../../runtime.ts";
import type { Ready } from "../deliveries/enqueue.ts";
import type { OpenBreaker } from "./breaker.ts";
import { PushEndpointModel } from "./push.model.ts";
import type { Target } from "./target.ts";
import { PushWorker, type WorkerParts } from "./worker.ts";

const TIMEOUT_MS = 15_000;
/** Limits of concurrent attempts on this node: in total, per tenant, and per host of a tenant. */
const ATTEMPTS = { capacity: 512, perTenant: 256, perCaller: 64 };
const UNBOUNDED = Number.POSITIVE_INFINITY;
/** Polling interval, for changes and wake-ups that were lost between nodes. */
const LOOK_MS = 15_000;
const PAGE = 500;

/** Pushes deliveries to the endpoints of agents with the delivery mode `push` (api.md Delivery). */
export const pushService: ServiceFactory = ({ resolver, store, config, tracing }) => {
  const endpoints = store.collection(PushEndpointModel);
  const allowPrivate = config.PUSH_ALLOW_PRIVATE;
  const sender = new PushSender({ resolver, allowPrivate, timeoutMs: TIMEOUT_MS });
  const attempts = resourceQueue("push", { ...ATTEMPTS, maxWaiting: UNBOUNDED });
  const workers = new Map<string, PushWorker>();
  const leaving = new Set<Promise<void>>();
  const looks = new Actors(() => new Actor());
  let broker: ServiceBroker;
  let parts: WorkerParts;
  const loop = new ServiceLoop(lookAtAll, LOOK_MS, "push: will be tried again");
  let stopping = false;

  async function saveBreaker(
    { tenant_id, agent_id, endpoint }: Target,
    breaker: OpenBreaker | null,
  ): Promise<void> {
    if (!breaker) {
      await endpoints.delete(tenant_id, { _id: agent_id });
      return;
    }
    const { opened_at, probes, next_probe_at, last_error } = breaker;
    const row = {
      endpoint,
      opened_at: new Date(opened_at),
      probes,
      next_probe_at: new Date(next_probe_at),
      last_error,
    };
    await endpoints.upsert([{ filter: { _id: agent_id, tenant_id }, update: { $set: row } }]);
  }

  async function loadBreaker({ tenant_id, agent_id, endpoint }: Target): Promise<OpenBreaker | null> {
    const row = await endpoints.findOne(tenant_id, { _id: agent_id, endpoint });
    return row && { ...row, opened_at: row.opened_at.getTime(), next_probe_at: row.next_probe_at.getTime() };
  }

  /** Starts or stops the target's worker as needed, and makes it look for deliveries. */
  async function keep(agent_id: string, target: Target | null): Promise<void> {
    const current = workers.get(agent_id);
    if (current && !isSame(current.target, target)) {
      workers.delete(agent_id);
      const left = current.stop().finally(() => leaving.delete(left));
      leaving.add(left);
    }
    if (!target || stopping) return;
    if (!current || !isSame(current.target, target)) {
      const breaker = await loadBreaker(target);
      if (stopping) return;
      workers.set(agent_id, new PushWorker(target, breaker, parts));
    }
    workers.get(agent_id)?.changed();
  }

  /**
   * Returns the targets that this node pushes to now. Each target belongs to one node while nodes see each other;
   * otherwise several may try, and one of them claims each delivery. A suspended tenant's deliveries wait until it is
   * active again.
   */
  async function usable(all: Target[]): Promise<Target[]> {
    const nodes = pushingNodes();
    const targets = all.filter(({ agent_id }) => ownerOf(agent_id, nodes).id === broker.nodeID);
    if (targets.length === 0) return [];
    const tenant_ids = [...new Set(targets.map(({ tenant_id }) => tenant_id))];
    const tenants = await broker.call<TenantState[], unknown>("tenants.get_many", { tenant_ids });
    const active = new Set(tenants.filter(({ status }) => status === "active").map(({ id }) => id));
    return targets.filter(({ tenant_id }) => active.has(tenant_id));
  }

  function pushingNodes(): { id: string }[] {
    const running = broker.registry.getServiceList({ onlyAvailable: true }) as {
      name: string;
      nodeID: string;
    }[];
    return running.filter(({ name }) => name === "push").map(({ nodeID }) => ({ id: nodeID }));
  }

  /** Serialised, so that an older read never overwrites a newer one. */
  function lookAgain(agent_id: string): Promise<void> {
    return looks.with(agent_id, (actor) =>
      actor.run(async () => {
        const targets = await broker.call<Target[], unknown>("agents.push_targets", { agent_id });
        const [target = null] = await usable(targets);
        await keep(agent_id, target);
      }),
    );
  }

  /** Compares the workers with the targets. */
  async function lookAtAll(): Promise<boolean> {
    const seen = new Set<string>();
    for (let after = ""; ; ) {
      const page = await broker.call<Target[], unknown>("agents.push_targets", { after, limit: PAGE });
      for (const target of await usable(page)) {
        seen.add(target.agent_id);
        const worker = workers.get(target.agent_id);
        if (worker && isSame(worker.target, target)) worker.nudge();
        else await lookAgain(target.agent_id);
      }
      if (page.length < PAGE) break;
      after = (page.at(-1) as Target).agent_id;
    }
    for (const agent_id of workers.keys()) if (!seen.has(agent_id)) await lookAgain(agent_id);
    return false;
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all([loop.stop(), ...leaving, ...[...workers.values()].map((worker) => worker.stop())]);
    workers.clear();
    sender.close();
  }

  return {
    name: "push",
    mixins: [loop.mixin],
    events: {
      "deliveries.ready": event<{ ready: Ready[] }>(({ ready }) => {
        for (const { agent_id } of ready) workers.get(agent_id)?.nudge();
      }),
      "agents.changed": event<{ agent_id: string }>(({ agent_id }) => lookAgain(agent_id)),
      "tenants.changed": event(() => loop.nudge()),
      // Another pushing node joined or left: some targets have a new owner.
      "$services.changed": event(() => loop.nudge()),
      "$node.disconnected": event(() => loop.nudge()),
      // Before the services needed for settling stop.
      "node.stopping": event(stop),
    },
    created() {
      broker = this.broker;
      const report = (err: unknown) => broker.logger.warn("push: will be tried again", err);
      parts = {
        broker,
        sender,
        attempts,
        tracing,
        now: () => store.now(),
        report,
        saveBreaker,
      };
      observeGauge("push_targets", "Agents that this node pushes to", "by", async () => ({
        push: workers.size,
      }));
    },
    stopped: stop,
  };
};

/** Whether one target's worker also serves the other. */
function isSame(one: Target, other: Target | null): boolean {
  return one.endpoint === other?.endpoint && one.format === other.format;
}
