import { Actor, Actors, type Waiter } from "../../../mixins/actor.ts";
import type { Claimed, ClaimRequest, ClaimResult, Claims } from "./claim.ts";
import { type DeliveryDoc, upToBytes } from "./deliveries.model.ts";
import { type Held, isUnder, type Lease, type NamedLease } from "./lease.ts";
import { type AgentsOfTenant, byTenant, type ReadyAgents } from "./notify.ts";

export interface ReceiveRequest extends ClaimRequest {
  wait_ms: number;
  /** Set by streams: limit of deliveries in flight on all of the agent's streams. */
  max_in_flight?: number;
  /** Key to cancel the request when the caller disconnects, so that it receives nothing more. */
  cancel_key: string;
}

export interface Received extends ClaimResult {
  /** This node is stopping: do not ask it again. */
  stopping: boolean;
}

/** Rows that are written as leased to a waiting request. */
export interface Reservation {
  rows: DeliveryDoc[];
  lease: Lease;
  /** Delivers the written rows to the request. Must follow every reservation. */
  confirm(written: DeliveryDoc[]): void;
}

/** A request that found nothing. */
interface WaitingRequest {
  request: ReceiveRequest;
  waiter: Waiter;
  cancelled: AbortSignal;
  /** The deliveries of its reservation; it gets nothing else. */
  reserved?: Promise<Claimed[]>;
}

/** One agent's requests on this node: claims run one at a time, and streams share one count of deliveries in flight. */
class AgentQueue extends Actor {
  /** The `version` at which a claim last left nothing behind, or a recheck found nothing. */
  drained = -1;
  /** When that was, on the clock of `performance.now()`. */
  drainedAt = Number.NEGATIVE_INFINITY;
  /** Lease and its end in ms, by delivery on a stream. */
  readonly inFlight = new Map<string, Held & { until: number }>();
  /** Number of rows reserved for waiting requests, and of those that a stream's claim under way may get. */
  reserved = 0;
  readonly #waiting = new Set<WaitingRequest>();

  override get idle(): boolean {
    return this.inFlight.size === 0;
  }

  limitFor({ limit, max_in_flight }: ReceiveRequest, now: number): number {
    return max_in_flight === undefined ? limit : Math.min(limit, this.#capacity(max_in_flight, now));
  }

  /** Returns the streams' spare capacity. Drops ended leases first. */
  #capacity(max: number, now: number): number {
    if (this.inFlight.size >= max) {
      for (const [id, { until }] of this.inFlight) if (until <= now) this.inFlight.delete(id);
    }
    return Math.max(max - this.inFlight.size - this.reserved, 0);
  }

  addInFlight({ max_in_flight }: ReceiveRequest, deliveries: Claimed[]): void {
    if (max_in_flight === undefined) return;
    for (const { id, lease, attempt_count, lease_expires_at } of deliveries) {
      this.inFlight.set(id, { lease, attempt_count, until: Date.parse(lease_expires_at) });
    }
  }

  /** Waits for a wake-up or a reservation; returns the reserved deliveries. */
  async wait(waiting: WaitingRequest, ms: number): Promise<Claimed[]> {
    this.#waiting.add(waiting);
    await waiting.waiter.sleep(ms);
    this.#waiting.delete(waiting);
    return waiting.reserved ?? [];
  }

  /** Removes and returns a waiting request with spare capacity for a first event of this size. */
  takeWaiting(now: number, size: number): WaitingRequest | undefined {
    for (const waiting of this.#waiting) {
      const { max_bytes = size } = waiting.request;
      if (waiting.cancelled.aborted || size > max_bytes || this.limitFor(waiting.request, now) === 0)
        continue;
      this.#waiting.delete(waiting);
      return waiting;
    }
    return undefined;
  }
}

type Claiming = Pick<Claims, "claim" | "reservingLease" | "deliver">;

/** Agents per query of `recheck`. */
const CHUNK = 1000;
/** Between two looks for deliveries whose wake-up was lost. */
export const RECHECK_MS = 10_000;
/** How long an agent without deliveries needs no look when its next request begins. */
const EMPTY_MS = 1.5 * RECHECK_MS;
/** Timers may be early by a part of this. */
const TIMER_MS = 2;
/** Time between claims where another node has become the agent's owner: wake-ups go there. */
const MOVED_RECHECK_MS = 1_000;

/**
 * Queues of requests for deliveries, one for each agent. A request claims ready rows. If there are none it waits, until
 * it is woken and claims again, or until rows that are about to be written are reserved for it.
 */
export class RequestQueues {
  readonly #claims: Claiming;
  readonly #now: () => number;
  readonly #isOwn: (agent_id: string) => boolean;
  readonly #queues = new Actors(() => new AgentQueue());
  /** Requests that may wait, by their `cancel_key`. */
  readonly #cancellable = new Map<string, AbortController>();
  readonly #waiting = new Set<ReceiveRequest>();
  /** When it was last seen that agents without a request have no deliveries; forgotten with their wake-ups. */
  readonly #empty = new Map<string, number>();
  #stopping = false;

