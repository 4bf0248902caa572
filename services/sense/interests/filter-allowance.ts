import { TokenBucket } from "../../../lib/queue/token-bucket.ts";

/**
 * Budget of a tenant's costly filters and globs, in units of filter cost (15 to 40 ns): about a thirtieth of a core in
 * the long run, with bursts of a fifth of a second.
 */
const PER_MS = 1_250;
const BURST = 6_250_000;
/** Cheaper evaluations, in units, are not counted: ordinary filters never add up. */
const FREE = 500;
/**
 * Costlier evaluations are charged progressively, up to ten times at the limit: others wait for a whole evaluation, so
 * a few large ones do more harm than many small ones.
 */
const MODEST = 4_000;
/** A returning filter pays so many times the price: otherwise each return would cost as much as the first time. */
const RETURNING = 32;
/** With more spenders than this, each is small: suspend the one that asks for more. */
const MOST_COMPARED = 1_000;
const FIRST_SUSPENSION_MS = 10_000;
const LONGEST_SUSPENSION_MS = 600_000;

export const isCostly = (units: number): boolean => units > FREE;

const priceOf = (units: number): number => units * Math.max(1, units / MODEST);

/** Recent cost of a filter or glob, and its suspension, if any. */
export class FilterAccount {
  spent = 0;
  suspendedUntil = 0;
  suspensionMs = 0;
}

/**
 * Keeps a tenant's costly filters and globs from delaying its other events and other tenants: when the budget is used
 * up, the most expensive one is suspended, which counts as its error. For as long again it pays more; each failure
 * doubles the next suspension. Times are in ms of a monotonic clock.
 */
export class FilterAllowance {
  readonly #budget = new TokenBucket(PER_MS, BURST);
  readonly #spenders = new Set<FilterAccount>();

  /** Charges a costly evaluation of a filter. @returns whether this or another filter got suspended */
  charge(account: FilterAccount, units: number, now: number): boolean {
    if (this.#budget.refill(now)) this.#forgetSpenders();
    if (now > account.suspendedUntil + account.suspensionMs) account.suspensionMs = 0;
    const price = priceOf(units) * (account.suspensionMs > 0 ? RETURNING : 1);
    this.#spenders.add(account);
    account.spent += price;
    if (this.#budget.take(price)) return false;
    this.#suspend(this.#costliest(account), now);
    return true;
  }

  #forgetSpenders(): void {
    for (const account of this.#spenders) account.spent = 0;
    this.#spenders.clear();
  }

  #costliest(account: FilterAccount): FilterAccount {
    if (this.#spenders.size > MOST_COMPARED) return account;
    return [...this.#spenders].reduce((most, each) => (each.spent > most.spent ? each : most));
  }

  /** Refund its cost: the others have not used it. */
  #suspend(account: FilterAccount, now: number): void {
    this.#budget.add(account.spent);
    account.spent = 0;
    this.#spenders.delete(account);
    const longer = Math.max(account.suspensionMs * 2, FIRST_SUSPENSION_MS);
    account.suspensionMs = Math.min(longer, LONGEST_SUSPENSION_MS);
    account.suspendedUntil = now + account.suspensionMs;
  }
}
