import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";
import type { AgentState } from "../../identity/agents/agents.contract.ts";

interface AgentSettings extends Pick<AgentState, "team_id" | "max_in_flight" | "max_per_minute"> {
  agent_id: string;
  visibility_timeout_seconds: number;
  retry_budget: number;
  retry_delays_seconds: readonly number[];
}

const FRESH_MS = 2000;
const MAX_CACHED = 50_000;

/** Agents' settings, loaded in batches and cached for two seconds or until `agents.changed`. */
export class AgentSettingsCache {
  readonly #broker: ServiceBroker;
  readonly #config: Config;
  readonly #cached = new Map<string, { settings: Promise<AgentSettings>; until: number }>();

  constructor(broker: ServiceBroker, config: Config) {
    this.#broker = broker;
    this.#config = config;
  }

  get(tenant_id: string, agent_id: string): Promise<AgentSettings> {
    return this.#fresh(agent_id) ?? (this.#load(tenant_id, [agent_id])[0] as Promise<AgentSettings>);
  }

  async getMany(tenant_id: string, agent_ids: string[]): Promise<Map<string, AgentSettings>> {
    const fresh = agent_ids.flatMap((id) => this.#fresh(id) ?? []);
    const missing = fresh.length < agent_ids.length ? agent_ids.filter((id) => !this.#fresh(id)) : [];
    const settings = await Promise.all([...fresh, ...(missing.length ? this.#load(tenant_id, missing) : [])]);
    return new Map(settings.map((each) => [each.agent_id, each]));
  }

  forget(agent_id: string): void {
    this.#cached.delete(agent_id);
  }

  #fresh(agent_id: string): Promise<AgentSettings> | undefined {
    const cached = this.#cached.get(agent_id);
    return cached && cached.until > performance.now() ? cached.settings : undefined;
  }

  #load(tenant_id: string, agent_ids: string[]): Promise<AgentSettings>[] {
    if (this.#cached.size + agent_ids.length > MAX_CACHED) this.#cached.clear();
    const rows = this.#broker
      .call<AgentState[], unknown>("agents.get_many", { tenant_id, agent_ids })
      .then((found) => new Map(found.map((row) => [row.id, row])));
    const until = performance.now() + FRESH_MS;
    return agent_ids.map((agent_id) => {
      const settings = rows.then((byId) => this.#toSettings(agent_id, byId.get(agent_id)));
      this.#cached.set(agent_id, { settings, until });
      settings.catch(() => this.forget(agent_id));
      return settings;
    });
  }

  /** @param row absent for a deleted agent, whose deliveries take their course */
  #toSettings(agent_id: string, row: AgentState | undefined): AgentSettings {
    const { VISIBILITY_TIMEOUT_SECONDS, RETRY_BUDGET, RETRY_DELAYS_SECONDS } = this.#config;
    const { team_id = null, max_in_flight = null, max_per_minute = null } = row ?? {};
    return {
      ...{ agent_id, team_id, max_in_flight, max_per_minute },
      visibility_timeout_seconds: row?.visibility_timeout_seconds ?? VISIBILITY_TIMEOUT_SECONDS,
      retry_budget: row?.retry_budget ?? RETRY_BUDGET,
      retry_delays_seconds: row?.retry_delays_seconds ?? RETRY_DELAYS_SECONDS,
    };
  }
}
