import type { SharedWindows } from "../../../../connectors/redis.ts";
import { metrics } from "../../../../observability/metrics.ts";
import type { Allowance } from "../exchange.ts";
import { type Limit, LocalRateCounters, type RateCounters } from "./limits.ts";

/** Counts in Redis for all nodes; while Redis is unavailable, on this node alone, from what it has admitted. */
export class SharedRateCounters implements RateCounters {
  readonly #windows: SharedWindows;
  readonly #local = new LocalRateCounters();

  constructor(windows: SharedWindows) {
    this.#windows = windows;
  }

  async take(limits: readonly Limit[], now: number): Promise<Allowance> {
    const standing = await this.#windows.take(limits.map(({ key, max }) => ({ key: `rate ${key}`, max })));
    if (!standing) {
      metrics.limitsCountedHere.inc();
      return this.#local.take(limits, now);
    }
    const { allowed, tightest, remaining, resets_in_ms } = standing;
    if (allowed) this.#local.count(limits, now);
    const { max } = limits[tightest] as Limit;
    return { allowed, limit: max, remaining, resets_at: now + resets_in_ms };
  }
}
