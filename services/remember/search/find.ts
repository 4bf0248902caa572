import type { Share } from "../../../lib/queue/fair-queue.ts";
import { acronyms, acronymTerm, queryTerms, windows } from "../../../lib/text/exact-terms.ts";
import { QUESTION_WORDS } from "../../../lib/text/languages.ts";
import { findSigns, fold, SIGN_DENIES, terms, withoutInvisible } from "../../../lib/text/terms.ts";
import type { SearchFind, SearchFound, SearchHit, SearchPlan } from "../../../storage/search/entry.ts";
import { MAX_QUERY_TERMS, type TermMask } from "../../../storage/search/features.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import type { Expected, LegsAnswer, LegsQuery, TaskRunner } from "../../../storage/search/protocol.ts";
import type { Variant } from "../../../storage/search/related.ts";
import type { CosineScale } from "./cosine-scale.ts";
import { pastOf, readDates } from "./date-words.ts";
import type { ParsedQuery } from "./features.ts";
import type { QueryVectors } from "./query-vectors.ts";
import { byScore, FLOOR, type Ranked, rank } from "./ranking.ts";

const PLAN_RESULTS = 50;

/** A search whose best results are to be ordered. */
export interface RerankingQuery {
  query: string;
  share: Share;
  /** Returns the beginnings of results' texts, by their ids. */
  textsOf(ids: string[], characters: number): Promise<Record<string, string>>;
}

export interface Reranked {
  ranked: Ranked[];
  /** Why they were not rated, if so. */
  reason: string | null;
  /** Number of rated results, and what that took. */
  rated: number;
  ms: number;
}

/** Orders the best results of a search by another measure (extensions/reranker). */
export interface Reranking {
  /** Returns the results in their new order, or as they are if they cannot be rated in time. */
  order(query: RerankingQuery, ranked: Ranked[]): Promise<Reranked>;
}

interface Dependencies {
  index: SearchIndex;
  vectors: QueryVectors;
  scale: CosineScale;
  /** The store's clock. */
  now(): number;
  /** Why the index may lack entries. */
  lacks: string[];
  searching: TaskRunner;
  reranking: Reranking | null;
}

/**
 * Searches one tenant by both legs concurrently, and has the best results rated; without the vector leg if its embedder
 * is late or fails, and unrated if the reranker does.
 */
export async function find(
  { index, vectors, scale, now, lacks, searching, reranking }: Dependencies,
  share: Share,
  search: SearchFind,
): Promise<SearchFound> {
  const { tenant_id, kind, access, where = {}, expect } = search;
  const include_superseded = (search.include_superseded ?? false) || where.held !== undefined;
  const at = now();
  const query = parseQuery(search.query, at);
  const started = performance.now();
  const { vector, reason } = await vectors.get(query.text, share);
  const embedMs = performance.now() - started;
  const past = query.past && !where.held && kind === "memory" && search.past !== false ? query.past : null;
  const asksLegs: LegsQuery = {
    ...{ tenant_id, kind, terms: query.terms, words: query.words, variants: query.variants },
    ...{ vector, access, where: { ...where, ...(past && { past }) }, include_superseded, now: at },
    ...(expect !== undefined && { expect }),
  };
  const legs = await index.legs(asksLegs, searching);
  const direct = rank(query, legs.candidates, legs.corpus, {
    ...{ now: at, usual: scale.get() },
    isPast: isPast(search, query),
  });
  const leads = kind === "memory" && search.rerank !== false;
  const led = leads ? await withOneStep({ index, searching, query, legs }, asksLegs, direct) : null;
  const ranked = led ?? direct;
  const above = ranked.filter(({ score }) => score >= FLOOR);
  const textsOf = (ids: string[], characters: number) => index.texts(tenant_id, kind, ids, characters);
  const reranked =
    reranking && search.rerank !== false
      ? await reranking.order({ query: search.query, share, textsOf }, above)
      : { ranked: above, reason: null, rated: 0, ms: 0 };
  const all = [...reranked.ranked, ...ranked.slice(above.length)];
  // Hits that cleared the floor and were then rated low come last, but still match.
  const floor = Math.max(reranked.rated ? 0 : FLOOR, search.min_score ?? 0);
  const cleared = reranked.ranked.filter(({ score }) => score >= floor);
  const hits = cleared.slice(0, search.limit + (search.spare ?? 0)).map(toHit);
  const reasons = [
    reason,
    legs.isMisfit ? "vector: the embedder returned a vector of another length" : null,
    legs.isPartial ? "bm25, vector: the index is being loaded; only part of it was searched" : null,
    ...lacks,
    legs.isBuilding ? "vector: the index is being built" : null,
    reranked.reason,
  ];
  return {
    hits,
    total_candidates: legs.candidates.length,
    sources_contributed: (["vector", "bm25"] as const).filter((leg) =>
      hits.some(({ sources }) => sources[leg] !== undefined),
    ),
    no_match: hits.length === 0,
    isPart: led !== null,
    degraded: reasons.filter((each) => each !== null),
    ...(search.explain && {
      plan: describePlan({ asked: search, legs, ranked: all, cleared, floor, embedMs, reranked }),
    }),
  };
}

