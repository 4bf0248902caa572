import { reservedPrefix } from "../../../lib/cloudevents/platform-types.ts";
import { EventScope, type FilterableEvent } from "../../../lib/filter/filter.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { FilterAllowance } from "./filter-allowance.ts";
import { GlobIndex } from "./glob-index.ts";
import type { Subscription } from "./receiver.ts";
import {
  addMatches,
  type Costs,
  DistinctFilter,
  type MatchResult,
  newResult,
  type Pass,
  Subscribers,
} from "./subscribers.ts";

/** How long matching may block the event loop. */
const SLICE_MS = 2;

/**
 * The subscriptions of one tenant, found by event (spec: Events 2). The cost of an event depends on the matching globs
 * and their distinct filters, not on the number of subscriptions.
 */
export class MatchIndex {
  readonly #byId = new Map<string, Subscription>();
  readonly #globs = new GlobIndex<Subscribers>();
  readonly #filters = new Map<string, DistinctFilter>();
  readonly #costs: Costs;
  /** Passes that yield to the event loop and so may miss a change. */
  readonly #underWay = new Set<Pass>();
  #passes = 0;

  /** @param now a monotonic clock in ms */
  constructor(subscriptions: Iterable<Subscription> = [], now = () => performance.now()) {
    this.#costs = { allowance: new FilterAllowance(), now };
    for (const subscription of subscriptions) this.add(subscription);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Adds a subscription, replacing one with the same id. Throws an Error if its glob is invalid. */
  add(subscription: Subscription): void {
    const { id, glob, filter } = subscription;
    const replaced = this.#byId.get(id);
    let subscribers = this.#globs.get(glob);
    if (subscribers === undefined) {
      subscribers = new Subscribers(glob);
      this.#globs.add(subscribers);
    }
    subscribers.add(subscription, this.#acquireFilter(filter));
    this.#byId.set(id, subscription);
    if (replaced !== undefined) this.#detach(replaced);
  }

  get(id: string): Subscription | undefined {
    return this.#byId.get(id);
  }

  /** Removes the subscription with this id; false if there is none. */
  remove(id: string): boolean {
    const subscription = this.#byId.get(id);
    if (subscription === undefined) return false;
    this.#byId.delete(id);
    this.#detach(subscription);
    return true;
  }

  removeFeeds(channel_id: string): void {
    for (const [id, subscription] of this.#byId) if (subscription.channel_id === channel_id) this.remove(id);
  }

  /** Returns for how many ms this subscription's filter or glob is still suspended; 0 if it is not. */
  suspendedFor(id: string): number {
    const subscription = this.#byId.get(id);
    if (!subscription) return 0;
    const { glob, filter = "" } = subscription;
    const filterMs = this.#filters.get(filter)?.suspendedFor() ?? 0;
    return Math.max(filterMs, this.#globs.get(glob)?.suspendedFor(this.#costs) ?? 0);
  }

  async takes(type: string): Promise<boolean> {
    const slices = new Slices(SLICE_MS);
    for (const subscribers of this.#candidates(type)) {
      if (subscribers.fits(type, this.#costs, newResult())) return true;
      if (slices.over) await slices.next();
    }
    return false;
  }

  /** Yields subscriptions whose glob matches the type, with a pause of `undefined` after each distinct glob. */
  *subscriptionsTo(type: string): Generator<Subscription | undefined> {
    for (const subscribers of this.#candidates(type)) {
      // Not `fits`, which charges the tenant: who looks at its subscriptions must not suspend them.
      if (subscribers.test(type)) yield* subscribers.all();
      yield undefined;
    }
  }

  async match(event: FilterableEvent): Promise<MatchResult>;
  async match(event: FilterableEvent, maxMs?: number): Promise<MatchResult | null>;
  /** Returns the subscriptions whose glob and filter match; null if that takes more than `maxMs` without other work. */
  async match(event: FilterableEvent, maxMs = Number.POSITIVE_INFINITY): Promise<MatchResult | null> {
    const { type } = event;
    const pass: Pass = {
      number: ++this.#passes,
      type,
      scope: new EventScope(event),
      pending: [],
      changed: new Set(),
      result: newResult(),
    };
    this.#underWay.add(pass);
    const slices = new Slices(SLICE_MS);
    const isLate = async () => {
      await slices.next();
      return slices.spent > maxMs;
    };
    try {
      for (const subscribers of this.#candidates(type)) {
        subscribers.enter(pass, this.#costs);
        if (slices.over && (await isLate())) return null;
      }
      for (const [filter, subscribers] of pass.pending) {
        addMatches(pass, filter, subscribers);
        if (slices.over && (await isLate())) return null;
      }
    } finally {
      this.#underWay.delete(pass);
    }
    if (pass.changed.size > 0) this.#settleChanged(pass);
    return pass.result;
  }

  /** The pass may have seen a concurrent change before, after, twice or never: use its current state. */
  #settleChanged(pass: Pass): void {
    const { result, changed, type } = pass;
    result.matched = result.matched.filter(({ id }) => !changed.has(id));
    const candidates = new Set(this.#candidates(type));
    for (const id of changed) {
      const subscription = this.#byId.get(id);
      if (!subscription) continue;
      const subscribers = this.#globs.get(subscription.glob) as Subscribers;
      if (!candidates.has(subscribers) || !subscribers.fits(type, this.#costs, result)) continue;
      const { filter } = subscription;
      if (filter === undefined) result.matched.push(subscription);
      else addMatches(pass, this.#filters.get(filter) as DistinctFilter, [subscription]);
    }
  }

  #candidates(type: string): Subscribers[] {
    return this.#globs.candidates(type, reservedPrefix(type).length);
  }

  #detach(subscription: Subscription): void {
    const subscribers = this.#globs.get(subscription.glob) as Subscribers;
    subscribers.remove(subscription, this.#releaseFilter(subscription.filter));
    if (subscribers.isEmpty) this.#globs.delete(subscribers);
    for (const pass of this.#underWay) pass.changed.add(subscription.id);
  }

  #acquireFilter(expression: string | undefined): DistinctFilter | null {
    if (expression === undefined) return null;
    const filter = this.#filters.get(expression) ?? new DistinctFilter(expression, this.#costs);
    this.#filters.set(expression, filter);
    filter.uses++;
    return filter;
  }

  #releaseFilter(expression: string | undefined): DistinctFilter | null {
    if (expression === undefined) return null;
    const filter = this.#filters.get(expression) as DistinctFilter;
    filter.uses--;
    if (filter.uses === 0) this.#filters.delete(expression);
    return filter;
  }
}
