import type { SharedWindows } from "../../../../connectors/redis.ts";
import { type Caller, callerId } from "../../../../lib/access/caller.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import { SlidingWindow } from "../../../../lib/queue/sliding-window.ts";
import { metrics } from "../../../../observability/metrics.ts";
import type { Allowance } from "../exchange.ts";

const WINDOW_SECONDS = 60;

/** At most `max` requests of a key in a window. */
interface Limit {
  key: string;
  max: number;
}

/** Request counters: in this process, or shared by several nodes. */
interface RateCounters {
  /** Counts one request against every limit, or against none if one is reached. */
  take(limits: readonly Limit[], now: number): Allowance | Promise<Allowance>;
}

export class LocalRateCounters implements RateCounters {
  readonly #window = new SlidingWindow(WINDOW_SECONDS);

  take(limits: readonly Limit[], now: number): Allowance {
    let tightest: Allowance | null = null;
    for (const { key, max } of limits) {
      const { room, resets_at } = this.#window.look(key, max, now);
      if (tightest && room - 1 >= tightest.remaining) continue;
      tightest = { allowed: room > 0, limit: max, remaining: room - 1, resets_at };
    }
    const allowance = tightest as Allowance;
    if (allowance.allowed) this.count(limits, now);
    else allowance.remaining = 0;
    return allowance;
  }

  /** Counts a request that was already admitted. */
  count(limits: readonly Limit[], now: number): void {
    for (const { key } of limits) this.#window.hit(key, now);
  }
}

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

interface RateLimitSettings {
  RATE_LIMIT_PER_MINUTE: number;
  TENANT_RATE_LIMIT_PER_MINUTE: number;
}

/** The limits of authenticated callers: one per agent or user, one per tenant. 0 is none. */
export class CallerLimits {
  readonly #perCaller: number;
  readonly #perTenant: number;
  readonly #counters: RateCounters;

  constructor(settings: RateLimitSettings, counters: RateCounters) {
    this.#perCaller = settings.RATE_LIMIT_PER_MINUTE;
    this.#perTenant = settings.TENANT_RATE_LIMIT_PER_MINUTE;
    this.#counters = counters;
  }

  /** Counts a request; null without limits. The edge refuses requests over a limit. */
  take(caller: Caller, now: number): Allowance | Promise<Allowance> | null {
    const limits: Limit[] = [];
    // What is in braces keeps both keys on one node of a Redis Cluster.
    const tenant = `{${caller.tenant_id}}`;
    if (this.#perCaller) limits.push({ key: `${tenant} ${callerId(caller)}`, max: this.#perCaller });
    if (this.#perTenant) limits.push({ key: tenant, max: this.#perTenant });
    return limits.length ? this.#counters.take(limits, now) : null;
  }
}

/** Returns the fault for a request over a limit (spec: rate_limited). */
export function rateLimited({ limit, resets_at }: Allowance, now: number): Fault {
  const retry_after_seconds = Math.max(1, Math.ceil((resets_at - now) / 1000));
  return new Fault(
    "rate_limited",
    `More than ${limit} requests in ${WINDOW_SECONDS} s. Retry in ${retry_after_seconds} s.`,
    { retry_after_seconds, limit, window_seconds: WINDOW_SECONDS },
  );
}
