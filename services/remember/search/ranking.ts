import { SIGN_DENIES } from "../../../lib/text/terms.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { overlaps } from "../../../storage/search/entry.ts";
import type { Candidate, Corpus } from "../../../storage/search/features.ts";
import { computeFeatures, type Features, type ParsedQuery, weigh } from "./features.ts";

/** For their origin and their results on unseen data see docs/decisions/0021-ranking.md. */
const WEIGHTS: Features = {
  text: 4,
  title: 4,
  own: 2,
  near: 2,
  around: 3,
  cosine: 2,
  meaning: 6,
  best: 3.5,
  time: 2,
  date: 5,
  substance: 2,
  asks: -1,
  answers: 2,
  twice: -2,
  otherName: -5,
  otherKind: -5,
};
const FEATURES = Object.keys(WEIGHTS) as (keyof Features)[];

/**
 * A memory's other properties decide between two that match about equally. A new memory of medium confidence that is
 * the caller's own and was never cited has 0.
 */
const CONFIDENCE_WEIGHT = 1;
const AGE_WEIGHT = -0.5;
const CITES_WEIGHT = 0.4;
const SUPERSEDED_WEIGHT = -4;
const SCOPE_WEIGHTS = { agent: 0, team: -0.1, institutional: -0.2 };
const MOST_CITES = 20;

/** The weighted sum of a best candidate at which the query is as likely to have an answer as not. */
const EVEN = 10.6;
/** Flatter than the odds, so that good results differ in score too. */
const SLOPE = 0.5;
/** The lowest score returned: an unrelated query hardly reaches it. */
export const FLOOR = 0.095;

/** Statements whose odds differ by no more than this factor, as a logarithm, match about equally. */
const ALIKE = 1;

/** A candidate and its scores, all 0..1. */
export interface Ranked {
  id: string;
  /** The score that determines the order. */
  score: number;
  /** The score of its content alone. */
  fused: number;
  /** Its own cosine, null without a vector. */
  vector: number | null;
  /** Its own BM25 as a share of the maximum; null if it has none of the query's words. */
  bm25: number | null;
  confidence: number;
  /** 1 when new, half as much every 30 days. */
  recency: number;
  superseded: boolean;
  /** Its relevance by the reranker, if that rated it. */
  relevance?: number;
  /** The name that it shares with a better result, if only that leads to it. */
  through?: string;
}

interface Circumstances {
  /** Milliseconds since 1970. */
  now: number;
  /** Translates a cosine of these vectors into one of the bundled embedder, whose they otherwise are. */
  usual?: (cosine: number) => number;
  /** Facts of a past time are asked for: being superseded since does not count against them. */
  isPast?: boolean;
}

/** Best first; ties by id, for a stable order. */
export function byScore(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

/** Scores candidates and sorts them best first; ties by id, for a stable order. */
export function rank(
  query: ParsedQuery,
  candidates: readonly Candidate[],
  corpus: Corpus,
  { now, usual = (cosine) => cosine, isPast = false }: Circumstances,
): Ranked[] {
  const weighed = weigh(query, candidates, corpus, usual);
  const ranked = candidates.map((candidate) => {
    const heldThen = isPast || (query.past !== null && overlaps(candidate.holds, query.past));
    return scored(candidate, computeFeatures(candidate, weighed), now, heldThen);
  });
  fittingFirst(query, ranked, candidates);
  ranked.sort(byScore);
  doubtParts(query, ranked, candidates);
  return ranked;
}

/**
 * A statement that lacks a word of a question about one thing is as likely as not about another thing, or another property
 * of the same: its score becomes its odds. The order stays.
 */
function doubtParts({ facts, isOne }: ParsedQuery, ranked: Ranked[], candidates: readonly Candidate[]): void {
  const isPart = ({ has, before, after }: Candidate) =>
    isOne && (facts & ~has) !== 0 && before.length + after.length === 0;
  const parts = new Set(candidates.filter(isPart).map(({ id }) => id));
  let last = 1;
  for (const each of ranked) {
    last = Math.min(last, parts.has(each.id) ? each.score / (1 + each.score) : each.score);
    each.score = last;
  }
}

/**
 * Of statements with the same words of the query (in their titles, if there) and nearly the same score, those that deny as
 * the query does get the highest: the others say the contrary. Ties go to those of the time that the query asks about,
 * then to the newest, which probably corrects the others. Turns of a conversation do not.
 */
function fittingFirst(
  { denies, past }: ParsedQuery,
  ranked: readonly Ranked[],
  candidates: readonly Candidate[],
): void {
  const fits = ({ candidate }: Statement) => Number(((candidate.signs & SIGN_DENIES) !== 0) === denies);
  const began = ({ candidate: { holds } }: Statement) => Number(!past || overlaps(holds, past));
  const statements = candidates
    .map((candidate, i) => ({ candidate, ranked: ranked[i] as Ranked }))
    .filter(({ candidate: { has, before, after } }) => has !== 0 && before.length + after.length === 0);
  const subject = ({ candidate: { has, title } }: Statement) => (title === 0 ? `${has}` : `title ${title}`);
  for (const group of Map.groupBy(statements, subject).values()) {
    if (group.length === 1) continue;
    const best = Math.max(...group.map((each) => each.ranked.score));
    const alike = group.filter((each) => logit(best) - logit(each.ranked.score) <= ALIKE);
    const scores = alike.map((each) => each.ranked.score).sort((a, b) => b - a);
    alike.sort(
      (a, b) =>
        fits(b) - fits(a) ||
        began(b) - began(a) ||
        timeOf(b.candidate) - timeOf(a.candidate) ||
        b.ranked.score - a.ranked.score,
    );
    for (const [i, each] of alike.entries()) each.ranked.score = scores[i] as number;
  }
}

interface Statement {
  candidate: Candidate;
  ranked: Ranked;
}

const timeOf = ({ date, created_at }: Candidate) => date ?? created_at;
const logit = (score: number) => Math.log(score / (1 - score));

function scored(candidate: Candidate, features: Features, now: number, heldThen: boolean): Ranked {
  const { id, has, cosine, confidence, created_at, superseded } = candidate;
  const recency = recentShare(created_at, now);
  const content = contentOf(features);
  return {
    id,
    score: likelihood(content + standingOf(candidate, recency, heldThen)),
    fused: likelihood(content),
    vector: cosine === null ? null : clamp(cosine),
    bm25: has ? clamp(features.text) : null,
    confidence,
    recency,
    superseded,
  };
}

function contentOf(features: Features): number {
  return FEATURES.reduce((sum, name) => sum + WEIGHTS[name] * features[name], 0);
}

function standingOf(
  { confidence, cites, superseded, scope }: Candidate,
  recency: number,
  heldThen: boolean,
): number {
  return (
    CONFIDENCE_WEIGHT * (confidence - 0.5) +
    AGE_WEIGHT * (1 - recency) +
    CITES_WEIGHT * Math.log1p(Math.min(cites, MOST_CITES)) +
    (superseded && !heldThen ? SUPERSEDED_WEIGHT : 0) +
    SCOPE_WEIGHTS[scope]
  );
}

const HALF_LIFE_MS = 30 * DAY_MS;

/** Returns the weight of age: 1 when new, halved every 30 days. Times in milliseconds. */
export function recentShare(at: number, now: number): number {
  return 2 ** (-Math.max(0, now - at) / HALF_LIFE_MS);
}

function likelihood(weighted: number): number {
  return 1 / (1 + Math.exp(-SLOPE * (weighted - EVEN)));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
