import type { Candidate, Corpus, Neighbour, TermMask } from "../../lib/search-features.ts";
import { SIGN_ASKS, SIGN_TELLS_TIME } from "../../lib/terms.ts";
import { nearness } from "./date-words.ts";
import type { ParsedQuery } from "./query.ts";

/** What is seen in a candidate, each 0..1 (cosines may be below 0). */
export interface Features {
  /** BM25 of its own words, as a share of what all terms of the query could give. */
  text: number;
  /** Of the query's terms that any candidate's title has, the share that this title has: who speaks, what it is about. */
  title: number;
  /** Share of the query's terms that it and two neighbours to each side have together. */
  near: number;
  /** The same with four neighbours to each side. */
  around: number;
  /** Mean cosine of it and its neighbours, the nearer the weightier. */
  meaning: number;
  /** The best cosine of it and the neighbour to each side. */
  best: number;
  /** It names a time and the query asks for one. */
  time: number;
  /** How near its date is to one that the query names. */
  date: number;
  /** It has something to say: less than `ENOUGH_TERMS` terms count as less. */
  substance: number;
  /** It asks rather than tells. */
  asks: number;
}

/** Where the weights come from and how they hold on what they have not seen: docs/decisions/0021-ranking.md. */
const WEIGHTS: Features = {
  text: 6,
  title: 3,
  near: 2,
  around: 3,
  meaning: 8,
  best: 5,
  time: 2,
  date: 5,
  substance: 2,
  asks: -1,
};

/** What a memory is besides its content tips the scales between two that fit about as well. */
const CONFIDENCE_WEIGHT = 1;
const RECENCY_WEIGHT = 0.5;
const CITES_WEIGHT = 0.4;
const SUPERSEDED_WEIGHT = -4;
const SCOPE_WEIGHTS = { agent: 0.2, team: 0.1, institutional: 0 };
const RECENCY_HALF_LIFE_DAYS = 30;
const MOST_CITES = 20;

/** The weighted sum at which a candidate is as likely right as wrong, and how fast that changes. */
const EVEN = 16;
const SLOPE = 0.45;
/** Candidates that score less are not given: see `no_match`. */
export const FLOOR = 0.05;

const K1 = 1.2;
const ENOUGH_TERMS = 16;
const DAY = 86_400_000;

/** A candidate and what it scores, all 0..1. */
export interface Ranked {
  id: string;
  /** What the order is by. */
  score: number;
  /** Of its content alone. */
  fused: number;
  /** Its own cosine, null without a vector. */
  vector: number | null;
  /** Its own BM25 as a share of the most it could be, null when it has none of the query's words. */
  bm25: number | null;
  confidence: number;
  recency: number;
  superseded: boolean;
}

/** Scores candidates and puts the best first; ties by id, so that an order is the same twice. */
export function rank(
  query: ParsedQuery,
  candidates: readonly Candidate[],
  corpus: Corpus,
  now: number,
): Ranked[] {
  const weighed = weigh(query, candidates, corpus);
  return candidates
    .map((candidate) => scored(candidate, featuresOf(candidate, weighed), now))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

/** What all candidates of a query share. */
export interface Weighed {
  query: ParsedQuery;
  /** How rare each term is. */
  rarity: number[];
  total: number;
  /** The terms that any title has. */
  titled: number;
}

export function weigh(query: ParsedQuery, candidates: readonly Candidate[], corpus: Corpus): Weighed {
  const rarity = corpus.frequencies.map((frequency) =>
    Math.log(1 + (corpus.documents - frequency + 0.5) / (frequency + 0.5)),
  );
  const titles = candidates.reduce((mask, { title }) => mask | title, 0);
  return { query, rarity, total: sum(-1, rarity), titled: sum(titles, rarity) };
}

export function featuresOf(candidate: Candidate, { query, rarity, total, titled }: Weighed): Features {
  const { before, after, signs } = candidate;
  const near = maskOf(candidate, before.slice(0, 2), after.slice(0, 2));
  const around = maskOf(candidate, before, after);
  const at = candidate.date ?? candidate.created_at;
  return {
    text: share(candidate.bm25, total * (K1 + 1)),
    title: share(sum(candidate.title, rarity), titled),
    near: share(sum(near, rarity), total),
    around: share(sum(around, rarity), total),
    ...meaningOf(candidate, share(sum(near, rarity), total)),
    time: query.asksTime && signs & SIGN_TELLS_TIME ? 1 : 0,
    date: Math.max(0, ...query.dates.map((range) => nearness(at, range))),
    substance: Math.min(1, candidate.length / ENOUGH_TERMS),
    asks: signs & SIGN_ASKS ? 1 : 0,
  };
}

/** Without vectors, their part is what it is on average for entries with so many of the words. */
function meaningOf(candidate: Candidate, near: number): Pick<Features, "meaning" | "best"> {
  const sides = [candidate.before, candidate.after];
  const beside = sides.flatMap(([nearest]) => (nearest ? [nearest] : []));
  const cosines = [candidate, ...beside].flatMap(({ cosine }) => (cosine === null ? [] : [cosine]));
  if (cosines.length === 0) return { meaning: 0.2 + 0.15 * near, best: 0.3 + 0.2 * near };
  let [weights, weighted] = [0, 0];
  const add = ({ cosine }: Neighbour, distance: number) => {
    if (cosine === null) return;
    weights += 1 / (1 + distance);
    weighted += cosine / (1 + distance);
  };
  add(candidate, 0);
  for (const side of sides) for (const [i, neighbour] of side.entries()) add(neighbour, i + 1);
  return { meaning: weighted / weights, best: Math.max(...cosines) };
}

function scored(candidate: Candidate, features: Features, now: number): Ranked {
  const { confidence, created_at, cites, superseded, scope } = candidate;
  const names = Object.keys(WEIGHTS) as (keyof Features)[];
  const content = names.reduce((all, name) => all + WEIGHTS[name] * features[name], 0);
  const recency = 2 ** (-Math.max(0, now - created_at) / DAY / RECENCY_HALF_LIFE_DAYS);
  const standing =
    CONFIDENCE_WEIGHT * (confidence - 0.5) +
    RECENCY_WEIGHT * recency +
    CITES_WEIGHT * Math.log1p(Math.min(cites, MOST_CITES)) +
    (superseded ? SUPERSEDED_WEIGHT : 0) +
    SCOPE_WEIGHTS[scope];
  return {
    id: candidate.id,
    score: likelihood(content + standing),
    fused: likelihood(content),
    vector: candidate.cosine === null ? null : clamp(candidate.cosine),
    bm25: candidate.has ? clamp(features.text) : null,
    confidence,
    recency,
    superseded,
  };
}

function likelihood(weighted: number): number {
  return 1 / (1 + Math.exp(-SLOPE * (weighted - EVEN)));
}

function maskOf(candidate: Candidate, ...sides: Neighbour[][]): TermMask {
  return sides.flat().reduce((mask, { has }) => mask | has, candidate.has);
}

function sum(mask: TermMask, weights: readonly number[]): number {
  return weights.reduce((all, weight, bit) => (mask & (1 << bit) ? all + weight : all), 0);
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