  /** @param isOwn whether this node owns an agent's queue now */
  constructor(claims: Claiming, now: () => number, isOwn: (agent_id: string) => boolean = () => true) {
    this.#claims = claims;
    this.#now = now;
    this.#isOwn = isOwn;
  }

  /** Returns the next deliveries of an agent, at once or as soon as there are any. */
  receive(request: ReceiveRequest): Promise<Received> {
    return this.#queues.with(request.agent_id, async (queue) => {
      const cancel = new AbortController();
      if (request.wait_ms > 0) this.#cancellable.set(request.cancel_key, cancel);
      try {
        const received = await this.#claimOrWait(queue, request, cancel, this.#recall(queue, request));
        if (received.deliveries.length === 0 && this.#isDrained(queue, request))
          this.#empty.set(request.agent_id, queue.drainedAt);
        return received;
      } finally {
        if (this.#cancellable.get(request.cancel_key) === cancel)
          this.#cancellable.delete(request.cancel_key);
      }
    });
  }

  /** A poll that follows another one knows what that one saw: it waits without a look, as `recheck` comes soon. */
  #recall(queue: AgentQueue, request: ReceiveRequest): boolean {
    const at = this.#empty.get(request.agent_id);
    this.#empty.delete(request.agent_id);
    if (at === undefined || request.wait_ms < RECHECK_MS || performance.now() - at > EMPTY_MS) return false;
    Object.assign(queue, { drained: queue.version, drainedAt: at });
    return this.#isDrained(queue, request);
  }

  /** Whether there is nothing for the agent, unless a wake-up was lost. */
  #isDrained(queue: AgentQueue, { agent_id, settling }: ReceiveRequest): boolean {
    return queue.drained === queue.version && !settling?.ids.size && this.#isOwn(agent_id);
  }

  /** Cancels the request with this key: its caller disconnected. */
  cancel(key: string): void {
    this.#cancellable.get(key)?.abort();
  }

  /** @param isEmpty whether there is nothing to claim at first */
  async #claimOrWait(
    queue: AgentQueue,
    request: ReceiveRequest,
    cancel: AbortController,
    isEmpty: boolean,
  ): Promise<Received> {
    const { signal: cancelled } = cancel;
    const deadline = performance.now() + request.wait_ms;
    const wake = () => queue.wake();
    cancelled.addEventListener("abort", wake, { once: true });
    for (let woken = false, skips = isEmpty; ; skips = false) {
      const waiter = queue.arm();
      try {
        const { version } = queue;
        const claimed: ClaimResult = skips
          ? { deliveries: [] }
          : await queue.run(() => this.#claim(queue, request, woken, cancelled));
        // Whatever was claimed; a request that cannot settle waits no longer.
        request.settling?.write().catch(() => cancel.abort());
        const left = deadline - performance.now();
        const isDone = claimed.deliveries.length > 0 || claimed.larger !== undefined;
        if (isDone || left <= 0 || this.#stopping || cancelled.aborted) {
          return { ...claimed, stopping: this.#stopping };
        }
        this.#waiting.add(request);
        const most = this.#isOwn(request.agent_id) ? left : Math.min(left, MOVED_RECHECK_MS);
        const wait = Math.min(most, claimed.limited_ms ?? most);
        const reserved = await queue.wait({ request, waiter, cancelled }, wait);
        this.#waiting.delete(request);
        if (reserved.length > 0) return { deliveries: reserved, stopping: this.#stopping };
        woken = queue.version !== version;
        const isOver = deadline - performance.now() < TIMER_MS;
        if (isOver && this.#isDrained(queue, request)) return { deliveries: [], stopping: this.#stopping };
      } finally {
        waiter.disarm();
      }
    }
  }

  async #claim(
    queue: AgentQueue,
    request: ReceiveRequest,
    woken: boolean,
    cancelled: AbortSignal,
  ): Promise<ClaimResult> {
    const nothing = { deliveries: [] };
    if (cancelled.aborted) return nothing;
    // Another request woken at the same time found less than its limit: nothing is left.
    if (woken && queue.drained === queue.version) return nothing;
    const limit = queue.limitFor(request, this.#now());
    if (limit === 0) return nothing;
    const { version } = queue;
    const reserved = request.max_in_flight === undefined ? 0 : limit;
    queue.reserved += reserved;
    try {
      const claimed = await this.#claims.claim({ ...request, limit });
      if (claimed.drained) Object.assign(queue, { drained: version, drainedAt: performance.now() });
      queue.addInFlight(request, claimed.deliveries);
      return claimed;
    } finally {
      queue.reserved -= reserved;
    }
  }

  /** Wakes waiting requests for which there are deliveries, should a wake-up between nodes be lost: one query for all. */
  async recheck(find: (agents: AgentsOfTenant[]) => Promise<ReadyAgents>): Promise<false> {
    const now = performance.now();
    for (const [agent_id, at] of this.#empty) if (now - at > EMPTY_MS) this.#empty.delete(agent_id);
    const able = [...this.#waiting].filter((request) => this.#hasCapacity(request));
    for (let at = 0; at < able.length; at += CHUNK) {
      let rest = able.slice(at, at + CHUNK);
      for (let more = rest.length > 0; more; ) {
        const ready = await find(byTenant(rest));
        const withReady = new Set(ready.agent_ids);
        for (const agent_id of withReady) this.wake(agent_id);
        rest = rest.filter(({ agent_id }) => !withReady.has(agent_id));
        more = ready.more && rest.length > 0;
      }
      for (const { agent_id } of rest) {
        const queue = this.#queues.peek(agent_id);
        if (queue && queue.drained === queue.version) queue.drainedAt = now;
      }
    }
    return false;
  }

  #hasCapacity(request: ReceiveRequest): boolean {
    return (this.#queues.peek(request.agent_id)?.limitFor(request, this.#now()) ?? 0) > 0;
  }

  /** Answers the waiting requests of streams with nothing: they ask again, the node that owns the agent by then. */
  handBackStreams(): void {
    for (const { max_in_flight, cancel_key } of this.#waiting)
      if (max_in_flight !== undefined) this.cancel(cancel_key);
  }

  /** Whether a request for an agent's deliveries is waiting on this node, or is just starting or ending to. */
  hasWaiting(agent_id: string): boolean {
    return this.#queues.peek(agent_id) !== undefined;
  }

  /**
   * Reserves rows that are about to be written for a request that waits on this node: written as leased, they need no
   * claim. Returns null without such a request; write rows that were not chosen as ready.
   */
  async reserve(agent_id: string, rows: DeliveryDoc[]): Promise<Reservation | null> {
    const queue = this.#queues.peek(agent_id);
    const byPriority = rows.toSorted((a, b) => b.priority - a.priority);
    const first = byPriority[0]?.size ?? 0;
    const waiting = this.#stopping ? undefined : queue?.takeWaiting(this.#now(), first);
    if (!queue || !waiting) return null;
    const { request, waiter } = waiting;
    const chosen = upToBytes(byPriority.slice(0, queue.limitFor(request, this.#now())), request.max_bytes);
    const written = Promise.withResolvers<DeliveryDoc[]>();
    queue.reserved += chosen.length;
    const leasing = this.#claims.reservingLease(request);
    waiting.reserved = leasing
      .then((lease) => this.#claims.deliver(request, lease, chosen, written.promise))
      // On failure the request claims for itself: the rows are ready, now or when their lease ends.
      .catch(() => [])
      .then((deliveries) => {
        queue.reserved -= chosen.length;
        queue.addInFlight(request, deliveries);
        return deliveries;
      });
    waiter.wake();
    const lease = await leasing.catch(() => null);
    return lease && { rows: chosen, lease, confirm: written.resolve };
  }

  /** Frees the capacity of streams whose deliveries were settled. */
  removeInFlight(agent_id: string, delivery_ids: string[], named?: NamedLease): void {
    const queue = this.#queues.peek(agent_id);
    if (!queue || queue.inFlight.size === 0) return;
    const freed = delivery_ids.filter((id) => {
      const held = queue.inFlight.get(id);
      return held && isUnder(held, named?.(id)) && queue.inFlight.delete(id);
    });
    if (freed.length) queue.wake();
  }

  /** Extends leases to `until`, in ms, as far as streams hold them. */
  extendInFlight(agent_id: string, delivery_ids: string[], until: number, named: NamedLease): void {
    const inFlight = this.#queues.peek(agent_id)?.inFlight;
    for (const id of delivery_ids) {
      const held = inFlight?.get(id);
      if (held && held.until > this.#now() && isUnder(held, named(id))) held.until = until;
    }
  }

  /** Ends a stream: cancels its request and returns the deliveries that its lease had in flight on this node. */
  async closeStream(agent_id: string, lease: string): Promise<string[]> {
    this.cancel(lease);
    if (!this.#queues.peek(agent_id)) return [];
    // Use the actor, so that it is removed if this was its last stream.
    return this.#queues.with(agent_id, async ({ inFlight }) => {
      const ids = [...inFlight].filter(([, each]) => each.lease === lease).map(([id]) => id);
      for (const id of ids) inFlight.delete(id);
      return ids;
    });
  }

  wake(agent_id: string): void {
    this.#empty.delete(agent_id);
    this.#queues.peek(agent_id)?.wake();
  }

  /** Wakes requests whose agents have another owner now, so that they look at the record more often. */
  recheckMoved(): void {
    this.#empty.clear();
    for (const agent_id of this.#queues.keys()) if (!this.#isOwn(agent_id)) this.wake(agent_id);
  }

  /** Answers all waiting requests with nothing. */
  stop(): void {
    this.#stopping = true;
    this.#queues.wakeAll();
  }
}
