import type { FairQueue } from "../../../lib/queue/fair-queue.ts";
import { atTickEnd } from "../../../lib/queue/tick-end.ts";
import { turns } from "../../../lib/queue/work.ts";
import { isOwner } from "../../../mixins/affinity.ts";
import { Loop } from "../../../mixins/loop.ts";
import { metrics } from "../../../observability/metrics.ts";
import { isStoreLost, isSystemic } from "../../../storage/store-lost.ts";
import { noteChange } from "../../platform/usage/tally.ts";
import type { Arrivals } from "./arrivals.ts";
import { deliver } from "./deliver.ts";
import type { EventDeps, EventDoc, Publication } from "./events.model.ts";
import { type Entry, FanOutQueue } from "./fan-out-queue.ts";
import { FanOutStamps } from "./fan-out-stamps.ts";
import { FanOutSweep, LEASE_MS, leaseEnd, toEntry } from "./fan-out-sweep.ts";
import { fanoutKey } from "./position.ts";

/** Two batches keep up with the events that publishers put into one commit. */
const MAX_BATCH = 400;
/** Calls between nodes carry at most about a megabyte. */
const MAX_BATCH_BYTES = 700 * 1024;
/** After this time of a batch (a very wide match), its tenant's next one may begin. */
const SLOW_MS = 50;
/**
 * A slow batch keeps half a turn. A tenant has two: its next batch is matched while one is written. At most three are
 * under way, as those of others wait behind them in the store.
 */
const SLOW_UNITS = 0.5;
const SWEEP_MS = 1_000;
/** The same on all nodes but one, in case that one cannot. */
const STANDBY_SWEEP_MS = 5_000;
const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** Reached only after several consecutive failures. */
const TROUBLING_PAUSE_MS = 2_000;

interface FanOutDeps extends EventDeps {
  arrivals: Arrivals;
  /** Identifies this process in its leases. */
  instance: string;
}

/**
 * Fans out every accepted event. Its row records the pending work under a lease that the inserting node already holds;
 * memory only saves reading it back (spec: Events 2). This node is
 *
 * - `stopped` before it starts and after it stops: new events are written as due, for any node to claim;
 * - `running`: batches are taken from the queue, and the sweep claims what is due in the store;
 * - `paused` while an error affects all events, such as a missing store: failed batches are back in the queue, until a
 *   delay is over that doubles with each failure.
 *
 * An event is
 *
 * - *waiting* in the queue (`FanOutQueue`), or in the store when the queue has no capacity;
 * - *matched* in batches: `deliver` finds its receivers and writes their deliveries;
 * - *enqueued* when its deliveries are written: its row is *stamped* as fanned out soon after (`FanOutStamps`);
 * - *failed* when its batch fails by itself: each is tried alone, then retried later, at last parked (`retryLater`).
 */
export class FanOut {
  readonly #deps: FanOutDeps;
  readonly #queue = new FanOutQueue();
  readonly #stamps: FanOutStamps;
  readonly #sweep: FanOutSweep;
  readonly #loop: Loop;
  #state: "stopped" | "running" | "paused" = "stopped";
  #pauseTimer: NodeJS.Timeout | undefined;
  #pauseMs = SHORTEST_PAUSE_MS;
  #missing = "";
  readonly #turns: FairQueue;
  /** Tenants that wait for the turn of their next batch. */
  readonly #asking = new Set<string>();
  readonly #inProgress = new Set<Promise<void>>();
  #pumpScheduled = false;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** @param shared divides the turns of this node among tenants */
  constructor(deps: FanOutDeps, shared = turns) {
    this.#deps = deps;
    this.#turns = shared;
    const { events, broker } = deps;
    this.#stamps = new FanOutStamps(events, (entries, err) => this.#release(entries, err));
    const onUnreadable = (row: EventDoc) => park(deps, row, "the stored event cannot be read");
    this.#sweep = new FanOutSweep({ ...deps, queue: this.#queue, onUnreadable });
    const report = (err: unknown) => broker.logger.warn("fan-out: a sweep failed and will be retried", err);
    this.#loop = new Loop(() => this.#claimDue(), SWEEP_MS, report);
  }

  start(): void {
    this.#state = "running";
    this.#loop.start();
  }

