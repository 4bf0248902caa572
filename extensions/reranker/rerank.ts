import { isFault } from "../../lib/contract/faults.ts";
import { outgoing, PER_TENANT } from "../../services/outgoing.ts";
import type { Reranked, Reranking, RerankingQuery } from "../../services/remember/search/find.ts";
import type { Ranked } from "../../services/remember/search/ranking.ts";
import type { HttpReranker } from "./reranker.ts";

/** Results that are rated: the answers are among them, though not always first. */
const MOST_RATED = 50;
/** About 500 tokens, as many as most cross-encoders read. */
const MOST_CHARACTERS = 2000;
/** A tenant has six searches rated at once. */
const COST = Math.floor(PER_TENANT / 6);
/** The share of the relevance in the new score; the rest is the score before, with confidence and age in it. */
const SHARE = 0.7;
/** After so many failures in a row no search waits for the service, for a while. */
const FAILURES = 3;
const PAUSE_MS = 10_000;

/** Orders the best results of a search by the relevance that a cross-encoder finds. */
export class CrossEncoderReranking implements Reranking {
  readonly #reranker: HttpReranker;
  readonly #report: (err: Error) => void;
  #failures = 0;
  #pausedUntil = 0;

  /** @param report called when searches stop asking the reranker for a while */
  constructor(reranker: HttpReranker, report: (err: Error) => void) {
    this.#reranker = reranker;
    this.#report = report;
  }

  /** Returns the results in their new order, or as they are if the service does not rate them in time. */
  async order(query: RerankingQuery, ranked: Ranked[]): Promise<Reranked> {
    const started = performance.now();
    const unrated = (reason: string | null) => ({
      ranked,
      reason,
      rated: 0,
      ms: performance.now() - started,
    });
    if (ranked.length < 2) return unrated(null);
    if (started < this.#pausedUntil) return unrated("rerank: the reranker failed several times in a row");
    const best = ranked.slice(0, MOST_RATED);
    try {
      const how = { queued: 1, patienceMs: this.#reranker.patience, reserved: true };
      const ratings = await outgoing.run(query.share, COST, () => this.#rate(query, best), how);
      this.#failures = 0;
      const rated = best
        .map((each, i) => rescored(each, ratings[i] as number))
        .sort((a, b) => b.score - a.score);
      const lowest = (rated.at(-1) as Ranked).score;
      const rest = ranked.slice(MOST_RATED).map((each) => ({ ...each, score: Math.min(each.score, lowest) }));
      return {
        ranked: [...rated, ...rest],
        reason: null,
        rated: best.length,
        ms: performance.now() - started,
      };
    } catch (err) {
      if (isFault(err)) return unrated("rerank: too many of your searches are waiting for the reranker");
      this.#onFailure(err as Error);
      const isLate = (err as Error).name === "TimeoutError";
      return unrated(
        isLate
          ? `rerank: the reranker did not answer within ${this.#reranker.patience} ms`
          : "rerank: the reranker failed",
      );
    }
  }

  #onFailure(err: Error): void {
    if (++this.#failures < FAILURES) return;
    this.#pausedUntil = performance.now() + PAUSE_MS;
    this.#report(err);
  }

  async #rate({ query, textsOf }: RerankingQuery, best: Ranked[]): Promise<number[]> {
    const texts = await textsOf(
      best.map(({ id }) => id),
      MOST_CHARACTERS,
    );
    return this.#reranker.rate(
      query,
      best.map(({ id }) => texts[id] ?? ""),
    );
  }
}

const rescored = (each: Ranked, relevance: number): Ranked => ({
  ...each,
  relevance,
  score: SHARE * relevance + (1 - SHARE) * each.score,
});
