import { reservedPrefix } from "../../../lib/cloudevents/platform-types.ts";
import {
  type CompiledFilter,
  compileFilter,
  EventScope,
  type FilterableEvent,
  type FilterOutcome,
  unitsSpent,
} from "../../../lib/filter/filter.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { added, all, type Few, removed } from "./few.ts";
import { FilterAccount, FilterAllowance, isCostly } from "./filter-allowance.ts";
import { GlobEntry, GlobIndex } from "./glob-index.ts";
import type { RoutedSubscription } from "./routing-change.ts";
import { unbounded, type Work } from "./work.ts";

/** The fields of an agent's interest or a channel's feed that matching needs. */
export type Subscription = RoutedSubscription;

interface MatchResult {
  /** In no particular order. */
  matched: Subscription[];
  /** Distinct filters and globs that could not be evaluated on the event, and so did not match. */
  errors: number;
  /** Filters and globs suspended by this event because of their cost. */
  suspended: number;
}

const newResult = (): MatchResult => ({ matched: [], errors: 0, suspended: 0 });

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

  /** Removes the subscription with this id; false if there is none. */
  remove(id: string): boolean {
    const subscription = this.#byId.get(id);
    if (subscription === undefined) return false;
    this.#byId.delete(id);
    this.#detach(subscription);
    return true;
  }

  /** Returns for how many ms this subscription's filter or glob is still suspended; 0 if it is not. */
  suspendedFor(id: string): number {
    const subscription = this.#byId.get(id);
    if (!subscription) return 0;
    const { glob, filter = "" } = subscription;
    const filterMs = this.#filters.get(filter)?.suspendedFor() ?? 0;
    return Math.max(filterMs, this.#globs.get(glob)?.suspendedFor(this.#costs) ?? 0);
  }

  /** Whether any subscription's glob matches events of this type. */
  async takes(type: string): Promise<boolean> {
    const slices = new Slices(SLICE_MS);
    for (const subscribers of this.#candidates(type)) {
      if (subscribers.fits(type, this.#costs, newResult())) return true;
      if (slices.over) await slices.next();
    }
    return false;
  }

  /** Returns the subscriptions whose glob and filter both match the event. */
  match(event: FilterableEvent): MatchResult {
    const pass = this.#begin(event);
    for (const subscribers of pass.candidates) subscribers.enter(pass, this.#costs);
    for (const [filter, subscribers] of pass.pending) settle(pass, filter, subscribers);
    return pass.result;
  }

  /** As `match`, for tenants with very many distinct globs or filters: yields to the event loop every 2 ms. */
  async matchInSlices(event: FilterableEvent): Promise<MatchResult> {
    const pass = this.#begin(event);
    this.#underWay.add(pass);
    try {
      const slices = new Slices(SLICE_MS);
      for (const subscribers of pass.candidates) {
        subscribers.enter(pass, this.#costs);
        if (slices.over) await slices.next();
      }
      for (const [filter, subscribers] of pass.pending) {
        settle(pass, filter, subscribers);
        if (slices.over) await slices.next();
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
      else settle(pass, this.#filters.get(filter) as DistinctFilter, [subscription]);
    }
  }

  /**
   * Returns the result of `match` if it needs no filter evaluation, has at most `most` entries and costs no more than
   * the remaining work; else null.
   */
  unfiltered({ type }: FilterableEvent, most: number, work: Work = unbounded()): Subscription[] | null {
    const found: Subscription[] = [];
    const result = newResult();
    for (const subscribers of this.#candidates(type, work)) {
      if (work.left < 0) return null;
      const fits = subscribers.fits(type, this.#costs, result);
      work.left -= subscribers.unitsTaken;
      // Fan-out counts it.
      if (result.errors > 0) return null;
      if (!fits) continue;
      if (subscribers.hasFilters || found.length + subscribers.unfiltered.length > most) return null;
      found.push(...subscribers.unfiltered);
    }
    return work.left < 0 ? null : found;
  }

  #begin(event: FilterableEvent): Pass {
    const { type } = event;
    const candidates = this.#candidates(type);
    const scope = new EventScope(event);
    return {
      number: ++this.#passes,
      type,
      scope,
      candidates,
      pending: [],
      changed: new Set(),
      result: newResult(),
    };
  }

  #candidates(type: string, work = unbounded()): Subscribers[] {
    return this.#globs.candidates(type, reservedPrefix(type).length, work);
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

/** The matching of one event. */
interface Pass {
  readonly number: number;
  readonly type: string;
  readonly scope: EventScope;
  /** All whose glob may match. */
  readonly candidates: Subscribers[];
  /** Subscriptions whose glob matches, with filters still to evaluate. */
  readonly pending: [DistinctFilter, Subscription[]][];
  /** Ids of subscriptions replaced or removed since it began. */
  readonly changed: Set<string>;
  readonly result: MatchResult;
}

function settle(pass: Pass, filter: DistinctFilter, subscribers: Subscription[]): void {
  if (filter.outcome(pass) !== "match") return;
  for (const subscription of subscribers) pass.result.matched.push(subscription);
}

/** All subscriptions with the same glob. */
class Subscribers extends GlobEntry {
  #unfiltered: Few<Subscription> = null;
  #filtered: Map<DistinctFilter, Subscription[]> | null = null;
  /** Cost of the glob, if it is costly. */
  #account: FilterAccount | null = null;

  get isEmpty(): boolean {
    return this.#unfiltered === null && this.#filtered === null;
  }

  get hasFilters(): boolean {
    return this.#filtered !== null;
  }

  get unfiltered(): readonly Subscription[] {
    return all(this.#unfiltered);
  }

  add(subscription: Subscription, filter: DistinctFilter | null): void {
    if (filter === null) {
      this.#unfiltered = added(this.#unfiltered, subscription);
      return;
    }
    this.#filtered ??= new Map();
    const same = this.#filtered.get(filter);
    if (same) same.push(subscription);
    else this.#filtered.set(filter, [subscription]);
  }

  remove(subscription: Subscription, filter: DistinctFilter | null): void {
    if (filter === null) {
      this.#unfiltered = removed(this.#unfiltered, subscription);
      return;
    }
    if (removed(this.#filtered?.get(filter) ?? null, subscription) === null) this.#filtered?.delete(filter);
    if (this.#filtered?.size === 0) this.#filtered = null;
  }

  suspendedFor({ now }: Costs): number {
    return this.#account ? Math.max(0, this.#account.suspendedUntil - now()) : 0;
  }

  /** Whether the glob matches the type. A costly test is charged; a suspended glob does not match. */
  fits(type: string, costs: Costs, result: MatchResult): boolean {
    if (this.suspendedFor(costs) > 0) {
      result.errors++;
      return false;
    }
    const fits = this.test(type);
    const units = this.unitsTaken;
    if (!isCostly(units)) return fits;
    this.#account ??= new FilterAccount();
    if (costs.allowance.charge(this.#account, units, costs.now())) result.suspended++;
    return fits;
  }

  enter(pass: Pass, costs: Costs): void {
    if (!this.fits(pass.type, costs, pass.result)) return;
    for (const subscription of this.unfiltered) pass.result.matched.push(subscription);
    if (this.#filtered !== null) for (const group of this.#filtered) pass.pending.push(group);
  }
}

/** The budget of a tenant's filters and globs, and its clock. */
interface Costs {
  readonly allowance: FilterAllowance;
  now(): number;
}

/** A filter expression, shared by its subscriptions: compiled on first use, evaluated once per event. */
class DistinctFilter {
  uses = 0;
  readonly #expression: string;
  readonly #costs: Costs;
  #account: FilterAccount | null = null;
  #compiled: CompiledFilter | null = null;
  #pass = 0;
  #outcome: FilterOutcome = "error";

  constructor(expression: string, costs: Costs) {
    this.#expression = expression;
    this.#costs = costs;
  }

  suspendedFor(): number {
    return this.#account ? Math.max(0, this.#account.suspendedUntil - this.#costs.now()) : 0;
  }

  outcome(pass: Pass): FilterOutcome {
    if (this.#pass === pass.number) return this.#outcome;
    this.#pass = pass.number;
    this.#outcome = this.suspendedFor() > 0 ? "error" : this.#evaluate(pass);
    if (this.#outcome === "error") pass.result.errors++;
    return this.#outcome;
  }

  #evaluate(pass: Pass): FilterOutcome {
    try {
      this.#compiled ??= compileFilter(this.#expression);
    } catch {
      // It compiled when it was stored; if a later version rejects it, the others must continue.
      return "error";
    }
    const outcome = this.#compiled.matches(pass.scope);
    if (isCostly(unitsSpent())) this.#pay(pass, unitsSpent());
    return outcome;
  }

  #pay({ result }: Pass, units: number): void {
    this.#account ??= new FilterAccount();
    const { allowance, now } = this.#costs;
    if (allowance.charge(this.#account, units, now())) result.suspended++;
  }
}