/** The best results whose names lead on, how many results these bring, and by how many entries a name may be shared. */
const MOST_STEPS = { from: 3, to: 2, shared: 8 };
/** The share of a result's score that what it leads to gets: more if that has a word of the question that the result lacks. */
const STEP = { plain: 0.6, telling: 0.9 };
const STEP_CHARACTERS = 500;
const NAMES = /(?<!^|[.!?]\s)\p{Lu}[\p{L}\p{N}]+|(?:^|(?<=[.!?]\s))\p{Lu}[\p{L}\p{N}]+(?=\s\p{Lu}\p{L})/gu;

/**
 * Adds statements that share a name with the best results, one step from these: if the best lacks words of the question, it may
 * need several facts ("who looks after it?", "where can she be reached?"). Returns
 * null if it lacks none.
 */
async function withOneStep(
  {
    index,
    searching,
    query,
    legs,
  }: Pick<Dependencies, "index" | "searching"> & {
    query: ParsedQuery;
    legs: LegsAnswer;
  },
  search: LegsQuery,
  ranked: Ranked[],
): Promise<Ranked[] | null> {
  const known = new Map(legs.candidates.map((each) => [each.id, each]));
  const lacks = ({ id }: Ranked) => query.facts & ~(known.get(id)?.has ?? 0);
  const isStatement = ({ id }: Ranked) => {
    const { before = [], after = [] } = known.get(id) ?? {};
    return before.length + after.length === 0;
  };
  const best = ranked.slice(0, MOST_STEPS.from).filter((each) => each.score >= FLOOR && isStatement(each));
  if (best[0] !== ranked[0] || !best[0] || lacks(best[0]) === 0) return null;
  const ids = best.map(({ id }) => id);
  const texts = await index.texts(search.tenant_id, search.kind, ids, STEP_CHARACTERS);
  const names = best.flatMap((from) =>
    (texts[from.id]?.match(NAMES) ?? []).flatMap((name) => terms(name).map((term) => ({ from, name, term }))),
  );
  const fresh = [...new Map(names.map((each) => [each.term, each])).values()]
    .filter(({ term }) => !query.terms.includes(term))
    .slice(0, MAX_QUERY_TERMS - query.terms.length);
  if (fresh.length === 0) return ranked;
  const shared = fresh.map(({ term }) => term);
  const more = { terms: [...query.terms, ...shared], variants: [], vector: null };
  const { candidates, corpus } = await index.legs({ ...search, ...more }, searching);
  const rare = fresh
    .map((each, i) => ({ ...each, at: query.terms.length + i }))
    .filter(({ at }) => (corpus.frequencies[at] ?? 0) <= MOST_STEPS.shared);
  const scores = new Map(ranked.map(({ id, score }) => [id, score]));
  const steps = candidates.flatMap(({ id, has, before, after, superseded, confidence }): Ranked[] => {
    const led = rare.find(({ at, from }) => has & (1 << at) && from.id !== id);
    if (!led || before.length + after.length > 0) return [];
    const score = led.from.score * (has & lacks(led.from) ? STEP.telling : STEP.plain);
    if ((scores.get(id) ?? 0) >= score) return [];
    const { recency } = led.from;
    return [
      {
        id,
        score,
        fused: score,
        vector: null,
        bm25: null,
        confidence,
        recency,
        superseded,
        through: led.name,
      },
    ];
  });
  const added = steps.sort(byScore).slice(0, MOST_STEPS.to);
  const replaced = new Set(added.map(({ id }) => id));
  return [...ranked.filter(({ id }) => !replaced.has(id)), ...added].sort(byScore);
}

