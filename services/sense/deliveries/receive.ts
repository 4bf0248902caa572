import { Actor, Actors, type Waiter } from "../../../mixins/actor.ts";
import { upToBytes } from "./by-bytes.ts";
import type { Claimed, ClaimRequest, Claims, Lease } from "./claim.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** A delivery in flight on a stream. */
interface Held {
  lease: string;
  /** End of its lease, in ms. */
  until: number;
}

/** A waiter: a request that found nothing. */
interface Taker {
  wish: Wish;
  waiter: Waiter;
  gone: AbortSignal;
  /** Its promised deliveries; it gets nothing else. */
  promised?: Promise<Claimed[]>;
}

/** One agent on this node: its calls are serialised, and its streams share one count of deliveries in flight. */
class Receiver extends Actor {
  /** The `version` at which a claim last left nothing behind. */
  drained = -1;
  readonly held = new Map<string, Held>();
  /** Rows being written for waiters. */
  promised = 0;
  readonly #takers = new Set<Taker>();

  override get idle(): boolean {
    return this.held.size === 0;
  }

  /** Returns how many deliveries a request may get now. */
  limitOf({ limit, max_in_flight }: Wish, now: number): number {
    return max_in_flight === undefined ? limit : Math.min(limit, this.#room(max_in_flight, now));
  }

  /** Returns the streams' spare capacity. Drops ended leases first. */
  #room(max: number, now: number): number {
    if (this.held.size >= max) {
      for (const [id, { until }] of this.held) if (until <= now) this.held.delete(id);
    }
    return Math.max(max - this.held.size - this.promised, 0);
  }

  /** Counts a stream's deliveries as in flight. */
  gave({ max_in_flight }: Wish, deliveries: Claimed[]): void {
    if (max_in_flight === undefined) return;
    for (const { id, lease, lease_expires_at } of deliveries) {
      this.held.set(id, { lease, until: Date.parse(lease_expires_at) });
    }
  }

  /** Waits for a wake-up or a promise; returns the promised deliveries. */
  async rest(taker: Taker, ms: number): Promise<Claimed[]> {
    this.#takers.add(taker);
    await taker.waiter.sleep(ms);
    this.#takers.delete(taker);
    return taker.promised ?? [];
  }

  /** Removes and returns a waiter with spare capacity. */
  taker(now: number): Taker | undefined {
    for (const taker of this.#takers) {
      if (taker.gone.aborted || this.limitOf(taker.wish, now) === 0) continue;
      this.#takers.delete(taker);
      return taker;
    }
    return undefined;
  }
}

interface Wish extends ClaimRequest {
  /** How long to wait for a first delivery. */
  wait_ms: number;
  /** Set by streams: limit of deliveries in flight on all of the agent's streams. */
  max_in_flight?: number;
  /** Key to cancel the request when the caller disconnects, so that it receives nothing more. */
  cancel_key: string;
}

/** Rows that are written as leased to a waiter. */
export interface Promised {
  rows: DeliveryDoc[];
  lease: Lease;
  /** Delivers the written ones to the waiter. */
  keep(written: DeliveryDoc[]): void;
}

export interface Received {
  deliveries: Claimed[];
  /** This node is stopping: do not ask it again. */
  stopping: boolean;
}

// Fallback for wake-ups that were lost between nodes.
const RECHECK_MS = 10_000;

/** Delivers to receivers, at once or as soon as there are deliveries. */
export class Receivers {
  readonly #claims: Claims;
  readonly #now: () => number;
  readonly #receivers = new Actors(() => new Receiver());
  readonly #waiting = new Map<string, AbortController>();
  #stopping = false;

  constructor(claims: Claims, now: () => number) {
    this.#claims = claims;
    this.#now = now;
  }

