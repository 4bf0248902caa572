import type { ServiceBroker } from "moleculer";
import { PushSender } from "../../../connectors/push-sender.ts";
import { Actor } from "../../../mixins/actor.ts";
import { isOwner, nodesWith } from "../../../mixins/affinity.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { activeTenants } from "../../identity/tenants/find-tenants.ts";
import { outgoing } from "../../outgoing.ts";
import type { Runtime } from "../../runtime.ts";
import { byTenant, type ReadyAgents } from "../deliveries/notify.ts";
import { type PushEndpointDoc, PushEndpointModel } from "./push.model.ts";
import { type OpenBreaker, PushWorker, type Target, type WorkerDeps } from "./push-worker.ts";

const TIMEOUT_MS = 15_000;
const PAGE = 500;

/** This node's workers: one for each agent that it pushes to. */
export class PushWorkers {
  readonly #broker: ServiceBroker;
  readonly #endpoints: TenantCollection<PushEndpointDoc>;
  readonly #sender: PushSender;
  readonly #deps: WorkerDeps;
  readonly #workers = new Map<string, PushWorker>();
  readonly #leaving = new Set<Promise<void>>();
  /** Runs one comparison at a time, so that an older read never overwrites a newer one. */
  readonly #looks = new Actor();
  #peers = "";
  #stopping = false;

  constructor({ resolver, store, config, hooks }: Runtime, broker: ServiceBroker) {
    this.#broker = broker;
    this.#endpoints = store.collection(PushEndpointModel);
    const allowPrivate = config.PUSH_ALLOW_PRIVATE;
    this.#sender = new PushSender({ resolver, allowPrivate, timeoutMs: TIMEOUT_MS });
    this.#deps = {
      broker,
      sender: this.#sender,
      attempts: outgoing,
      tracing: hooks.tracing,
      now: () => store.now(),
      report: (err) => broker.logger.warn("push: a worker failed and will be restarted", err),
      saveBreaker: (target, breaker) => this.#saveBreaker(target, breaker),
    };
  }

  get size(): number {
    return this.#workers.size;
  }

  get unreachable(): number {
    return [...this.#workers.values()].filter((worker) => worker.isUnreachable).length;
  }

  /** Makes the agent's worker, if it is here, look for deliveries. */
  nudge(agent_id: string): void {
    this.#workers.get(agent_id)?.nudge();
  }

  /** Whether nodes that push joined or left since it was last asked. */
  peersChanged(): boolean {
    const before = this.#peers;
    this.#peers = nodesWith(this.#broker, "push")
      .map(({ id }) => id)
      .sort()
      .join(" ");
    return this.#peers !== before;
  }

  /** Compares an agent's worker with its target, and makes it look for deliveries. */
  async look(agent_id: string): Promise<void> {
    if (!this.#owns(agent_id) && !this.#workers.has(agent_id)) return;
    await this.#looks.run(async () => {
      const mine = await this.#mine(await this.#targets({ agent_id }));
      if (mine.length === 0) this.#end(agent_id);
      await this.#keep(mine);
      this.#workers.get(agent_id)?.changed();
    });
  }

  /** Compares the workers with the targets. Returns whether some are another node's now. */
  async lookAtAll(): Promise<boolean> {
    const seen = new Set<string>();
    for (let after: string | undefined = ""; after !== undefined; )
      after = await this.#looks.run(async () => {
        const page = await this.#targets({ after: after as string, limit: PAGE });
        const mine = await this.#mine(page);
        await this.#keep(mine);
        for (const { agent_id } of mine) seen.add(agent_id);
        return page.length < PAGE ? undefined : page.at(-1)?.agent_id;
      });
    const gone = [...this.#workers.keys()].filter((agent_id) => !seen.has(agent_id));
    for (const agent_id of gone) await this.look(agent_id);
    return gone.some((agent_id) => !this.#owns(agent_id));
  }

  /**
   * Nudges idle workers whose agents have ready deliveries: their wake-up was lost, or was sent before the worker
   * started. One query for many agents. Returns whether there may be more.
   */
  async lookForReady(): Promise<boolean> {
    const idle = [...this.#workers.values()].filter((worker) => worker.isIdle).map(({ target }) => target);
    let more = false;
    for (let from = 0; from < idle.length; from += PAGE) {
      const params = { agents: byTenant(idle.slice(from, from + PAGE)) };
      const ready = await this.#broker.call<ReadyAgents, unknown>("deliveries.ready_agents", params);
      for (const agent_id of ready.agent_ids) this.nudge(agent_id);
      more ||= ready.more;
    }
    return more;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#leaving, ...[...this.#workers.values()].map((worker) => worker.stop())]);
    this.#workers.clear();
    await this.#sender.close();
  }

  #targets(query: { agent_id: string } | { after: string; limit: number }): Promise<Target[]> {
    return this.#broker.call<Target[], unknown>("agents.push_targets", query);
  }

  #owns(agent_id: string): boolean {
    return isOwner(this.#broker, "push", agent_id);
  }

  /**
   * Returns the targets that this node pushes to now. Each target belongs to one node while nodes see each other;
   * otherwise several may try, and one of them claims each delivery. A suspended tenant's deliveries wait until it is
   * active again.
   */
  async #mine(all: Target[]): Promise<Target[]> {
    const targets = all.filter(({ agent_id }) => this.#owns(agent_id));
    const active = await activeTenants(this.#broker, targets);
    return targets.filter(({ tenant_id }) => active.has(tenant_id));
  }

  /** Starts the targets' workers where there is none, or one of an earlier target. */
  async #keep(targets: Target[]): Promise<void> {
    const other = targets.filter((target) => !isSame(target, this.#workers.get(target.agent_id)?.target));
    const breakers = await this.#loadBreakers(other);
    for (const target of other) {
      this.#end(target.agent_id);
      if (this.#stopping) return;
      const breaker = breakers.get(target.agent_id);
      const open = breaker?.endpoint === target.endpoint ? breaker : null;
      this.#workers.set(target.agent_id, new PushWorker(target, open, this.#deps));
    }
  }

  #end(agent_id: string): void {
    const worker = this.#workers.get(agent_id);
    if (!worker) return;
    this.#workers.delete(agent_id);
    const left = worker.stop().finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  async #saveBreaker({ tenant_id, agent_id: _id, endpoint }: Target, breaker: OpenBreaker | null) {
    if (!breaker) return void (await this.#endpoints.delete(tenant_id, { _id }));
    await this.#endpoints.upsert([
      { filter: { _id, tenant_id }, update: { $set: { ...breaker, endpoint } } },
    ]);
  }

  async #loadBreakers(targets: Target[]): Promise<Map<string, PushEndpointDoc>> {
    const rows = await Promise.all(
      byTenant(targets).map(({ tenant_id, agent_ids }) =>
        this.#endpoints.find(tenant_id, { _id: { $in: agent_ids } }),
      ),
    );
    return new Map(rows.flat().map((row) => [row._id, row]));
  }
}

function isSame(one: Target, other: Target | undefined): boolean {
  return (
    one.endpoint === other?.endpoint && one.format === other.format && one.is_limited === other.is_limited
  );
}