/** Whether what was superseded since is asked for: by the time that it held at, or together with a time that is over. */
function isPast({ where = {}, include_superseded }: SearchFind, { dates }: ParsedQuery): boolean {
  if (where.held) return true;
  const until = Object.values(where.times ?? {}).some((bounds) => bounds.until !== undefined);
  return Boolean(include_superseded) && (until || dates.length > 0);
}

function toHit({ id, score, vector, bm25, superseded, through }: Ranked): SearchHit {
  const sources = { ...(vector !== null && { vector }), ...(bm25 !== null && { bm25 }) };
  return { id, score, sources, superseded, ...(through !== undefined && { through }) };
}

interface Course {
  asked: SearchFind;
  legs: LegsAnswer;
  ranked: Ranked[];
  cleared: Ranked[];
  floor: number;
  embedMs: number;
  reranked: { rated: number; ms: number };
}

function describePlan(course: Course): SearchPlan {
  const { asked, legs, ranked, cleared, embedMs, reranked } = course;
  const ms = (value: number) => Math.round(value * 100) / 100;
  const shown = Math.min(cleared.length, asked.limit);
  // A neighbour that was included counts as a match.
  const matched = Math.max(legs.matched.text, legs.matched.vector, ranked.length);
  return {
    legs: [
      { name: "bm25", candidates: legs.brought.text, ms: ms(legs.ms.text) },
      { name: "vector", candidates: legs.brought.vector, ms: ms(legs.ms.vector + embedMs) },
      ...(reranked.rated ? [{ name: "rerank", candidates: reranked.rated, ms: ms(reranked.ms) }] : []),
    ],
    funnel: [
      // Counts only what the caller may see, to reveal nothing of others.
      { stage: "match", in: legs.visible, out: matched },
      { stage: "candidates", in: matched, out: ranked.length },
      { stage: "floor", in: ranked.length, out: cleared.length },
      { stage: "limit", in: cleared.length, out: shown },
    ],
    results: ranked.slice(0, PLAN_RESULTS).map(({ id, score, relevance, through, ...each }) => ({
      id,
      vector: each.vector,
      bm25: each.bm25,
      fused: each.fused,
      ...(relevance !== undefined && { relevance }),
      confidence: each.confidence,
      recency: each.recency,
      final: score,
      ...(through !== undefined && { through }),
    })),
    ...(asked.expect !== undefined && { expect: explainFate(asked.expect, course) }),
  };
}

const FATES: Record<Exclude<Expected, "candidate">, { stage: string; reason: string }> = {
  unknown: { stage: "visible", reason: "No such entry exists, or you may not read it." },
  expired: { stage: "visible", reason: "It has expired." },
  superseded: { stage: "visible", reason: "It is superseded, and the search excludes superseded entries." },
  filtered: { stage: "filter", reason: "It does not match the filters of the search." },
  unmatched: { stage: "match", reason: "It contains no word of the query, and has no vector to compare." },
  outranked: {
    stage: "candidates",
    reason: "Other entries match the query better, in words and in meaning.",
  },
};

/** Returns where and why an expected entry dropped out. */
function explainFate(
  id: string,
  { asked, legs, ranked, cleared, floor }: Course,
): NonNullable<SearchPlan["expect"]> {
  const { expected = "unknown" } = legs;
  if (expected !== "candidate") return { id, found: false, ...FATES[expected] };
  const place = ranked.findIndex((each) => each.id === id);
  const { score, relevance } = ranked[place] as Ranked;
  const rounded = score.toFixed(3);
  if (place >= cleared.length) {
    const least = relevance === undefined ? Math.max(FLOOR, floor) : floor;
    return { id, found: false, stage: "floor", reason: `Its score ${rounded} is below the floor ${least}.` };
  }
  if (place >= asked.limit)
    return {
      id,
      found: false,
      stage: "limit",
      reason: `It is result ${place + 1} with score ${rounded}; the limit is ${asked.limit}.`,
    };
  return { id, found: true, stage: "result", reason: `It is result ${place + 1} with score ${rounded}.` };
}

