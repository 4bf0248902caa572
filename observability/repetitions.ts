import { LruMap } from "../lib/lru-map.ts";
import { TokenBucket } from "../lib/queue/token-bucket.ts";

/** Lines of a kind at once; then as many a minute. */
const LINES = 3;
const MINUTE_MS = 60_000;
/** Kinds remembered, least recently logged first to be forgotten. */
const MOST_KINDS = 500;
const LONGEST_KIND = 300;
/** Ids, numbers and names in quotation marks. */
const VARYING = /'[^']*'|"[^"]*"|[\w-]*\d[\w-]*/g;

interface Kind {
  budget: TokenBucket;
  suppressed: number;
}

/** Limits repeated log lines of a kind: the same text, whatever ids and numbers are in it. */
export class Repetitions {
  readonly #kinds = new LruMap<string, Kind>(MOST_KINDS);
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Returns how many lines of this kind were suppressed since the last one; null if this one should be too. */
  admit(text: string): number | null {
    const name = text.slice(0, LONGEST_KIND).replace(VARYING, "#");
    let kind = this.#kinds.get(name);
    if (!kind) {
      kind = { budget: new TokenBucket(LINES / MINUTE_MS, LINES), suppressed: 0 };
      this.#kinds.set(name, kind);
    }
    kind.budget.refill(this.#now());
    if (kind.budget.left < 1) {
      kind.suppressed++;
      return null;
    }
    kind.budget.take(1);
    const { suppressed } = kind;
    kind.suppressed = 0;
    return suppressed;
  }
}
