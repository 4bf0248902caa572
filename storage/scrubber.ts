import { setTimeout } from "node:timers/promises";

/** What one connection to a SQLite file does between two of its transactions (sqlite/scrub.ts). */
export interface ScrubRequests {
  /** Rewrites the file when it has at most so many bytes; gives whether it did. */
  rewrite(mostBytes: number): Promise<boolean>;
  /** Copies the write-ahead log into the file and empties it; gives false while a reader still needs the log. */
  emptyLog(): Promise<boolean>;
}

/** `rewritten`: the file holds live rows only. `overwritten`: deleted rows are overwritten where they stood. */
export type Scrubbed = "rewritten" | "overwritten";

/** A file of this size is rewritten in about half a second. */
export const REWRITE_MB = 64;

const MEGABYTE = 1_048_576;
/** Rewriting blocks all writes: for each millisecond of it there are so many without. */
const PAUSE_FACTOR = 24;
/** Readers hold the log for as long as a query runs, a backup for as long as it copies. */
const LOG_PATIENCE_MS = 15_000;
const LOG_RETRY_MS = 20;

/** The log could not be emptied in time; a later attempt may succeed. */
export class ScrubTimeout extends Error {
  // Between nodes an error keeps its name only.
  override readonly name = "ScrubTimeout";
}

/**
 * Removes what was deleted from the pages of a SQLite file. Callers that wait at the same time share one pass, and
 * passes take at most 4 % of the time, so that erasures cannot slow down everybody else's
 * writes.
 */
export class Scrubber {
  readonly #requests: ScrubRequests;
  readonly #mostBytes: number;
  #next: Promise<Scrubbed> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #restUntil = 0;

  /** @param rewriteMegabytes a larger file is not rewritten */
  constructor(requests: ScrubRequests, rewriteMegabytes: number) {
    this.#requests = requests;
    this.#mostBytes = rewriteMegabytes * MEGABYTE;
  }

  /** Fulfils when nothing that was deleted before the call is in the file or its log. @throws ScrubTimeout */
  scrub(): Promise<Scrubbed> {
    // A pass that has begun may have passed over what was deleted since.
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
