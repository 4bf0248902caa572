/**
 * Index entries per query of a list at most: other readers wait that long. The first queries are short, because most
 * lists fill soon.
 */
export const WINDOWS = [2_000, 16_000, 64_000] as const;
/** Limit of queries for a page with results. */
const MAX_QUERIES = 6;
/** Time limit for an empty page: some million events. */
const EMPTY_PAGE_MS = 2_000;

/** Decides when a request for a list has searched long enough, however little it found. */
export class ScanBudget {
  readonly #until: number;
  #queries = 0;

  constructor(now = performance.now()) {
    this.#until = now + EMPTY_PAGE_MS;
  }

  /** Returns how many entries the next query may examine. */
  get window(): number {
    return WINDOWS[Math.min(this.#queries, WINDOWS.length - 1)] as number;
  }

  /** Counts a query. @returns whether it was the last */
  spend(found: number, now = performance.now()): boolean {
    this.#queries++;
    return found > 0 ? this.#queries >= MAX_QUERIES : now >= this.#until;
  }
}
