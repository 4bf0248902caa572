import type { Config } from "../../../config.ts";
import { type Fault, ruleBroken } from "../../../lib/contract/faults.ts";
import { Actor, Actors } from "../../../mixins/actor.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { InterestDoc } from "./interests.model.ts";

interface LimitsDeps {
  interests: TenantCollection<InterestDoc>;
  /** The tenants' interests, feeds and waits. */
  routing: { current(tenant_id: string): Promise<{ readonly size: number }> };
  config: Pick<Config, "MAX_INTERESTS_PER_AGENT" | "MAX_INTERESTS_PER_TENANT">;
}

type Key = Pick<InterestDoc, "_id" | "tenant_id" | "agent_id" | "conflict_key">;

/**
 * Enforces the limits of agents' and tenants' interests; feeds and waits count for the tenant. Exact on one node. With several,
 * each may admit its creations in progress beyond the limit.
 */
export class InterestLimits {
  readonly #deps: LimitsDeps;
  /** Creations of an agent run sequentially. */
  readonly #agents = new Actors(() => new Actor());
  /** Creations in progress that the tenant's routing table may not contain yet. */
  readonly #ofTenant = new Map<string, Set<Promise<unknown>>>();

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
  }

  /** Creates an interest within the limits, or one that exists. @throws Fault business_rule_violation, `interest_limit` */
  within<T>(row: Key, create: () => Promise<T>): Promise<T> {
    const { _id, tenant_id, agent_id, conflict_key } = row;
    const { interests, config } = this.#deps;
    const createInTurn = async () => {
      if (await interests.exists(tenant_id, { $or: [{ _id }, { conflict_key }] })) return create();
      const perAgent = config.MAX_INTERESTS_PER_AGENT;
      if ((await interests.count(tenant_id, { agent_id })) >= perAgent) throw agentLimit(perAgent);
      return this.#whenAdmitted(tenant_id, () => this.#counted(tenant_id, create));
    };
    return this.#agents.with(agent_id, (agent) => agent.run(createInTurn));
  }

  /** @throws Fault business_rule_violation, rule `interest_limit`, if the tenant has no capacity for another one */
  requireForTenant(tenant_id: string): Promise<void> {
    return this.#whenAdmitted(tenant_id, () => {});
  }

  /** Calls `admit` in the tick of the check, so that later checks count what it starts. */
  async #whenAdmitted<T>(tenant_id: string, admit: () => T | Promise<T>): Promise<T> {
    const { routing } = this.#deps;
    const perTenant = this.#deps.config.MAX_INTERESTS_PER_TENANT;
    for (;;) {
      const { size } = await routing.current(tenant_id);
      const creating = this.#ofTenant.get(tenant_id);
      if (size + (creating?.size ?? 0) < perTenant) return admit();
      // Creations in progress may be counted twice, or fail.
      if (!creating || size >= perTenant) throw tenantLimit(perTenant);
      await Promise.allSettled(creating);
    }
  }

  /** Creates an interest; it counts as in progress until the routing table contains it. */
  async #counted<T>(tenant_id: string, create: () => Promise<T>): Promise<T> {
    const all = this.#ofTenant.get(tenant_id) ?? new Set();
    const creating = create().then(async (created) => {
      await this.#deps.routing.current(tenant_id).catch(() => {});
      return created;
    });
    this.#ofTenant.set(tenant_id, all.add(creating));
    try {
      return await creating;
    } finally {
      all.delete(creating);
      if (all.size === 0) this.#ofTenant.delete(tenant_id);
    }
  }
}

function agentLimit(limit: number): Fault {
  const message = `The agent has reached its limit of ${limit} interests. Delete one, or use one glob for several types.`;
  return ruleBroken("interest_limit", message, { limit, of: "agent" });
}

function tenantLimit(limit: number): Fault {
  const message = `The organisation has reached its limit of ${limit} interests, feeds and waiting steps of runs. Delete some, or use one glob for several types.`;
  return ruleBroken("interest_limit", message, { limit, of: "tenant" });
}
