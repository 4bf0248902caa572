import { SIGN_ASKS, SIGN_COUNTS, SIGN_TELLS_TIME } from "../../../lib/text/terms.ts";
import { overlaps } from "../../../storage/search/entry.ts";
import {
  BM25,
  type Candidate,
  type Corpus,
  type Neighbour,
  rarity,
  type TermMask,
} from "../../../storage/search/features.ts";
import type { Variant } from "../../../storage/search/related.ts";
import { type DateRange, nearness } from "./date-words.ts";

/** A parsed query, as plain JSON. */
export interface ParsedQuery {
  /** Without invisible characters: what its vector is computed from. */
  text: string;
  /** Distinct: bit i of a mask is `terms[i]`. */
  terms: string[];
  /** How many are words; those after them count only if an entry has them (lib/text/exact-terms.ts). */
  words: number;
  variants: Variant[];
  /** Names and numbers among them. */
  names: TermMask;
  /** Words that are no part of a date. */
  facts: TermMask;
  /** It asks one thing: the answer to another part of a question lacks words of this one. */
  isOne: boolean;
  /** It asks when or how long. */
  asksTime: boolean;
  asksNumber: boolean;
  /** It denies: "who does not …?" */
  denies: boolean;
  /** The times that it names. */
  dates: DateRange[];
  /** The one in the past that it asks about. */
  past: DateRange | null;
}

/** Features of a candidate, each 0..1; cosine features may be negative. */
export interface Features {
  /** BM25 of its words, as a share of the maximum over all terms of the query. */
  text: number;
  /**
   * Share of the query's terms in its title: of all, or, in a thread, of those that any candidate's title has, which
   * are its speakers.
   */
  title: number;
  /** Share of the query's terms that it has itself. Terms count by rarity, here as above. */
  own: number;
  /** Share that it has together with two neighbours on each side. */
  near: number;
  /** The same with four neighbours on each side. */
  around: number;
  /** How far its cosine is above the baseline. */
  cosine: number;
  /** How far the weighted mean of it and its neighbours is above the baseline; nearer ones count more. */
  meaning: number;
  /** How far the best of it and its direct neighbours is above the baseline. */
  best: number;
  /** It names a time and the query asks for one. */
  time: number;
  /** How near its date is to one that the query names; half as much if only its creation is dated. */
  date: number;
  /** In a thread, fewer than `ENOUGH_TERMS` terms lower it: a mere reply. Entries without a thread are deliberate. */
  substance: number;
  /** It is a question rather than a statement. */
  asks: number;
  /** Share of the query's terms that it lacks and the question right before it has: it probably answers that. */
  answers: number;
  /** `own` times `cosine`: what its words say, its meaning partly says again. */
  twice: number;
  // Of statements, which stand alone: signs that it is about something else than the query.
  /** It lacks a name or a number of the query. */
  otherName: number;
  /** The query asks for a time or a number, and it tells none. */
  otherKind: number;
}

const ENOUGH_TERMS = 16;
/** The cosine of unrelated texts by the bundled embedder. */
const BASELINE = 0.14;
const NEAR = 2;

/** Values shared by all candidates of a query. */
interface Weighed {
  query: ParsedQuery;
  /** The weight of each term, and of all together. */
  weights: number[];
  total: number;
  /** The weight of the terms that any title has. */
  titled: number;
  /** Words of dates and of asking: a statement says little about them. */
  askings: TermMask;
  /** Translates a cosine into one of the bundled embedder. */
  usual: (cosine: number) => number;
}

/** Computes the values shared by all candidates of a query. @param usual translates a cosine into one of the bundled embedder */
export function weigh(
  query: ParsedQuery,
  candidates: readonly Candidate[],
  corpus: Corpus,
  usual: (cosine: number) => number,
): Weighed {
  const weights = corpus.frequencies.map((frequency, i) =>
    frequency === 0 && i >= query.words ? 0 : rarity(frequency, corpus.documents),
  );
  const titles = candidates.reduce((mask, { title }) => mask | title, 0);
  const askings = query.facts && ((1 << query.words) - 1) & ~query.facts;
  return { query, weights, total: sum(-1, weights), titled: sum(titles, weights), askings, usual };
}