/** These ask for a time, or for a number, in English, German, Spanish and French without accents. */
const ASKS_TIME =
  /\b(?:when|how (?:long|recently)|wann|wie lange|cuando|cuanto tiempo|quand|combien de temps|(?:what|which|welche[nmrs]?|que|cual es (?:la|el)|quel(?:le)?s?) (?:date|day|time|week|month|season|year|weekday|datum|tag|uhrzeit|woche|monat|jahr(?:eszeit)?|wochentag|fecha|dia|hora|semana|mes|ano|jour|heure|semaine|mois|saison|annee))\b/;
const ASKS_NUMBER =
  /\b(?:how (?:many|much|old|large|big|long|often|high|far|fast|soon|early|late|frequently|quickly)|wie (?:viele?|alt|gross|lang|oft|hoch|weit|schnell|bald|fruh|spat|haufig|teuer)|cuant[oa]s?|(?:que|cual es la|quel(?:le)?) (?:edad|altura|tamano|frecuencia|distancia|age|taille|hauteur|frequence|distance)|combien)\b/;
const MAX_VARIANTS = 32;

/** Parses a query; `now` (milliseconds) is the reference of "yesterday". */
export function parseQuery(query: string, now: number): ParsedQuery {
  const text = withoutInvisible(query);
  const plain = fold(text);
  const { dates, rest: dateless } = readDates(text, now);
  const inQuery = queryTerms(query);
  const words = [...new Set(inQuery.terms)].slice(0, MAX_QUERY_TERMS);
  const said = terms(dateless).filter((term) => !QUESTION_TERMS.has(term));
  return {
    text,
    terms: [...new Set([...words, ...inQuery.exact])].slice(0, MAX_QUERY_TERMS),
    words: words.length,
    variants: findVariants(query, words),
    names: findNames(dateless, words),
    facts: maskOf(words, said),
    isOne: (text.match(ASKS) ?? []).length < 2,
    asksTime: ASKS_TIME.test(plain),
    asksNumber: ASKS_NUMBER.test(plain),
    denies: (findSigns(text) & SIGN_DENIES) !== 0,
    dates,
    past: pastOf(text, dates, now),
  };
}

const QUESTION_TERMS = new Set([...QUESTION_WORDS].flatMap(terms));
/** German writes every noun like a name. */
const GERMAN =
  /\b(?:der|das|dem|den|des|ein|eine[rnms]?|wer|wen|wem|wie|wann|wo|welche[rsnm]?|ist|wird|im|vom|zum|zur|für|und|mit|auf)\b/i;
/** A name within a sentence, a number after what it counts among ("room 12"), a day ("the 18th"). */
const NAME =
  /(?<=[\p{L}\p{N},] )(?:\p{Lu}\p{Ll}[\p{L}\p{M}]*|\p{N}+(?:st|nd|rd|th)(?!\p{L})|\p{N}+(?![\p{L}\p{N}%€$]| \p{L}))/gu;

/** Returns the words that are names or numbers: an answer is about these, not about others of their kind. */
function findNames(text: string, words: readonly string[]): TermMask {
  if (GERMAN.test(text)) return 0;
  const names = (text.match(NAME) ?? []).flatMap(terms);
  return maskOf(words, names);
}

const ASKS =
  /\b(?:who|whom|whose|what|which|when|where|why|how|wer|wen|wem|wessen|was|welche[rsnm]?|wann|wo|warum|wie|qui|quand|combien|quel(?:le)?s?|quién|qué|cuándo|dónde|cuánt[oa]s?|cuál(?:es)?)\b|\band (?:do|does|did|is|are|was|were|can|will)\b/giu;

function maskOf(words: readonly string[], some: readonly string[]): TermMask {
  return words.reduce((mask, word, i) => (some.includes(word) ? mask | (1 << i) : mask), 0);
}

/** Returns the initials that stand for words of the query, and those that its acronyms stand for. */
function findVariants(query: string, words: readonly string[]): Variant[] {
  const spelled = acronyms(query).map(({ initials, word }) => ({
    term: acronymTerm(initials),
    mask: maskOf(words, [word]),
  }));
  const short = [...windows(fold(query))].map((window) => ({
    term: window.initials,
    mask: maskOf(words, window.words.flatMap(terms)),
  }));
  return [...spelled, ...short].filter(({ mask }) => mask !== 0).slice(0, MAX_VARIANTS);
}
