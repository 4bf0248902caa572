import type { SharedWindows } from "../../../connectors/redis.ts";
import { type Limit, SlidingWindow, type Taken } from "../../../lib/queue/sliding-window.ts";
import { metrics } from "../../../observability/metrics.ts";

export const WINDOW_SECONDS = 60;

/**
 * Counts hits per key and minute: in Redis for all nodes, or on this node alone without Redis and while it is
 * unavailable, from what this node has admitted.
 */
export class RateWindows {
  readonly #shared: SharedWindows | null;
  readonly #local = new SlidingWindow(WINDOW_SECONDS);

  constructor(shared: SharedWindows | null) {
    this.#shared = shared;
  }

  /**
   * Counts a hit against every limit, or against none if one is reached. Several keys have the same `{tag}` in them,
   * which keeps them on one node of a Redis Cluster.
   */
  take(limits: readonly Limit[], now: number): Taken | Promise<Taken> {
    return this.#shared ? this.#takeShared(this.#shared, limits, now) : this.#local.take(limits, now);
  }

  async #takeShared(shared: SharedWindows, limits: readonly Limit[], now: number): Promise<Taken> {
    const standing = await shared.take(limits);
    if (!standing) {
      metrics.limitsCountedHere.inc();
      return this.#local.take(limits, now);
    }
    const { allowed, tightest, remaining, resets_in_ms, slot } = standing;
    const keys = allowed ? limits.map(({ key }) => key) : [];
    const hits = keys.map((key) => this.#local.hit(key, now));
    const giveBack = () => {
      if (hits.length > 0) void shared.giveBack(keys, slot);
      for (const takeBack of hits.splice(0)) takeBack();
    };
    const { max: limit } = limits[tightest] as Limit;
    return { allowed, limit, remaining, resets_at: now + resets_in_ms, giveBack };
  }
}
