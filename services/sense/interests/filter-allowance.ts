/**
 * What the costly filters and globs of a tenant may take together, in units of filter cost (15 to 40 ns): about a thirtieth of a
 * core in the long run, and a fifth of a second of it at once.
 */
const PER_MS = 1_250;
const AT_ONCE = 6_250_000;
/** An evaluation up to so many units is not counted: what ordinary filters do never adds up to anything. */
const FREE = 500;
/**
 * A costlier evaluation is charged for more than it took, ten times as much by one that takes all it may: others wait
 * for the whole of it, so that few of these do more harm than many small ones.
 */
const MODEST = 4_000;
/**
 * What a filter may take by itself when it comes back, which is one evaluation of the costliest kind: otherwise each
 * return would cost as much as the first time.
 */
const PROBATION = { atOnce: AT_ONCE / 32, perMs: PER_MS / 4 };
/** Among more than so many spenders each is a small one: the one that asks for more is suspended. */
const MOST_COMPARED = 1_000;
const FIRST_SUSPENSION_MS = 10_000;
const LONGEST_SUSPENSION_MS = 600_000;

/** Whether an evaluation that took so much has to be charged. */
export const isCostly = (units: number): boolean => units > FREE;

const priceOf = (units: number): number => units * Math.max(1, units / MODEST);

/** A supply that is used up and comes back with time. */
class Supply {
  readonly #most: number;
  readonly #perMs: number;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(most: number, perMs: number) {
    this.#most = most;
    this.#perMs = perMs;
    this.#left = most;
  }

  /** @returns whether it is full */
  refill(now: number): boolean {
    this.add((now - this.#at) * this.#perMs);
    this.#at = now;
    return this.#left === this.#most;
  }

  add(units: number): void {
    this.#left = Math.min(this.#most, this.#left + units);
  }

  /** @returns whether there was enough */
  take(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** What one filter or glob has cost of late, and whether it is suspended for that. */
export class FilterAccount {
  spent = 0;
  suspendedUntil = 0;
  suspensionMs = 0;
  probation: Supply | null = null;
}

/**
 * Keeps the costly filters and globs of one tenant from holding up its other events, and other tenants: when they have used up
 * their supply, the one that took the most is suspended, which counts as an error of it. It comes back on probation,
 * and for each time that it fails, stays away twice as long. Times are in ms of a clock that only goes forward.
 */
export class FilterAllowance {
  readonly #supply = new Supply(AT_ONCE, PER_MS);
  readonly #spenders = new Set<FilterAccount>();

  /** Counts a costly evaluation of a filter. @returns whether that got a filter suspended, this one or another */
  charge(account: FilterAccount, units: number, now: number): boolean {
    if (this.#supply.refill(now)) this.#forgetSpenders();
    const price = priceOf(units);
    this.#spenders.add(account);
    account.spent += price;
    const enough = this.#supply.take(price);
    if (!passesProbation(account, price, now)) this.#suspend(account, now);
    else if (!enough) this.#suspend(this.#costliest(account), now);
    else return false;
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

  /** What it took is given back: the others have not used it. */
  #suspend(account: FilterAccount, now: number): void {
    this.#supply.add(account.spent);
    account.spent = 0;
    this.#spenders.delete(account);
    account.suspensionMs = Math.min(
      Math.max(account.suspensionMs * 2, FIRST_SUSPENSION_MS),
      LONGEST_SUSPENSION_MS,
    );
    account.suspendedUntil = now + account.suspensionMs;
    account.probation = new Supply(PROBATION.atOnce, PROBATION.perMs);
  }
}

/** Probation lasts as long as the suspension before it. */
function passesProbation(account: FilterAccount, price: number, now: number): boolean {
  if (!account.probation) return true;
  if (now > account.suspendedUntil + account.suspensionMs) {
    account.probation = null;
    account.suspensionMs = 0;
    return true;
  }
  account.probation.refill(now);
  return account.probation.take(price);
}
