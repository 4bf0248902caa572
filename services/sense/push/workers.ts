import type { ServiceBroker } from "moleculer";
import { PushSender } from "../../../connectors/push-sender.ts";
import { Actor, Actors } from "../../../mixins/actor.ts";
import { ownerOf } from "../../../mixins/affinity.ts";
import { resourceQueue } from "../../../observability/resources.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { activeTenants } from "../../identity/tenants/find-tenants.ts";
import type { Runtime } from "../../runtime.ts";
import type { OpenBreaker } from "./breaker.ts";
import { type PushEndpointDoc, PushEndpointModel } from "./push.model.ts";
import type { Target } from "./target.ts";
import { PushWorker, type WorkerDeps } from "./worker.ts";

const TIMEOUT_MS = 15_000;
/** Limits of concurrent attempts on this node: in total, per tenant, and per host of a tenant. */
const ATTEMPTS = { capacity: 512, perTenant: 256, perCaller: 64, maxWaiting: Number.POSITIVE_INFINITY };
const PAGE = 500;

/** This node's workers: one for each agent that it pushes to. */
export class PushWorkers {
  readonly #broker: ServiceBroker;
  readonly #endpoints: TenantCollection<PushEndpointDoc>;
  readonly #sender: PushSender;
  readonly #deps: WorkerDeps;
  readonly #workers = new Map<string, PushWorker>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #looks = new Actors(() => new Actor());
  #stopping = false;

  constructor({ resolver, store, config, tracing }: Runtime, broker: ServiceBroker) {
    this.#broker = broker;
    this.#endpoints = store.collection(PushEndpointModel);
    const allowPrivate = config.PUSH_ALLOW_PRIVATE;
    this.#sender = new PushSender({ resolver, allowPrivate, timeoutMs: TIMEOUT_MS });
    this.#deps = {
      broker,
      sender: this.#sender,
      attempts: resourceQueue("push", ATTEMPTS),
      tracing,
      now: () => store.now(),
      report: (err) => broker.logger.warn("push: will be tried again", err),
      saveBreaker: (target, breaker) => this.#saveBreaker(target, breaker),
    };
  }

  get size(): number {
    return this.#workers.size;
  }

  /** Makes the agent's worker, if it is here, look for deliveries. */
  nudge(agent_id: string): void {
    this.#workers.get(agent_id)?.nudge();
  }

  /** Compares an agent's worker with its target. Serialised, so that an older read never overwrites a newer one. */
  look(agent_id: string): Promise<void> {
    return this.#looks.with(agent_id, (actor) =>
      actor.run(async () => {
        const [target = null] = await this.#mine(await this.#targets({ agent_id }));
        await this.#keep(agent_id, target);
      }),
    );
  }

  /** Compares the workers with the targets. Returns false: nothing is left to do. */
  async lookAtAll(): Promise<false> {
    const seen = new Set<string>();
    for (let after = ""; ; ) {
      const page = await this.#targets({ after, limit: PAGE });
      for (const target of await this.#mine(page)) {
        seen.add(target.agent_id);
        const worker = this.#workers.get(target.agent_id);
        if (worker && isSame(worker.target, target)) worker.nudge();
        else await this.look(target.agent_id);
      }
      if (page.length < PAGE) break;
      after = (page.at(-1) as Target).agent_id;
    }
    for (const agent_id of this.#workers.keys()) if (!seen.has(agent_id)) await this.look(agent_id);
    return false;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#leaving, ...[...this.#workers.values()].map((worker) => worker.stop())]);
    this.#workers.clear();
    this.#sender.close();
  }

  #targets(query: { agent_id: string } | { after: string; limit: number }): Promise<Target[]> {
    return this.#broker.call<Target[], unknown>("agents.push_targets", query);
  }

  /**
   * Returns the targets that this node pushes to now. Each target belongs to one node while nodes see each other;
   * otherwise several may try, and one of them claims each delivery. A suspended tenant's deliveries wait until it is
   * active again.
   */
  async #mine(all: Target[]): Promise<Target[]> {
    const services = this.#broker.registry.getServiceList({ onlyAvailable: true });
    const nodes = services
      .filter(({ name }) => name === "push")
      .map(({ nodeID }) => ({ id: nodeID as string }));
    const targets = all.filter(({ agent_id }) => ownerOf(agent_id, nodes).id === this.#broker.nodeID);
    const active = await activeTenants(this.#broker, targets);
    return targets.filter(({ tenant_id }) => active.has(tenant_id));
  }

  /** Starts or stops the target's worker as needed, and makes it look for deliveries. */
  async #keep(agent_id: string, target: Target | null): Promise<void> {
    const current = this.#workers.get(agent_id);
    if (current && !isSame(current.target, target)) {
      this.#workers.delete(agent_id);
      const left = current.stop().finally(() => this.#leaving.delete(left));
      this.#leaving.add(left);
    }
    if (!target || this.#stopping) return;
    if (!this.#workers.has(agent_id)) {
      const breaker = await this.#loadBreaker(target);
      if (this.#stopping) return;
      this.#workers.set(agent_id, new PushWorker(target, breaker, this.#deps));
    }
    this.#workers.get(agent_id)?.changed();
  }

  async #saveBreaker({ tenant_id, agent_id: _id, endpoint }: Target, breaker: OpenBreaker | null) {
    if (!breaker) return void (await this.#endpoints.delete(tenant_id, { _id }));
    const opened_at = new Date(breaker.opened_at);
    const $set = { ...breaker, endpoint, opened_at, next_probe_at: new Date(breaker.next_probe_at) };
    await this.#endpoints.upsert([{ filter: { _id, tenant_id }, update: { $set } }]);
  }

  async #loadBreaker({ tenant_id, agent_id, endpoint }: Target): Promise<OpenBreaker | null> {
    const row = await this.#endpoints.findOne(tenant_id, { _id: agent_id, endpoint });
    if (!row) return null;
    const { probes, last_error, opened_at, next_probe_at } = row;
    return { probes, last_error, opened_at: opened_at.getTime(), next_probe_at: next_probe_at.getTime() };
  }
}

/** Whether one target's worker also serves the other. */
function isSame(one: Target, other: Target | null): boolean {
  return one.endpoint === other?.endpoint && one.format === other.format;
}
