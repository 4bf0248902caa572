import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";

/** Settings that decide how an agent receives deliveries. */
interface AgentSettings {
  agent_id: string;
  status: "active" | "inactive";
  team_id: string | null;
  delivery_mode: "poll" | "push" | "sse";
  delivery_endpoint: string | null;
  push_stopped: boolean;
  visibility_timeout_seconds: number;
  retry_budget: number;
  retry_delays_seconds: readonly number[];
  max_in_flight: number | null;
  max_per_minute: number | null;
}

interface AgentRow extends Omit<AgentSettings, "agent_id"> {
  id: string;
}

type Defaults = Pick<AgentSettings, "visibility_timeout_seconds" | "retry_budget" | "retry_delays_seconds">;

/** Settings of an agent that is deleted, or has none. */
const NONE: Omit<AgentSettings, "agent_id" | keyof Defaults> = {
  ...{ status: "inactive", team_id: null, delivery_mode: "poll", delivery_endpoint: null },
  ...{ push_stopped: false, max_in_flight: null, max_per_minute: null },
};

const FRESH_MS = 2000;
const MAX_CACHED = 50_000;

/** Agents' settings, loaded in batches and cached for two seconds or until `agents.changed`. */
export class AgentSettingsCache {
  readonly #broker: ServiceBroker;
  readonly #defaults: Defaults;
  readonly #cached = new Map<string, { settings: Promise<AgentSettings>; until: number }>();

  constructor(broker: ServiceBroker, config: Config) {
    this.#broker = broker;
    this.#defaults = {
      visibility_timeout_seconds: config.VISIBILITY_TIMEOUT_SECONDS,
      retry_budget: config.RETRY_BUDGET,
      retry_delays_seconds: config.RETRY_DELAYS_SECONDS,
    };
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

  /** Loads all of them by one call. */
  #load(tenant_id: string, agent_ids: string[]): Promise<AgentSettings>[] {
    if (this.#cached.size + agent_ids.length > MAX_CACHED) this.#cached.clear();
    const rows = this.#broker
      .call<AgentRow[], unknown>("agents.get_many", { tenant_id, agent_ids })
      .then((found) => new Map(found.map((row) => [row.id, row])));
    const until = performance.now() + FRESH_MS;
    return agent_ids.map((agent_id) => {
      const settings = rows.then((byId) => this.#toSettings(agent_id, byId.get(agent_id)));
      this.#cached.set(agent_id, { settings, until });
      settings.catch(() => this.forget(agent_id));
      return settings;
    });
  }

  /** Treats a deleted agent as inactive: its rows take their course, and nothing is pushed. */
  #toSettings(agent_id: string, row: AgentRow | undefined): AgentSettings {
    const own = Object.entries(row ?? {}).filter(([, value]) => value !== null && value !== undefined);
    return { ...NONE, ...this.#defaults, ...Object.fromEntries(own), agent_id };
  }
}
