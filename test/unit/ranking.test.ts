import { expect, test } from "@jest/globals";
import { findSigns, SIGN_ASKS, SIGN_COUNTS, SIGN_DENIES, SIGN_TELLS_TIME } from "../../lib/text/terms.ts";
import { parseQuery } from "../../services/remember/search/find.ts";
import { FLOOR, type Ranked, rank } from "../../services/remember/search/ranking.ts";
import type { Candidate, Corpus, Neighbour } from "../../storage/search/features.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 4, 20, 12);

function candidate(id: string, more: Partial<Candidate> = {}): Candidate {
  return {
    ...{ id, has: 0, title: 0, cosine: 0.2, bm25: 0, length: 20, signs: 0, before: [], after: [], asked: 0 },
    ...{ created_at: NOW, date: null, confidence: 0.5, importance: 0.5, cites: 0 },
    ...{ scope: "agent", superseded: false, holds: { from: 0, to: Infinity } },
    ...more,
  };
}

function neighbour(more: Partial<Neighbour> = {}): Neighbour {
  return { has: 0, title: 0, cosine: 0.2, ...more };
}

/** Each term of the query is in ten of a thousand entries. */
function ranked(text: string, candidates: Candidate[], usual?: (cosine: number) => number): Ranked[] {
  const query = parseQuery(text, NOW);
  const corpus: Corpus = { documents: 1000, frequencies: query.terms.map(() => 10), averageLength: 20 };
  return rank(query, candidates, corpus, { now: NOW, ...(usual && { usual }) });
}

/** The ids, best first. */
function order(text: string, candidates: Candidate[]): string[] {
  return ranked(text, candidates).map(({ id }) => id);
}

const QUERY = "harbour crane inspection";
const WORDS = { has: 0b111, bm25: 14 };

const pairs: [string, string, Partial<Candidate>, Partial<Candidate>][] = [
  ["its own words before none", QUERY, WORDS, {}],
  ["more words before fewer", QUERY, WORDS, { has: 0b001, bm25: 5 }],
  ["words in the title before the same elsewhere", QUERY, { ...WORDS, title: 0b111 }, WORDS],
  ["what is near in meaning before what is not", QUERY, { cosine: 0.7 }, { cosine: 0.3 }],
  ["neighbours of the words before others", QUERY, { after: [neighbour({ has: 7 })] }, {}],
  ["what tells before what asks", QUERY, WORDS, { ...WORDS, signs: SIGN_ASKS }],
  [
    "the answer to a question with the words before what follows a statement with them",
    QUERY,
    { before: [neighbour({ has: 7 })], asked: 7 },
    { before: [neighbour({ has: 7 })] },
  ],
  [
    "an answer before another question",
    QUERY,
    { before: [neighbour({ has: 7 })], asked: 7 },
    { before: [neighbour({ has: 7 })], asked: 7, signs: SIGN_ASKS },
  ],
  ["substance before a mere reply", QUERY, { after: [neighbour()] }, { length: 2, after: [neighbour()] }],
  [
    "what affirms before a newer one that denies",
    QUERY,
    { ...WORDS, created_at: NOW - DAY },
    { ...WORDS, signs: SIGN_DENIES },
  ],
  [
    "what denies, as the query does, before a newer one that affirms",
    `no ${QUERY}`,
    { ...WORDS, signs: SIGN_DENIES, created_at: NOW - DAY },
    WORDS,
  ],
  ["what names a time when asked for one", `When was the ${QUERY}?`, { signs: SIGN_TELLS_TIME }, {}],
  [
    "what is of the date that the query names",
    `${QUERY} on 3 May 2026`,
    { ...WORDS, date: Date.UTC(2026, 4, 4) },
    { ...WORDS, date: Date.UTC(2026, 0, 4) },
  ],
  ["what is dated before what was only created then", `${QUERY} today`, { ...WORDS, date: NOW }, WORDS],
  ["the surer of two alike", QUERY, { ...WORDS, confidence: 0.9 }, { ...WORDS, confidence: 0.2 }],
  ["the newer of two alike", QUERY, WORDS, { ...WORDS, created_at: NOW - 90 * DAY }],
  ["the cited of two alike", QUERY, { ...WORDS, cites: 2 }, WORDS],
  ["what is in force before what is superseded", QUERY, { has: 3, bm25: 9 }, { ...WORDS, superseded: true }],
  [
    "what held then before what has replaced it",
    `who led the ${QUERY} in March`,
    { ...WORDS, superseded: true, holds: { from: Date.UTC(2026, 0), to: Date.UTC(2026, 3) } },
    { ...WORDS, holds: { from: Date.UTC(2026, 3), to: Infinity } },
  ],
  ["what is about the name", "the rent in Lyon", { has: 0b11, bm25: 6 }, { has: 0b01, bm25: 8, cosine: 0.3 }],
  ["what tells a number when asked for one", `how many ${QUERY}`, { signs: SIGN_COUNTS }, {}],
  ["the caller's own of two alike", QUERY, WORDS, { ...WORDS, scope: "team" }],
  ["the team's before all of the tenant", QUERY, { scope: "team" }, { scope: "institutional" }],
];

