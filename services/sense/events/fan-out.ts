import type { ServiceBroker } from "moleculer";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { atTurnEnd } from "../../../lib/queue/turn.ts";
import { Loop } from "../../../mixins/loop.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { deliver } from "./deliver.ts";
import type { EventDoc } from "./events.model.ts";
import { giveBack, isSystemic, park, postpone, retryDelay } from "./fan-out-failure.ts";
import { type Entry, FanOutQueue } from "./fan-out-queue.ts";
import { FanOutStamps } from "./fan-out-stamps.ts";
import { FanOutSweep, LEASE_MS, leaseEnd } from "./fan-out-sweep.ts";
import { fanoutKey } from "./position.ts";

/** Two batches keep up with the events that publishers put into one commit. */
const MAX_BATCH = 400;
/** Calls between nodes carry at most about a megabyte. */
const MAX_BATCH_BYTES = 700 * 1024;
/** The next batch is matched while one is being written; more concurrency would only make batches smaller. */
const MAX_CONCURRENT = 2;
/** A batch that takes longer (a very wide match) stops blocking others. */
const SLOW_MS = 50;
const MAX_SLOW = 6;
const SWEEP_MS = 1_000;
const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** Reached only after several consecutive failures. */
const TROUBLING_PAUSE_MS = 2_000;

interface FanOutParts {
  events: TenantCollection<EventDoc>;
  store: Store;
  broker: ServiceBroker;
  instance: string;
}

/**
 * Fans out every accepted event. Its row records the pending work under a lease that the inserting node already holds;
 * memory only saves reading it back (spec: Events 2).
 */
export class FanOut {
  readonly #parts: FanOutParts;
  readonly #queue = new FanOutQueue();
  readonly #stamps: FanOutStamps;
  readonly #sweep: FanOutSweep;
  readonly #working = new Set<Promise<void>>();
  /** Batches whose receivers are not all known yet. */
  readonly #unmatched = new Set<Entry[]>();
  #slow = 0;
  readonly #loop: Loop;
  #running = false;
  #pumping = false;
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** Set while everything fails: the end of the pause, and its length. */
  #paused: NodeJS.Timeout | undefined;
  #pauseMs = SHORTEST_PAUSE_MS;

  constructor(parts: FanOutParts) {
    this.#parts = parts;
    const { events, store, instance } = parts;
    this.#stamps = new FanOutStamps(events, (entries, err) => this.#stamped(entries, err));
    const onUnreadable = (row: EventDoc) => this.#park(row, "its envelope cannot be read");
    this.#sweep = new FanOutSweep({ events, store, queue: this.#queue, instance, onUnreadable });
    const report = (err: unknown) =>
      parts.broker.logger.warn("fan-out: a sweep failed and will be repeated", err);
    this.#loop = new Loop(() => this.#look(), SWEEP_MS, report);
  }

  start(): void {
    this.#running = true;
    this.#loop.start();
  }

  /** Finishes the work in progress and releases the rest, so that other nodes need not wait for the leases to end. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#paused);
    await this.#loop.stop();
    await Promise.all(this.#working);
    await this.#stamps.flush();
    for (;;) {
      const rest = this.#queue.take(MAX_BATCH, Number.POSITIVE_INFINITY);
      if (rest.length === 0) return;
      await giveBack(this.#parts, rest);
    }
  }

  /** Whether no event of the tenant waits here for matching, so that a new one overtakes none. */
  isClear(tenant_id: string): boolean {
    if (!this.#running || this.#paused || this.#queue.waits(tenant_id)) return false;
    for (const [entry] of this.#unmatched) if (entry?.tenant_id === tenant_id) return false;
    return true;
  }

  /** Marks a new event's row as leased to this node, or as due at once if this node has no capacity. */
  lease(row: EventDoc, now: number): void {
    const room = this.#running && this.#queue.admits(row.tenant_id);
    row.fanout_key = fanoutKey(row.tenant_id, room ? now + LEASE_MS : now);
    if (room) row.fanout_owner = this.#parts.instance;
  }

  /** Queues events that have become durable. */
  offer(publications: { event: CloudEvent; row: EventDoc }[]): void {
    for (const { event, row } of publications) {
      const { _id: event_id, tenant_id, size, position, accepted_at, fanout_owner } = row;
      if (!fanout_owner) continue;
      this.#queue.push({
        event_id,
        tenant_id,
        event,
        size,
        position,
        accepted_at: accepted_at.getTime(),
        owner: fanout_owner,
        leased_until: leaseEnd(this.#parts.store, accepted_at.getTime()),
        attempts: 0,
      });
    }
    this.#pumpLater();
  }

  /** Starts a sweep soon: events have become due. */
  nudge(): void {
    this.#sweptAt = Number.NEGATIVE_INFINITY;
    this.#loop.nudge();
  }

  /** Returns why no event is being fanned out, or null. */
  get trouble(): string | null {
    if (!this.#running) return "not running";
    return this.#paused && this.#pauseMs > TROUBLING_PAUSE_MS
      ? "waiting for services that do not answer"
      : null;
  }

  /** Batches the events of one commit, after their publishers are answered. */
  #pumpLater(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    atTurnEnd(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const places = MAX_CONCURRENT + Math.min(this.#slow, MAX_SLOW);
    while (this.#running && !this.#paused) {
      const batch = this.#queue.take(MAX_BATCH, MAX_BATCH_BYTES, places);
      const [first] = batch;
      if (!first) break;
      const work = this.#timed(this.#leased(batch)).finally(() => {
        this.#working.delete(work);
        this.#queue.finish(first.tenant_id);
        this.#pump();
      });
      this.#working.add(work);
    }
    if (this.#queue.hungry()) this.#loop.nudge();
  }

