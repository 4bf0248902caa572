import type { Config } from "../../../config.ts";
import type { SharedWindows } from "../../../connectors/redis.ts";
import { rateLimited } from "../../../lib/contract/faults.ts";
import { RateWindows, WINDOW_SECONDS } from "../../../observability/rate-windows.ts";

/** The limit of signed webhooks per tenant, on all nodes together if they share windows. 0 is no limit. */
export class WebhookLimits {
  readonly #perTenant: number;
  readonly #accepted: RateWindows;

  constructor(config: Pick<Config, "WEBHOOKS_PER_MINUTE">, windows: SharedWindows | null) {
    this.#accepted = new RateWindows(windows);
    this.#perTenant = config.WEBHOOKS_PER_MINUTE;
  }

  /** Counts a signed webhook. @throws Fault rate_limited if the tenant has had too many. */
  async accept(tenant_id: string, now: number): Promise<void> {
    if (!this.#perTenant) return;
    const limit = { key: `webhooks ${tenant_id}`, max: this.#perTenant };
    const { allowed, resets_at } = await this.#accepted.take([limit], now);
    if (!allowed) throw rateLimited("Too many webhooks. Retry", limit.max, WINDOW_SECONDS, resets_at - now);
  }
}
