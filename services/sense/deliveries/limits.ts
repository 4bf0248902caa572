import { LruMap } from "../../../lib/lru-map.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { takenRows } from "../../../storage/write-errors.ts";
import { type DeliveryDoc, SHORTEST, timelinePush } from "./deliveries.model.ts";
import type { OfAgent } from "./deps.ts";

/** The limits of an agent; null: none. */
export interface Limits {
  max_in_flight: number | null;
  max_per_minute: number | null;
}
export type Limit = keyof Limits;

/** How many deliveries an agent may get now. */
interface Allowance {
  count: number;
  /** If that is fewer than asked for: when to ask again, in ms. */
  limited_ms?: number;
  /** Free slots, one for each; null without a limit in flight. */
  slots: string[] | null;
}

const MINUTE_MS = 60_000;
/** Agents whose last minute is known. */
const MOST_AGENTS = 50_000;
/** What ends a delivery in flight wakes those who wait; this is for a wake-up that is lost. */
const RECHECK_MS = 1000;

export const isLimited = ({ max_in_flight, max_per_minute }: Limits): boolean =>
  max_in_flight !== null || max_per_minute !== null;

/**
 * Limits of what agents are given. A delivery in flight of an agent with `max_in_flight` holds one of as many slots:
 * its `slot_key` is unique, so that two nodes together lease no more. `max_per_minute` is counted in the memory of the node
 * that owns the agent's queue, over the last minute: it restarts when another node becomes the owner.
 */
export class DeliveryLimits {
  readonly #deliveries: TenantCollection<DeliveryDoc>;
  /** What agents were given in the last minute, oldest first. */
  readonly #given = new LruMap<string, { at: number; count: number }[]>(MOST_AGENTS);
  /** Agents that wait for the end of a delivery in flight. */
  readonly #full = new Set<string>();

  constructor(deliveries: TenantCollection<DeliveryDoc>) {
    this.#deliveries = deliveries;
  }

  async allowance(
    of: OfAgent,
    { max_in_flight, max_per_minute }: Limits,
    wanted: number,
  ): Promise<Allowance> {
    let allowance: Allowance = { count: wanted, slots: null };
    if (max_per_minute !== null) {
      const { left, next_ms } = this.#rate(of.agent_id, max_per_minute);
      if (left < wanted) allowance = { count: left, limited_ms: next_ms, slots: null };
    }
    if (max_in_flight === null || allowance.count === 0) return allowance;
    const slots = await this.#freeSlots(of, max_in_flight);
    if (slots.length >= allowance.count) return { ...allowance, slots };
    this.#full.add(of.agent_id);
    return { count: slots.length, limited_ms: RECHECK_MS, slots };
  }

  /** Returns how many deliveries an agent may get now by its limit a minute. */
  perMinuteLeft(agent_id: string, max: number): number {
    return this.#rate(agent_id, max).left;
  }

  /** Counts deliveries of an agent with a limit a minute. */
  count(agent_id: string, count: number): void {
    const given = this.#given.get(agent_id) ?? [];
    given.push({ at: performance.now(), count });
    this.#given.set(agent_id, given);
  }

  /** Whether the agent waits for what ends now. */
  settled(agent_id: string): boolean {
    return this.#full.delete(agent_id);
  }

  /** Leases ready rows, each into its slot; returns those that were. */
  async lease(
    tenant_id: string,
    rows: DeliveryDoc[],
    slots: string[],
    { lease, due_at, at }: { lease: string; due_at: Date; at: Date },
  ): Promise<DeliveryDoc[]> {
    const $push = timelinePush({ at, what: "handed_out" });
    const writes = rows.map(({ _id }, i) => ({
      updateOne: {
        filter: { _id, tenant_id, state: "ready" as const },
        update: {
          $set: { state: "leased" as const, lease, due_at, slot_key: slots[i] as string },
          $inc: { attempt_count: 1 },
          $push,
        },
      },
    }));
    // Another node took a slot.
    await this.#deliveries.bulk(writes).catch(takenRows);
    const leased = { _id: { $in: rows.map(({ _id }) => _id) }, lease, state: "leased" as const };
    return this.#deliveries.find(tenant_id, leased, {
      projection: SHORTEST,
    });
  }

  #rate(agent_id: string, max: number): { left: number; next_ms: number } {
    const now = performance.now();
    const given = this.#given.get(agent_id) ?? [];
    while (given[0] && given[0].at <= now - MINUTE_MS) given.shift();
    const left = Math.max(max - given.reduce((sum, { count }) => sum + count, 0), 0);
    return { left, next_ms: given[0] ? Math.ceil(given[0].at + MINUTE_MS - now) : MINUTE_MS };
  }

  /** Returns the free slots. Also counts deliveries that were leased before the agent had a limit. */
  async #freeSlots({ tenant_id, agent_id }: OfAgent, max: number): Promise<string[]> {
    const leased = await this.#deliveries.find(
      tenant_id,
      { state: "leased", agent_id },
      { limit: max, projection: { slot_key: 1 } },
    );
    const taken = new Set(leased.map(({ slot_key }) => slot_key));
    const slots = Array.from({ length: max }, (_, n) => `${agent_id} ${n}`);
    return slots.filter((slot) => !taken.has(slot)).slice(0, max - leased.length);
  }
}