test.each(pairs)("puts %s", (_, query, better, worse) => {
  const [a, b] = [candidate("z-better", better), candidate("a-worse", worse)];
  expect(order(query, [a, b])).toEqual(["z-better", "a-worse"]);
  expect(order(query, [b, a])).toEqual(["z-better", "a-worse"]);
});

test("of statements about the same, the newest gets the highest score", () => {
  const older = candidate("older", { ...WORDS, bm25: 15, created_at: NOW - 2 });
  const newer = candidate("newer", { ...WORDS, created_at: NOW - 1 });
  const dated = candidate("dated", { ...WORDS, date: NOW - 9 });
  const best = ranked(QUERY, [older, dated])[0] as Ranked;
  expect(ranked(QUERY, [older, newer, dated]).map(({ id }) => id)).toEqual(["newer", "older", "dated"]);
  expect(ranked(QUERY, [older, newer])[0]?.score).toBeCloseTo(best.score, 5);
});

test("a newer statement with fewer of the words, or in a conversation, stays behind", () => {
  const older = candidate("older", { ...WORDS, created_at: NOW - 2 });
  expect(order(QUERY, [older, candidate("newer", { has: 0b011, bm25: 10, title: 0b001 })])[0]).toBe("older");
  const turn = { after: [neighbour()], length: 40 };
  const turns = [{ ...older, ...turn }, candidate("newer", { ...WORDS, ...turn, bm25: 13.5 })];
  expect(order(QUERY, turns)[0]).toBe("older");
});

test("one word of the query in a title says less alone than next to others", () => {
  const alone = ranked("harbour crane inspection", [candidate("a", { has: 1, title: 1, bm25: 5 })]);
  const both = ranked("harbour", [candidate("a", { has: 1, title: 1, bm25: 5 })]);
  expect(alone[0]?.score).toBeLessThan((both[0]?.score as number) / 2);
});

test("a question with words that its answer repeats raises it no further", () => {
  const scoreAfter = (asked: number) =>
    ranked(QUERY, [candidate("answer", { ...WORDS, before: [neighbour({ has: 7 })], asked })])[0]?.score;
  expect(scoreAfter(7)).toBe(scoreAfter(0));
});

test("an item with all of the words wins over the neighbours that have none", () => {
  const words = neighbour({ has: 0b111, cosine: 0.5 });
  const none = neighbour();
  const first = candidate("first", { length: 40, after: [none, words] });
  const second = candidate("second", { length: 40, before: [none], after: [words] });
  const third = candidate("third", { ...WORDS, cosine: 0.5, length: 12, before: [none, none] });
  expect(order(QUERY, [first, second, third])[0]).toBe("third");
});

test("what stands alone may be short", () => {
  const [short, long] = ranked(QUERY, [candidate("a", { length: 2 }), candidate("b")]) as [Ranked, Ranked];
  expect(short.score).toBe(long.score);
});

test("two alike are always in the same order", () => {
  const alike = ["c", "a", "b"].map((id) => candidate(id, WORDS));
  expect(order(QUERY, alike)).toEqual(["a", "b", "c"]);
});

