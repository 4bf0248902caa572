import { unavailable } from "../../../lib/contract/faults.ts";
import type { LOG_LEVELS } from "../../../lib/settings.ts";
import type { Health } from "../../../observability/health.ts";
import { type Log, setLogLevel } from "../../../observability/log.ts";

/** The operator's settings for all nodes while they run. */
export interface ModesState {
  /** Null: reads and writes are served. */
  maintenance: { reason: string | null; since: string } | null;
  /** Null: `LOG_LEVEL` applies. */
  log_level: (typeof LOG_LEVELS)[number] | null;
}

const RETRY_AFTER_SECONDS = 30;

/** The modes of this node: `services/platform/nodes` keeps them as the record has them. */
export class Modes {
  readonly #log: Log;
  readonly #defaultLevel: string;
  #state: ModesState = { maintenance: null, log_level: null };

  constructor(log: Log, defaultLevel: string, health: Health) {
    this.#log = log;
    this.#defaultLevel = defaultLevel;
    health.remark("maintenance", () => this.#state.maintenance && "writes are refused");
  }

  get isMaintenance(): boolean {
    return this.#state.maintenance !== null;
  }

  set(state: ModesState): void {
    const wasMaintenance = this.isMaintenance;
    this.#state = state;
    const level = state.log_level ?? this.#defaultLevel;
    if (level !== this.#log.level) setLogLevel(this.#log, level);
    if (this.isMaintenance !== wasMaintenance)
      this.#log.warn(this.isMaintenance ? "maintenance begins: writes are refused" : "maintenance has ended");
  }

  /** @throws Fault service_unavailable during maintenance */
  requireWrites(): void {
    const { maintenance } = this.#state;
    if (!maintenance) return;
    const why = maintenance.reason ? ` (${maintenance.reason})` : "";
    const message = `The service is in maintenance${why}: it can be read, and deliveries can be received and settled. Retry writes later.`;
    throw unavailable(message, RETRY_AFTER_SECONDS);
  }
}
