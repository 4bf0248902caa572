import type { OfAgent } from "../../../lib/access/caller.ts";
import { SlidingWindow } from "../../../lib/queue/sliding-window.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { takenRows } from "../../../storage/write-errors.ts";
import type { AgentState } from "../../identity/agents/agents.contract.ts";
import { type DeliveryDoc, SHORTEST } from "./deliveries.model.ts";
import { type Lease, leaseUpdate } from "./lease.ts";

/** The limits of an agent; null: none. */
export type Limits = Pick<AgentState, "max_in_flight" | "max_per_minute">;
export type Limit = keyof Limits;

interface Allowance {
  count: number;
  /** If that is fewer than asked for: when to ask again, in ms. */
  limited_ms?: number;
  /** Free slots, one for each; null without a limit in flight. */
  slots: string[] | null;
}

const MINUTE_SECONDS = 60;
/** The end of a delivery in flight wakes waiting requests; this is for a lost wake-up. */
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
  /** Deliveries given in the last minute. */
  readonly #given = new SlidingWindow(MINUTE_SECONDS);
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
      const now = performance.now();
      const { room, resets_at } = this.#given.look(of.agent_id, max_per_minute, now);
      if (room < wanted) allowance = { count: room, limited_ms: Math.ceil(resets_at - now), slots: null };
    }
    if (max_in_flight === null || allowance.count === 0) return allowance;
    const slots = await this.#freeSlots(of, max_in_flight);
    if (slots.length >= allowance.count) return { ...allowance, slots };
    this.#full.add(of.agent_id);
    return { count: slots.length, limited_ms: RECHECK_MS, slots };
  }

  /** Returns how many deliveries an agent may get now by its limit a minute. */
  perMinuteLeft(agent_id: string, max: number): number {
    return this.#given.look(agent_id, max, performance.now()).room;
  }

  count(agent_id: string, count: number): void {
    for (let n = 0; n < count; n++) this.#given.hit(agent_id, performance.now());
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
    lease: Lease,
    at: Date,
  ): Promise<DeliveryDoc[]> {
    const [{ agent_id }] = rows as [DeliveryDoc];
    const { $set, ...counted } = leaseUpdate(lease, at);
    const writes = rows.map(({ _id }, i) => {
      const filter = { _id, tenant_id, agent_id, state: "ready" as const };
      const update = { $set: { ...$set, slot_key: slots[i] as string }, ...counted };
      return { updateOne: { filter, update } };
    });
    // Another node took a slot.
    await this.#deliveries.bulk(writes).catch(takenRows);
    const _id = { $in: rows.map((row) => row._id) };
    const leased = { _id, agent_id, lease: lease.lease, state: "leased" as const };
    return this.#deliveries.find(tenant_id, leased, { projection: SHORTEST });
  }

  /** Returns the free slots. Also counts deliveries that were leased before the agent had a limit. */
  async #freeSlots({ tenant_id, agent_id }: OfAgent, max: number): Promise<string[]> {
    const options = { limit: max, projection: { slot_key: 1 } } as const;
    const leased = await this.#deliveries.find(tenant_id, { state: "leased", agent_id }, options);
    const taken = new Set(leased.map(({ slot_key }) => slot_key));
    const slots = Array.from({ length: max }, (_, n) => `${agent_id} ${n}`);
    return slots.filter((slot) => !taken.has(slot)).slice(0, max - leased.length);
  }
}
