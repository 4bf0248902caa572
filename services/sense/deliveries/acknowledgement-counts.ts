import { tally } from "../../../storage/traffic/tally.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** Deliveries per generation: some seconds at full load. */
const GENERATION = 20_000;

interface Known {
  type: string | undefined;
  active_key: string | undefined;
  created_at: number;
}

/**
 * What statistics need of deliveries that this node delivered, so that acknowledging reads no row. Two generations:
 * the older one is dropped as a whole. Deliveries that it does not know are counted without a type and a latency.
 */
export class AcknowledgementCounts {
  #young = new Map<string, Known>();
  #old = new Map<string, Known>();

  add(rows: DeliveryDoc[]): void {
    for (const { _id, type, active_key, created_at } of rows)
      this.#young.set(_id, { type, active_key, created_at: created_at.getTime() });
    if (this.#young.size <= GENERATION) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /**
   * Counts acknowledgements. Returns the groups (`Ordering`) of those that it knows.
   *
   * @param count how many of the ids were pending until now
   */
  acknowledged(
    of: { tenant_id: string; agent_id: string },
    ids: string[],
    count: number,
    at: Date,
  ): string[] {
    const now = at.getTime();
    const all = ids.flatMap((id) => this.#take(id) ?? []);
    const known = all.slice(0, count);
    for (const { type, created_at } of known) {
      const own = { ...of, type };
      tally(own, "acknowledged", 1);
      tally(own, "latency_ms", Math.max(now - created_at, 0));
      tally(own, "timed", 1);
    }
    tally(of, "acknowledged", count - known.length);
    return all.flatMap(({ active_key }) => active_key ?? []);
  }

  #take(id: string): Known | undefined {
    const known = this.#young.get(id) ?? this.#old.get(id);
    if (known && !this.#young.delete(id)) this.#old.delete(id);
    return known;
  }
}
