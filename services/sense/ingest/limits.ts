import type { Config } from "../../../config.ts";
import type { SharedWindows } from "../../../connectors/redis.ts";
import { type Fault, rateLimited } from "../../../lib/contract/faults.ts";
import { SlidingWindow } from "../../../lib/queue/sliding-window.ts";
import { RateWindows, WINDOW_SECONDS } from "../../../observability/rate-windows.ts";

/** Limit of an address's refusals over all targets, as a multiple of that for one. */
const TARGETS = 10;
/** A target is arbitrary text from a path. */
const KEY_CHARACTERS = 100;

/**
 * Limits on webhooks. Refusals count per address and target, so that one wrong secret at a provider does not block
 * other webhooks from the same address: they protect this node's processor. Signed ones count per tenant, on all nodes
 * together if they share windows. 0 is no limit.
 */
export class WebhookLimits {
  readonly #refusals: number;
  readonly #perTenant: number;
  readonly #refused = new SlidingWindow(WINDOW_SECONDS);
  readonly #accepted: RateWindows;

  constructor(
    config: Pick<Config, "WEBHOOK_REFUSALS_PER_MINUTE" | "WEBHOOKS_PER_MINUTE">,
    windows: SharedWindows | null,
  ) {
    this.#accepted = new RateWindows(windows);
    this.#refusals = config.WEBHOOK_REFUSALS_PER_MINUTE;
    this.#perTenant = config.WEBHOOKS_PER_MINUTE;
  }

  /** @throws Fault rate_limited if this address had too many refusals, for this target or in total. */
  check(address: string, target: string, now: number): void {
    if (!this.#refusals) return;
    // The total first: a blocked address adds no more targets to count.
    requireCapacity(this.#refused, address, this.#refusals * TARGETS, now);
    requireCapacity(this.#refused, keyOf(address, target), this.#refusals, now);
  }

  refused(address: string, target: string, now: number): void {
    if (!this.#refusals) return;
    this.#refused.hit(address, now);
    this.#refused.hit(keyOf(address, target), now);
  }

  /** Counts a signed webhook. @throws Fault rate_limited if the tenant has had too many. */
  async accept(tenant_id: string, now: number): Promise<void> {
    if (!this.#perTenant) return;
    const limit = { key: `webhooks ${tenant_id}`, max: this.#perTenant };
    const { allowed, resets_at } = await this.#accepted.take([limit], now);
    if (!allowed) throw tooMany(limit.max, resets_at - now);
  }
}

function keyOf(address: string, target: string): string {
  return `${address} ${target.slice(0, KEY_CHARACTERS)}`;
}

function requireCapacity(window: SlidingWindow, key: string, limit: number, now: number): void {
  const { room, resets_at } = window.look(key, limit, now);
  if (room <= 0) throw tooMany(limit, resets_at - now);
}

function tooMany(limit: number, waitMs: number): Fault {
  return rateLimited("Too many webhooks. Retry", limit, WINDOW_SECONDS, waitMs);
}