  /** Returns entries whose lease still holds. Other nodes may be working on the others: the store decides. */
  #leased(batch: Entry[]): Entry[] {
    const now = this.#parts.store.now();
    const held = batch.filter(({ leased_until }) => leased_until > now);
    if (held.length === batch.length) return batch;
    for (const entry of batch) {
      if (entry.leased_until > now) continue;
      this.#queue.release(entry);
      this.#queue.behind(entry.tenant_id);
    }
    return held;
  }

  async #timed(batch: Entry[]): Promise<void> {
    let slow = 0;
    const timer = setTimeout(() => {
      slow = 1;
      this.#slow++;
      this.#pump();
    }, SLOW_MS);
    await this.#work(batch);
    clearTimeout(timer);
    this.#slow -= slow;
  }

  async #look(): Promise<boolean> {
    const hungry = this.#queue.hungry();
    if (hungry) await this.#sweep.take(hungry);
    const now = performance.now();
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now;
      await this.#sweep.run();
    }
    this.#pump();
    return this.#queue.hungry() !== null;
  }

  async #work(batch: Entry[]): Promise<void> {
    let rest = batch;
    try {
      while (rest.length) {
        const matched = await this.#deliver(rest);
        this.#delivered(rest.slice(0, matched.length), matched);
        rest = rest.slice(matched.length);
      }
    } catch (err) {
      await this.#failed(rest, err as Error);
    }
  }

  async #deliver(entries: Entry[]): Promise<number[]> {
    const onMatched = () => this.#unmatched.delete(entries);
    this.#unmatched.add(entries);
    return deliver(this.#parts.broker, entries, onMatched).finally(onMatched);
  }

  #delivered(entries: Entry[], matched: number[]): void {
    const at = new Date(this.#parts.store.now());
    this.#pauseMs = SHORTEST_PAUSE_MS;
    this.#stamps.add(entries.map((entry, i) => ({ entry, matched: matched[i] as number, at })));
    metrics.eventsFannedOut.inc(entries.length);
    const receivers = matched.reduce((sum, count) => sum + count, 0);
    this.#queue.charge((entries[0] as Entry).tenant_id, receivers);
    for (const entry of entries) {
      entry.event = null;
      metrics.fanOutLag.observe((at.getTime() - entry.accepted_at) / 1000);
    }
  }

  /** A failed batch is retried event by event, a failed event later; if everything fails, the queue pauses. */
  async #failed(rest: Entry[], err: Error): Promise<void> {
    this.#parts.broker.logger.warn({ err, events: rest.length }, "fan-out failed");
    if (isSystemic(err)) {
      this.#queue.putBack(rest);
      this.#wait();
    } else if (rest.length > 1) {
      for (const entry of rest) await this.#work([entry]);
    } else {
      await this.#giveUp(rest[0] as Entry, err).catch((storeError) => {
        // Its lease will expire.
        this.#parts.broker.logger.warn({ err: storeError }, "fan-out could not note a failure");
      });
    }
  }

  async #giveUp(entry: Entry, err: Error): Promise<void> {
    const { event_id, tenant_id, attempts } = entry;
    this.#queue.release(entry);
    const delay = retryDelay(attempts + 1);
    if (delay === null) await this.#park({ _id: event_id, tenant_id }, err.message);
    else await postpone(this.#parts, entry, delay);
  }

  #wait(): void {
    if (!this.#running) return;
    this.#paused ??= setTimeout(() => {
      this.#paused = undefined;
      this.#pump();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #park(row: Pick<EventDoc, "_id" | "tenant_id">, reason: string): Promise<void> {
    await park(this.#parts, row, reason);
    metrics.eventsParked.inc();
    this.#parts.broker.logger.error({ event_id: row._id, reason }, "event parked");
  }

  #stamped(entries: Entry[], err?: unknown): void {
    if (err) this.#parts.broker.logger.warn({ err }, "fan-out could not stamp; it will be repeated");
    for (const entry of entries) this.#queue.release(entry);
  }
}