// Runs for every candidate of every search: plain loops, and no allocation but the result.
export function computeFeatures(candidate: Candidate, weighed: Weighed): Features {
  const { query, weights, titled, usual } = weighed;
  const { has, title, before, after, asked, bm25, length, signs, cosine } = candidate;
  const isAlone = before.length + after.length === 0;
  const total = isAlone ? weighed.total - sum(weighed.askings & ~has, weights) : weighed.total;
  const near = share(sum(has | masks(before, NEAR) | masks(after, NEAR), weights), total);
  const all = has | masks(before, before.length) | masks(after, after.length);
  const features = {
    text: share(bm25, total * (BM25.k1 + 1)),
    title: share(sum(title, weights), isAlone ? total : titled),
    own: share(sum(has, weights), total),
    near,
    around: share(sum(all, weights), total),
    cosine: 0,
    meaning: 0,
    best: 0,
    time: query.asksTime && signs & SIGN_TELLS_TIME ? 1 : 0,
    date: query.dates.length ? dateOf(candidate, query, isAlone) : 0,
    substance: isAlone ? 1 : Math.min(1, length / ENOUGH_TERMS),
    asks: signs & SIGN_ASKS ? 1 : 0,
    answers: signs & SIGN_ASKS ? 0 : share(sum(asked & ~has, weights), total),
    twice: 0,
    otherName: isAlone && query.isOne && query.names && (query.names & has) === 0 ? 1 : 0,
    otherKind: isAlone && query.isOne && lacksKind(query, signs) ? 1 : 0,
  };
  const best = Math.max(cosine ?? -1, before[0]?.cosine ?? -1, after[0]?.cosine ?? -1);
  if (best === -1) return guessMeaning(features);
  features.meaning = aboveBaseline(usual(meanCosine(candidate)));
  features.cosine = cosine === null ? features.meaning : aboveBaseline(usual(cosine));
  features.best = aboveBaseline(usual(best));
  features.twice = features.own * features.cosine;
  return features;
}

function lacksKind({ asksTime, asksNumber }: ParsedQuery, signs: number): boolean {
  return (asksTime || asksNumber) && (signs & (SIGN_COUNTS | SIGN_TELLS_TIME)) === 0;
}

function aboveBaseline(cosine: number): number {
  return (cosine - BASELINE) / (1 - BASELINE);
}

/** Without vectors: the minimum for most entries with as many of the words nearby. */
function guessMeaning(features: Features): Features {
  features.cosine = 0.08 + 0.23 * features.near;
  features.meaning = 0.08 + 0.17 * features.near;
  features.best = 0.19 + 0.23 * features.near;
  features.twice = features.own * features.cosine;
  return features;
}

function meanCosine({ cosine, before, after }: Candidate): number {
  let weights = cosine === null ? 0 : 1;
  let weighted = cosine ?? 0;
  for (const side of [before, after])
    for (let i = 0; i < side.length; i++) {
      const beside = (side[i] as Neighbour).cosine;
      if (beside === null) continue;
      weights += 1 / (2 + i);
      weighted += beside / (2 + i);
    }
  return weighted / weights;
}

/** Facts that held at the time and no longer do say more of it than those that have held since before. */
const STILL_HOLDS = 0.6;

function dateOf(
  { date, created_at, holds }: Candidate,
  { dates, past }: ParsedQuery,
  isAlone: boolean,
): number {
  const ranges = past?.isEnd ? [past] : dates;
  const nearest = ranges.reduce((best, range) => Math.max(best, nearness(date ?? created_at, range)), 0);
  const near = date === null ? nearest / 2 : nearest;
  if (!past || !isAlone || !overlaps(holds, past)) return near;
  return holds.to === Infinity ? Math.max(near, STILL_HOLDS) : 1;
}

function masks(side: readonly Neighbour[], count: number): TermMask {
  let mask = 0;
  for (let i = 0; i < count && i < side.length; i++) mask |= (side[i] as Neighbour).has;
  return mask;
}

function sum(mask: TermMask, weights: readonly number[]): number {
  let all = 0;
  for (let bit = 0; bit < weights.length; bit++) if (mask & (1 << bit)) all += weights[bit] as number;
  return all;
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