test("scores lie between 0 and 1 and say what clears the floor", () => {
  const [right, foreign] = ranked(QUERY, [
    candidate("right", { ...WORDS, title: 0b001, cosine: 0.6 }),
    candidate("foreign", { cosine: 0.3 }),
  ]) as [Ranked, Ranked];
  expect(right.score).toBeGreaterThan(0.5);
  expect(right.score).toBeLessThan(1);
  expect(foreign.score).toBeGreaterThan(0);
  expect(foreign.score).toBeLessThan(FLOOR);
});

test("shows what each leg says, and null where one says nothing", () => {
  const [both, none] = ranked(QUERY, [
    candidate("both", { ...WORDS, cosine: 0.6 }),
    candidate("none", { cosine: null }),
  ]) as [Ranked, Ranked];
  expect(both).toMatchObject({ vector: 0.6, bm25: expect.any(Number), recency: 1, confidence: 0.5 });
  expect(both.bm25).toBeGreaterThan(0);
  expect(both.bm25).toBeLessThanOrEqual(1);
  expect(none).toMatchObject({ vector: null, bm25: null });
});

test("without vectors, words alone can clear the floor, and their absence cannot", () => {
  const [right, wrong] = ranked(QUERY, [
    candidate("right", { ...WORDS, cosine: null }),
    candidate("wrong", { cosine: null }),
  ]) as [Ranked, Ranked];
  expect(right.score).toBeGreaterThan(0.3);
  expect(wrong.score).toBeLessThan(FLOOR);
});

test("a cosine counts as the one that it is by the bundled embedder", () => {
  const near = [candidate("near", { cosine: 0.6 })];
  expect(ranked(QUERY, near)[0]?.score).toBeGreaterThan(FLOOR);
  expect(ranked(QUERY, near, (cosine) => cosine - 0.5)[0]?.score).toBeLessThan(FLOOR);
});

test("ranks by meaning alone when a query has only words that say nothing", () =>
  expect(
    order("who are you", [candidate("far", { cosine: 0.1 }), candidate("near", { cosine: 0.5 })]),
  ).toEqual(["near", "far"]));

test("a statement that lacks a word of the question is as likely as not about something else", () => {
  const lacking = { has: 0b101, bm25: 12, title: 0b101, cosine: 0.9 };
  const scoreOf = (text: string) => ranked(text, [candidate("a", lacking)])[0]?.score as number;
  expect(scoreOf("who keeps harbour cranes")).toBeLessThan(0.5);
  expect(scoreOf("who keeps harbour cranes, and where are they")).toBeGreaterThan(0.9);
  expect(scoreOf("how does the harbour often crane")).toBeGreaterThan(0.9);
});

test("ranks nothing as nothing", () => expect(ranked(QUERY, [])).toEqual([]));

test.each([
  ...["Ben does not eat meat.", "Ben doesn't eat meat.", "We never deploy on Fridays."],
  ...["Hier wird nicht geraucht.", "Es gibt keinen Ersatz.", "Il ne mange pas.", "Ella nunca llega tarde."],
  ...[
    "Ele não come carne.",
    "Он не ест мяса.",
    "אין כאן בשר",
    "هو لا يأكل اللحم",
    "我们不吃肉",
    "肉は食べません",
  ],
])("%s denies", (text) => expect(findSigns(text) & SIGN_DENIES).toBe(SIGN_DENIES));

test.each(["Ben notes what he eats.", "A knot in the rope.", "Sino-Tibetan"])("%s does not deny", (text) =>
  expect(findSigns(text) & SIGN_DENIES).toBe(0),
);

test("what was superseded counts as much as others where the past is asked for", () => {
  const query = parseQuery(QUERY, NOW);
  const corpus: Corpus = { documents: 1000, frequencies: query.terms.map(() => 10), averageLength: 20 };
  const old = candidate("old", { ...WORDS, superseded: true });
  const scoreOf = (isPast: boolean) => rank(query, [old], corpus, { now: NOW, isPast })[0]?.score as number;
  const [plain] = ranked(QUERY, [candidate("old", WORDS)]);
  expect(scoreOf(true)).toBe(plain?.score);
  expect(scoreOf(false)).toBeLessThan(scoreOf(true));
});