  /** Finishes the work in progress and releases the rest, so that other nodes need not wait for the leases to end. */
  async stop(): Promise<void> {
    this.#state = "stopped";
    clearTimeout(this.#pauseTimer);
    await this.#loop.stop();
    await Promise.all(this.#inProgress);
    await this.#stamps.flush();
    for (const tenant_id of this.#queue.waiting) {
      const take = () => this.#queue.take(tenant_id, MAX_BATCH);
      for (let rest = take(); rest.length; rest = take()) await releaseLeases(this.#deps, rest);
    }
  }

  /** Marks a new event's row as leased to this node, or as due at once if this node has no capacity. */
  lease(row: EventDoc, now: number): void {
    const admitted = this.#state !== "stopped" && this.#queue.admits(row.tenant_id);
    row.fanout_key = fanoutKey(row.tenant_id, admitted ? now + LEASE_MS : now);
    if (admitted) row.fanout_owner = this.#deps.instance;
  }

  /** Whether this node fans out, and no earlier event of the tenant waits for it. */
  isUpToDate(tenant_id: string): boolean {
    return this.#state === "running" && !this.#queue.isBehind(tenant_id);
  }

  offer(publications: Publication[]): void {
    for (const { event, row } of publications) {
      if (!row.fanout_owner) continue;
      this.#queue.push(toEntry(row, event, leaseEnd(this.#deps.store, row.accepted_at.getTime())));
    }
    this.#schedulePump();
  }

  /** Starts a sweep soon: events have become due. */
  nudge(): void {
    this.#sweptAt = Number.NEGATIVE_INFINITY;
    this.#loop.nudge();
  }

  /** Events in memory, batches in progress, and the number of tenants with more in the store. */
  get load() {
    return { ...this.#queue.load, batches: this.#inProgress.size };
  }

  get trouble(): string | null {
    if (this.#state === "stopped") return "not running";
    return this.#state === "paused" && this.#pauseMs > TROUBLING_PAUSE_MS
      ? `waiting for ${this.#missing}`
      : null;
  }

  async #claimDue(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#sweptAt >= this.#sweepMs) {
      this.#sweptAt = now;
      await this.#sweep.run();
    }
    const spilled = this.#queue.nextSpilled();
    if (spilled) await this.#sweep.claim(spilled);
    this.#pump();
    return this.#queue.nextSpilled() !== null;
  }

  /** One node looks for events that others left. Each continues with a tenant whose events it found. */
  get #sweepMs(): number {
    return isOwner(this.#deps.broker, "events", "fan-out") ? SWEEP_MS : STANDBY_SWEEP_MS;
  }

  /** Batches the events of one commit, after their publishers are answered. */
  #schedulePump(): void {
    if (this.#pumpScheduled) return;
    this.#pumpScheduled = true;
    atTickEnd(() => {
      this.#pumpScheduled = false;
      this.#pump();
    });
  }

  /** Asks for a turn for each tenant whose events wait. */
  #pump(): void {
    if (this.#state !== "running") return;
    for (const tenant_id of this.#queue.waiting)
      if (!this.#asking.has(tenant_id)) void this.#fanOutNext(tenant_id);
    if (this.#queue.nextSpilled()) this.#loop.nudge();
  }

  async #fanOutNext(tenant_id: string): Promise<void> {
    this.#asking.add(tenant_id);
    const release = await this.#turns.acquire({ tenant_id, caller: "fan-out" }, 1, { queued: 0 });
    this.#asking.delete(tenant_id);
    const isRunning = this.#state === "running";
    const batch = isRunning ? this.#queue.take(tenant_id, MAX_BATCH, MAX_BATCH_BYTES) : [];
    if (batch.length === 0) return release();
    const slow = setTimeout(() => release(1 - SLOW_UNITS), SLOW_MS);
    const progress = this.#process(this.#dropLapsed(batch)).finally(() => {
      clearTimeout(slow);
      release();
      this.#inProgress.delete(progress);
      this.#pump();
    });
    this.#inProgress.add(progress);
    this.#pump();
  }

  /** Returns entries whose lease still holds. Other nodes may be working on the others: the store decides. */
  #dropLapsed(batch: Entry[]): Entry[] {
    const now = this.#deps.store.now();
    const isHeld = ({ leased_until }: Entry) => leased_until > now;
    for (const entry of batch) {
      if (isHeld(entry)) continue;
      this.#queue.release(entry);
      this.#queue.markSpilled(entry.tenant_id);
    }
    return batch.filter(isHeld);
  }

  async #process(batch: Entry[]): Promise<void> {
    let rest = batch;
    try {
      while (rest.length) {
        const counts = await deliver(this.#deps.broker, rest);
        this.#onEnqueued(rest.slice(0, counts.length), counts);
        rest = rest.slice(counts.length);
      }
    } catch (err) {
      await this.#onFailed(rest, err as Error);
    }
  }

  #onEnqueued(entries: Entry[], counts: number[]): void {
    const at = new Date(this.#deps.store.now());
    this.#pauseMs = SHORTEST_PAUSE_MS;
    this.#stamps.add(entries.map((entry, i) => ({ entry, matched: counts[i] as number, at })));
    metrics.eventsFannedOut.inc(entries.length);
    const receivers = counts.reduce((sum, count) => sum + count, 0);
    const { tenant_id } = entries[0] as Entry;
    if (receivers) this.#deps.arrivals.tell(tenant_id);
    for (const entry of entries) {
      entry.event = null;
      metrics.fanOutLag.observe((at.getTime() - entry.due_at) / 1000);
    }
  }

  async #onFailed(rest: Entry[], err: Error): Promise<void> {
    const { logger } = this.#deps.broker;
    logger.warn({ err, events: rest.length }, "fan-out failed");
    const [first] = rest as [Entry];
    if (isSystemic(err)) {
      this.#queue.putBack(rest);
      this.#missing = missingFor(err);
      this.#pause();
    } else if (rest.length > 1) {
      for (const entry of rest) await this.#process([entry]);
    } else {
      this.#queue.release(first);
      await retryLater(this.#deps, first, err).catch((storeError) => {
        // Its lease will expire.
        logger.warn({ err: storeError }, "fan-out: a failure could not be recorded");
      });
    }
  }

