import { Actor, Actors, type Waiter } from "../../../mixins/actor.ts";
import { upToBytes } from "./by-bytes.ts";
import type { Claimed, ClaimRequest, Claims, Lease } from "./claim.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** What a stream has been given and has not settled. */
interface Held {
  lease: string;
  /** When its lease ends, in ms. */
  until: number;
}

/** Somebody who found nothing and waits. */
interface Taker {
  wish: Wish;
  waiter: Waiter;
  gone: AbortSignal;
  /** What it was promised; it gets nothing else. */
  promised?: Promise<Claimed[]>;
}

/** One agent on this node: its calls take turns, and its streams share one count of what is in flight. */
class Receiver extends Actor {
  /** The `version` at which a claim last left nothing behind. */
  drained = -1;
  readonly held = new Map<string, Held>();
  /** How many rows are being written for somebody who waits. */
  promised = 0;
  readonly #takers = new Set<Taker>();

  override get idle(): boolean {
    return this.held.size === 0;
  }

  /** How many deliveries a wish may get now. */
  limitOf({ limit, max_in_flight }: Wish, now: number): number {
    return max_in_flight === undefined ? limit : Math.min(limit, this.#room(max_in_flight, now));
  }

  /** How many more streams may hold. Leases that ended are dropped first. */
  #room(max: number, now: number): number {
    if (this.held.size >= max) {
      for (const [id, { until }] of this.held) if (until <= now) this.held.delete(id);
    }
    return Math.max(max - this.held.size - this.promised, 0);
  }

  /** Streams are held to what they were given. */
  gave({ max_in_flight }: Wish, deliveries: Claimed[]): void {
    if (max_in_flight === undefined) return;
    for (const { id, lease, lease_expires_at } of deliveries) {
      this.held.set(id, { lease, until: Date.parse(lease_expires_at) });
    }
  }

  /** Sleeps until the wake-up, or until somebody promises what it is about to write: gives what came of that. */
  async rest(taker: Taker, ms: number): Promise<Claimed[]> {
    this.#takers.add(taker);
    await taker.waiter.sleep(ms);
    this.#takers.delete(taker);
    return taker.promised ?? [];
  }

  /** One of those who wait and have room, who waits no longer. */
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
  /** Given by streams: what all of the agent's streams together may hold. */
  max_in_flight?: number;
  /** By this the caller can be told of as gone: what comes is then not for it. */
  cancel_key: string;
}

/** Rows that are written as leased, for somebody who waits for them. */
export interface Promised {
  rows: DeliveryDoc[];
  lease: Lease;
  /** Those of them that are written: they go to whoever waits. */
  keep(written: DeliveryDoc[]): void;
}

export interface Received {
  deliveries: Claimed[];
  /** This node is stopping: do not ask it again. */
  stopping: boolean;
}

// A wake-up may get lost between nodes: then a waiter looks for itself.
const RECHECK_MS = 10_000;

/** Hands out deliveries to those that ask, now or as soon as there are some. */
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

  /** Whoever waits by this key went away. */
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
    // Woken together with others, of which one found less than it could take: nothing is left.
    if (woken && receiver.drained === receiver.version) return [];
    const limit = receiver.limitOf(wish, this.#now());
    if (limit === 0) return [];
    const { version } = receiver;
    const { deliveries, drained } = await this.#claims.claim({ ...wish, limit });
    if (drained) receiver.drained = version;
    receiver.gave(wish, deliveries);
    return deliveries;
  }

  /** Whether anybody waits on this node for an agent's deliveries, or has only just begun or ended to. */
  waits(agent_id: string): boolean {
    return this.#receivers.peek(agent_id) !== undefined;
  }

  /**
   * Promises rows that are about to be written to somebody who waits for them on this node: written as leased, they
   * need not be looked for and written again. Null when nobody waits; what is not chosen is to be written as ready.
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
      // Then it looks for itself: the rows are ready, or will be when their lease ends.
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

  /** Deliveries were settled: streams that held them have room again. */
  settled(agent_id: string, delivery_ids: string[]): void {
    const receiver = this.#receivers.peek(agent_id);
    if (!receiver || receiver.held.size === 0) return;
    const freed = delivery_ids.filter((id) => receiver.held.delete(id));
    if (freed.length) receiver.wake();
  }

  /** Leases were extended to end then, in ms: what streams hold goes on counting until that time. */
  extended(agent_id: string, delivery_ids: string[], until: number): void {
    const held = this.#receivers.peek(agent_id)?.held;
    for (const id of delivery_ids) {
      const each = held?.get(id);
      if (each && each.until > this.#now()) each.until = until;
    }
  }

  /** The deliveries that are held by a lease on this node; they no longer count as held. */
  async letGo(agent_id: string, lease: string): Promise<string[]> {
    if (!this.#receivers.peek(agent_id)) return [];
    // As a user of the actor, so that one whose last stream this was is forgotten.
    return this.#receivers.with(agent_id, async ({ held }) => {
      const ids = [...held].filter(([, each]) => each.lease === lease).map(([id]) => id);
      for (const id of ids) held.delete(id);
      return ids;
    });
  }

  /** Something came for an agent. */
  wake(agent_id: string): void {
    this.#receivers.peek(agent_id)?.wake();
  }

  /** Everyone who waits is answered with nothing. */
  stop(): void {
    this.#stopping = true;
    this.#receivers.wakeAll();
  }
}