  receive(wish: Wish): Promise<Received> {
    return this.#receivers.with(wish.agent_id, async (receiver) => {
      const gone = new AbortController();
      if (wish.wait_ms > 0) this.#waiting.set(wish.cancel_key, gone);
      try {
        return await this.#receive(receiver, wish, gone.signal);
      } finally {
        if (this.#waiting.get(wish.cancel_key) === gone) this.#waiting.delete(wish.cancel_key);
      }
    });
  }

  /** Cancels the request with this key: its caller disconnected. */
  cancel(key: string): void {
    this.#waiting.get(key)?.abort();
  }

  async #receive(receiver: Receiver, wish: Wish, gone: AbortSignal): Promise<Received> {
    const deadline = performance.now() + wish.wait_ms;
    const wake = () => receiver.wake();
    gone.addEventListener("abort", wake, { once: true });
    for (let woken = false; ; ) {
      const waiter = receiver.arm();
      try {
        const { version } = receiver;
        const deliveries = await receiver.run(() => this.#take(receiver, wish, woken, gone));
        const left = deadline - performance.now();
        if (deliveries.length > 0 || left <= 0 || this.#stopping || gone.aborted) {
          return { deliveries, stopping: this.#stopping };
        }
        const given = await receiver.rest({ wish, waiter, gone }, Math.min(left, RECHECK_MS));
        if (given.length > 0) return { deliveries: given, stopping: this.#stopping };
        woken = receiver.version !== version;
      } finally {
        waiter.disarm();
      }
    }
  }

  async #take(receiver: Receiver, wish: Wish, woken: boolean, gone: AbortSignal): Promise<Claimed[]> {
    if (gone.aborted) return [];
    // Another waiter woken at the same time found less than its limit: nothing is left.
    if (woken && receiver.drained === receiver.version) return [];
    const limit = receiver.limitOf(wish, this.#now());
    if (limit === 0) return [];
    const { version } = receiver;
    const { deliveries, drained } = await this.#claims.claim({ ...wish, limit });
    if (drained) receiver.drained = version;
    receiver.gave(wish, deliveries);
    return deliveries;
  }

  /** Whether a receiver of an agent's deliveries is waiting on this node, or is just starting or ending to. */
  waits(agent_id: string): boolean {
    return this.#receivers.peek(agent_id) !== undefined;
  }

  /**
   * Promises rows that are about to be written to a waiter on this node: written as leased, they need no claim. Returns
   * null without a waiter; write rows that were not chosen as ready.
   */
  async promise(agent_id: string, rows: DeliveryDoc[]): Promise<Promised | null> {
    const receiver = this.#receivers.peek(agent_id);
    const taker = this.#stopping ? undefined : receiver?.taker(this.#now());
    if (!receiver || !taker) return null;
    const { wish, waiter } = taker;
    const byPriority = rows.toSorted((a, b) => b.priority - a.priority);
    const chosen = upToBytes(byPriority.slice(0, receiver.limitOf(wish, this.#now())));
    const written = Promise.withResolvers<DeliveryDoc[]>();
    receiver.promised += chosen.length;
    const leasing = this.#claims.leaseFor(wish);
    taker.promised = leasing
      .then((lease) => this.#claims.handOut(wish, lease, chosen, written.promise))
      // On failure the waiter claims for itself: the rows are ready, now or when their lease ends.
      .catch(() => [])
      .then((deliveries) => {
        receiver.promised -= chosen.length;
        receiver.gave(wish, deliveries);
        return deliveries;
      });
    waiter.wake();
    const lease = await leasing.catch(() => null);
    return lease && { rows: chosen, lease, keep: written.resolve };
  }

  /** Frees the capacity of streams whose deliveries were settled. */
  settled(agent_id: string, delivery_ids: string[]): void {
    const receiver = this.#receivers.peek(agent_id);
    if (!receiver || receiver.held.size === 0) return;
    const freed = delivery_ids.filter((id) => receiver.held.delete(id));
    if (freed.length) receiver.wake();
  }

  /** Extends leases to `until`, in ms, as far as streams hold them. */
  extended(agent_id: string, delivery_ids: string[], until: number): void {
    const held = this.#receivers.peek(agent_id)?.held;
    for (const id of delivery_ids) {
      const each = held?.get(id);
      if (each && each.until > this.#now()) each.until = until;
    }
  }

  /** Returns the deliveries held by a lease on this node and stops counting them as in flight. */
  async letGo(agent_id: string, lease: string): Promise<string[]> {
    if (!this.#receivers.peek(agent_id)) return [];
    // Use the actor, so that it is removed if this was its last stream.
    return this.#receivers.with(agent_id, async ({ held }) => {
      const ids = [...held].filter(([, each]) => each.lease === lease).map(([id]) => id);
      for (const id of ids) held.delete(id);
      return ids;
    });
  }

  wake(agent_id: string): void {
    this.#receivers.peek(agent_id)?.wake();
  }

  /** Answers all waiters with nothing. */
  stop(): void {
    this.#stopping = true;
    this.#receivers.wakeAll();
  }
}
