import { type Caller, callerId } from "../../../../lib/access/caller.ts";
import { type Fault, rateLimited } from "../../../../lib/contract/faults.ts";
import type { Limit } from "../../../../lib/queue/sliding-window.ts";
import { type RateWindows, WINDOW_SECONDS } from "../../../../observability/rate-windows.ts";
import type { Allowance } from "../http-exchange.ts";

interface RateLimitSettings {
  RATE_LIMIT_PER_MINUTE: number;
  TENANT_RATE_LIMIT_PER_MINUTE: number;
}

/** The limits of authenticated callers: one per agent or user, one per key that has its own, one per tenant. 0 is none. */
export class CallerLimits {
  readonly #perCaller: number;
  readonly #perTenant: number;
  readonly #windows: RateWindows;

  constructor(settings: RateLimitSettings, windows: RateWindows) {
    this.#perCaller = settings.RATE_LIMIT_PER_MINUTE;
    this.#perTenant = settings.TENANT_RATE_LIMIT_PER_MINUTE;
    this.#windows = windows;
  }

  /** Counts a request; null without limits. The edge refuses requests over a limit. */
  take(caller: Caller, now: number): Allowance | Promise<Allowance> | null {
    const limits: Limit[] = [];
    // What is in braces keeps both keys on one node of a Redis Cluster.
    const tenant = `rate {${caller.tenant_id}}`;
    if (this.#perCaller) limits.push({ key: `${tenant} ${callerId(caller)}`, max: this.#perCaller });
    const { key, tenant: perTenant = this.#perTenant } = caller.limits ?? {};
    if (key && caller.kind === "agent") limits.push({ key: `${tenant} ${caller.key_id}`, max: key });
    if (perTenant) limits.push({ key: tenant, max: perTenant });
    return limits.length ? this.#windows.take(limits, now) : null;
  }
}

/** Returns the fault for a request over a limit (spec: rate_limited). */
export function overLimit({ limit, resets_at }: Allowance, now: number): Fault {
  const message = `More than ${limit} requests in ${WINDOW_SECONDS} s. Retry`;
  return rateLimited(message, limit, WINDOW_SECONDS, resets_at - now);
}
