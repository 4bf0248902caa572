import { type Equality, equalityOf, valueAt, valueKey } from "../../../lib/filter/equality.ts";
import {
  type CompiledFilter,
  compileFilter,
  type EventScope,
  type FilterOutcome,
  unitsSpent,
} from "../../../lib/filter/filter.ts";
import { FilterAccount, type FilterAllowance, isCostly } from "./filter-allowance.ts";
import { addTo, type CompactList, GlobEntry, itemsOf, removeFrom } from "./glob-index.ts";
import type { Subscription } from "./receiver.ts";

export interface MatchResult {
  /** In no particular order. */
  matched: Subscription[];
  /** Distinct filters and globs that could not be evaluated on the event, and so did not match. */
  errors: number;
  /** Filters and globs suspended by this event because of their cost. */
  suspended: number;
  /** Whether every event of the type has this result: none of its filters, and no glob that is costly, was asked. */
  byType: boolean;
}

export const newResult = (): MatchResult => ({ matched: [], errors: 0, suspended: 0, byType: true });

export interface Pass {
  readonly number: number;
  readonly type: string;
  readonly scope: EventScope;
  /** Subscriptions whose glob matches, with filters still to evaluate. */
  readonly pending: [DistinctFilter, Subscription[]][];
  /** Ids of subscriptions replaced or removed since it began. */
  readonly changed: Set<string>;
  readonly result: MatchResult;
}

export function addMatches(pass: Pass, filter: DistinctFilter, subscribers: Subscription[]): void {
  if (filter.outcome(pass) !== "match") return;
  for (const subscription of subscribers) pass.result.matched.push(subscription);
}

type Filtered = Map<DistinctFilter, Subscription[]>;

/** Subscriptions with filters, found by the value of an event that theirs requires, if it requires one. */
class FilteredSubscriptions {
  readonly #others: Filtered = new Map();
  /** By path, then by value. */
  readonly #equal = new Map<string, Map<string, Filtered>>();
  size = 0;

  *all(): Generator<Subscription[]> {
    yield* this.#others.values();
    for (const byValue of this.#equal.values()) for (const same of byValue.values()) yield* same.values();
  }

  add(subscription: Subscription, filter: DistinctFilter): void {
    const filtered = this.#of(filter);
    const same = filtered.get(filter);
    if (same) same.push(subscription);
    else filtered.set(filter, [subscription]);
    this.size++;
  }

  remove(subscription: Subscription, filter: DistinctFilter): void {
    const filtered = this.#of(filter);
    const same = filtered.get(filter);
    if (!same?.includes(subscription)) return;
    this.size--;
    if (removeFrom(same, subscription) === null) filtered.delete(filter);
    const { equality } = filter;
    if (filtered.size > 0 || !equality) return;
    const byValue = this.#equal.get(equality.path);
    byValue?.delete(equality.key);
    if (byValue?.size === 0) this.#equal.delete(equality.path);
  }

  /** Adds those whose filter may match. An event without the value fails all filters that require one of its path. */
  enter(pass: Pass): void {
    for (const group of this.#others) pass.pending.push(group);
    for (const [path, byValue] of this.#equal) {
      const value = valueAt(pass.scope, path);
      if (value === undefined)
        for (const same of byValue.values()) for (const filter of same.keys()) filter.fail(pass);
      const key = valueKey(value);
      for (const group of (key !== null && byValue.get(key)) || []) pass.pending.push(group);
    }
  }

  #of({ equality }: DistinctFilter): Filtered {
    if (!equality) return this.#others;
    const { path, key } = equality;
    const byValue = this.#equal.get(path) ?? new Map<string, Filtered>();
    this.#equal.set(path, byValue);
    const filtered = byValue.get(key) ?? new Map();
    byValue.set(key, filtered);
    return filtered;
  }
}

export class Subscribers extends GlobEntry {
  #unfiltered: CompactList<Subscription> = null;
  #filtered: FilteredSubscriptions | null = null;
  /** Cost of the glob, if it is costly. */
  #account: FilterAccount | null = null;

  get isEmpty(): boolean {
    return this.#unfiltered === null && this.#filtered === null;
  }

  get unfiltered(): readonly Subscription[] {
    return itemsOf(this.#unfiltered);
  }

  *all(): Generator<Subscription> {
    yield* this.unfiltered;
    for (const subscriptions of this.#filtered?.all() ?? []) yield* subscriptions;
  }

  add(subscription: Subscription, filter: DistinctFilter | null): void {
    if (filter === null) {
      this.#unfiltered = addTo(this.#unfiltered, subscription);
      return;
    }
    this.#filtered ??= new FilteredSubscriptions();
    this.#filtered.add(subscription, filter);
  }

  remove(subscription: Subscription, filter: DistinctFilter | null): void {
    if (filter === null) {
      this.#unfiltered = removeFrom(this.#unfiltered, subscription);
      return;
    }
    this.#filtered?.remove(subscription, filter);
    if (this.#filtered?.size === 0) this.#filtered = null;
  }

  suspendedFor({ now }: Costs): number {
    return this.#account ? Math.max(0, this.#account.suspendedUntil - now()) : 0;
  }

  /** Whether the glob matches the type. A costly test is charged; a suspended glob does not match. */
  fits(type: string, costs: Costs, result: MatchResult): boolean {
    if (this.suspendedFor(costs) > 0) {
      result.errors++;
      result.byType = false;
      return false;
    }
    const fits = this.test(type);
    const units = this.unitsTaken;
    if (!isCostly(units)) return fits;
    result.byType = false;
    this.#account ??= new FilterAccount();
    if (costs.allowance.charge(this.#account, units, costs.now())) result.suspended++;
    return fits;
  }

  enter(pass: Pass, costs: Costs): void {
    if (!this.fits(pass.type, costs, pass.result)) return;
    for (const subscription of this.unfiltered) pass.result.matched.push(subscription);
    if (this.#filtered === null) return;
    pass.result.byType = false;
    this.#filtered.enter(pass);
  }
}

/** The budget of a tenant's filters and globs, and its clock. */
export interface Costs {
  readonly allowance: FilterAllowance;
  now(): number;
}

/** A filter expression, shared by its subscriptions: compiled on first use, evaluated once per event. */
export class DistinctFilter {
  uses = 0;
  readonly equality: Equality | null;
  readonly #expression: string;
  readonly #costs: Costs;
  #account: FilterAccount | null = null;
  #compiled: CompiledFilter | null = null;
  #pass = 0;
  #outcome: FilterOutcome = "error";

  constructor(expression: string, costs: Costs) {
    this.#expression = expression;
    this.equality = equalityOf(expression);
    this.#costs = costs;
  }

  suspendedFor(): number {
    return this.#account ? Math.max(0, this.#account.suspendedUntil - this.#costs.now()) : 0;
  }

  /** Counts that the event lacks what the filter needs. */
  fail(pass: Pass): void {
    if (this.#pass === pass.number) return;
    this.#pass = pass.number;
    this.#outcome = "error";
    pass.result.errors++;
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