  #pause(): void {
    if (this.#state === "stopped") return;
    if (this.#state === "running") {
      this.#state = "paused";
      this.#pauseTimer = setTimeout(() => {
        this.#state = "running";
        this.#pump();
      }, this.#pauseMs);
    }
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** Ends the work on entries that are stamped, or are due again because their stamp failed. */
  #release(entries: Entry[], err?: unknown): void {
    if (err)
      this.#deps.broker.logger.warn(
        { err },
        "fan-out: its completion could not be recorded; it will be repeated",
      );
    for (const entry of entries) this.#queue.release(entry);
  }
}

/** Delays of the retries; an event that fails again is parked. */
const RETRY_SECONDS = [1, 10, 60, 300];

/** Returns what such an error waits for, for the operator. */
export function missingFor(err: unknown): string {
  if (isStoreLost(err)) return "the database, which cannot be reached or written to";
  const { action } = ((err as { data?: unknown }).data ?? {}) as { action?: string };
  return action
    ? `the service ${action.split(".")[0]}, which does not answer`
    : "other services, which are busy";
}

/** Records an event's own failure: it is due again after a delay, or parked after the last retry. */
export async function retryLater(deps: EventDeps, entry: Entry, err: Error): Promise<void> {
  const { events, store } = deps;
  const { event_id, tenant_id, owner, attempts } = entry;
  const seconds = RETRY_SECONDS[attempts];
  if (seconds === undefined) return park(deps, { _id: event_id, tenant_id }, err.message);
  const $set = { fanout_key: fanoutKey(tenant_id, store.now() + seconds * 1000) };
  const update = { $set, $unset: { fanout_owner: 1 }, $inc: { fanout_attempts: 1 } } as const;
  await events.updateMany(tenant_id, { _id: event_id, fanout_owner: owner }, update);
}

/** Parks an event until an admin retries it. */
export async function park(
  { events, store, broker }: EventDeps,
  { _id: event_id, tenant_id }: Pick<EventDoc, "_id" | "tenant_id">,
  reason: string,
): Promise<void> {
  const $set = { parked_at: new Date(store.now()), park_reason: reason.slice(0, 500) };
  const update = { $set, $unset: { fanout_key: 1, fanout_owner: 1 } } as const;
  await events.updateMany(tenant_id, { _id: event_id, fanout_key: { $exists: true } }, update);
  metrics.eventsParked.inc();
  noteChange(tenant_id);
  broker.logger.error({ event_id, reason }, "event parked");
}

/** Releases the leases of events of one tenant: any node may claim them at once. */
export async function releaseLeases({ events, store }: EventDeps, entries: Entry[]): Promise<void> {
  const [{ tenant_id }] = entries as [Entry];
  const _id = { $in: entries.map(({ event_id }) => event_id) };
  const fanout_owner = { $in: [...new Set(entries.map(({ owner }) => owner))] };
  const $set = { fanout_key: fanoutKey(tenant_id, store.now()) };
  await events.updateMany(tenant_id, { _id, fanout_owner }, { $set, $unset: { fanout_owner: 1 } });
}
