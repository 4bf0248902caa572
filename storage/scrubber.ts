import { setTimeout } from "node:timers/promises";

/** Operations of a connection to a SQLite file between two of its transactions (sqlite/scrub.ts). */
interface ScrubRequests {
  /** Rewrites the file if it is no larger than the limit; returns whether it did. */
  rewrite(mostBytes: number): Promise<boolean>;
  /** Copies the write-ahead log into the file and empties it; returns false while a reader still needs the log. */
  emptyLog(): Promise<boolean>;
}

/** `rewritten`: the file contains live rows only. `overwritten`: deleted rows are overwritten in place. */
export type Scrubbed = "rewritten" | "overwritten";

/** A file of this size is rewritten in about half a second. */
export const REWRITE_MB = 64;

const MEGABYTE = 1_048_576;
/** Rewriting blocks all writes: pause for this multiple of its duration. */
const PAUSE_FACTOR = 24;
/** Readers hold the log during a query, a backup during its copy. */
const LOG_PATIENCE_MS = 15_000;
const LOG_RETRY_MS = 20;

/** The log could not be emptied in time; a later attempt may succeed. */
export class ScrubTimeout extends Error {
  // Between nodes an error keeps only its name.
  override readonly name = "ScrubTimeout";
}

/**
 * Removes deleted data from the pages of a SQLite file. Concurrent callers share one pass, and passes take at most 4 %
 * of the time, so that erasures cannot slow down other writes.
 */
export class Scrubber {
  readonly #requests: ScrubRequests;
  readonly #mostBytes: number;
  #next: Promise<Scrubbed> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #restUntil = 0;

  /** @param rewriteMegabytes larger files are not rewritten */
  constructor(requests: ScrubRequests, rewriteMegabytes: number) {
    this.#requests = requests;
    this.#mostBytes = rewriteMegabytes * MEGABYTE;
  }

  /** Resolves when nothing deleted before the call is in the file or its log. @throws ScrubTimeout */
  scrub(): Promise<Scrubbed> {
    // A pass in progress may have missed recent deletions.
    this.#next ??= this.#last.then(async () => {
      const rest = this.#restUntil - performance.now();
      if (rest > 0) await setTimeout(rest);
      this.#next = undefined;
      return this.#pass();
    });
    this.#last = this.#next.catch(() => undefined);
    return this.#next;
  }

  async #pass(): Promise<Scrubbed> {
    const begun = performance.now();
    const rewritten = await this.#requests.rewrite(this.#mostBytes);
    this.#restUntil = performance.now() + PAUSE_FACTOR * (performance.now() - begun);
    const until = performance.now() + LOG_PATIENCE_MS;
    while (!(await this.#requests.emptyLog())) {
      if (performance.now() > until) throw new ScrubTimeout("the write-ahead log is in use by a reader");
      await setTimeout(LOG_RETRY_MS);
    }
    return rewritten ? "rewritten" : "overwritten";
  }
}
