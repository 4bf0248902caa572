import { beforeAll, describe, expect, test } from "@jest/globals";
import { packMetadata } from "../../../lib/filter/metadata.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { LegsQuery } from "../../../storage/search/protocol.ts";
import type { SearchIndex } from "../search.ts";
import { entry, NOW, query, vector } from "./samples.ts";

const FILTERS = "tn_filters";
const MODEL = "filters";

/** One entry per filter; all have the same word and vector, so that only filters distinguish them. */
const ENTRIES: Record<string, Partial<SearchEntry>> = {
  ...{ own: {}, others: { agent_id: "ag_b" }, team: { scope: "team", agent_id: "ag_b", team_id: "team_a" } },
  otherTeam: { scope: "team", agent_id: "ag_b", team_id: "team_b" },
  ownInOtherTeam: { scope: "team", team_id: "team_b" },
  institution: { scope: "institutional", agent_id: "ag_b" },
  ...{ nobodys: { scope: "institutional", agent_id: null }, expired: { expires_at: NOW } },
  ...{ expiring: { expires_at: NOW + 1 }, superseded: { superseded: true }, filed: { project_id: "apollo" } },
  ...{ tagged: { tags: ["red", "blue"] }, episodic: { type: "episodic" } },
  labelled: { scope: "institutional", audience: ["regions:emea", "segments:b2b"] },
};

const PLAIN = "own ownInOtherTeam institution nobodys expiring filed tagged episodic labelled".split(" ");

const CASES: [string, Partial<LegsQuery>, string[]][] = [
  ["an agent without a team", {}, PLAIN],
  ["a team", { access: { agent_ids: ["ag_a"], team_ids: ["team_a"] } }, [...PLAIN, "team"]],
  [
    "a person who owns nobody",
    { access: { agent_ids: [], team_ids: [] } },
    ["institution", "nobodys", "labelled"],
  ],
  ["a scope", { where: { scope: "team" } }, ["ownInOtherTeam"]],
  ["types", { where: { types: ["episodic", "procedural"] } }, ["episodic"]],
  ["an unknown type", { where: { types: ["unheard of"] } }, []],
  ["a project", { where: { project_id: "apollo" } }, ["filed"]],
  ["no project", { where: { project_id: null, scope: "agent" } }, ["own", "expiring", "tagged", "episodic"]],
  ["tags", { where: { tags_any: ["green", "blue"] } }, ["tagged"]],
  ["an owner", { where: { agent_id: "ag_b" } }, ["institution"]],
  ["audience", { where: { audience: [["regions:emea", "regions:apac"], ["segments:b2b"]] } }, ["labelled"]],
  ["an audience with one group missing", { where: { audience: [["regions:emea"], ["x:y"]] } }, []],
  [
    "superseded ones too",
    { include_superseded: true, where: { scope: "agent", project_id: null } },
    ["own", "expiring", "superseded", "tagged", "episodic"],
  ],
  ["later", { now: NOW + 1, where: { scope: "agent", project_id: null } }, ["own", "tagged", "episodic"]],
];

const FACTS = "tn_facts";
const TIMES = "tn_times";

const validity = (from: number, until: number | null, succeeded: number | null, replaced: number | null) => ({
  created_at: 100,
  validity: { from, until, succeeded, replaced },
});
/** When entries hold; `NOW` is later than all. */
const TIME_ENTRIES: Record<string, Partial<SearchEntry>> = {
  always: validity(10, null, null, null),
  said: validity(10, 30, null, null),
  replaced: { ...validity(10, null, 20, 150), superseded: true },
  // What somebody said counts.
  saidAndReplaced: { ...validity(10, 40, 20, 150), superseded: true },
  later: { ...validity(30, null, null, null), created_at: 200 },
  plain: { created_at: 25 },
};
const PAST_CASES: [string, NonNullable<LegsQuery["where"]["past"]>, string[]][] = [
  [
    "what held in a span",
    { from: 15, to: 25 },
    ["always", "later", "plain", "replaced", "said", "saidAndReplaced"],
  ],
  [
    "what held at its beginning",
    { from: 20, to: 25 },
    ["always", "later", "plain", "said", "saidAndReplaced"],
  ],
  ["what held at its end", { from: 1, to: 10 }, ["always", "later", "plain", "said"]],
];
const TIME_CASES: [string, NonNullable<LegsQuery["where"]["held"]>, string[]][] = [
  ["before all", { at: 9, known: 1000 }, []],
  ["at the beginning", { at: 10, known: 1000 }, ["always", "replaced", "said", "saidAndReplaced"]],
  ["at the end of one", { at: 20, known: 1000 }, ["always", "said", "saidAndReplaced"]],
  ["when recorded", { at: 25, known: 1000 }, ["always", "plain", "said", "saidAndReplaced"]],
  ["at the end that was said", { at: 30, known: 1000 }, ["always", "later", "plain", "saidAndReplaced"]],
  ["later", { at: 40, known: 1000 }, ["always", "later", "plain"]],
  ["as known before a successor", { at: 35, known: 149 }, ["always", "plain", "replaced", "saidAndReplaced"]],
  ["as known with a successor", { at: 35, known: 150 }, ["always", "plain", "saidAndReplaced"]],
  ["as known at first", { at: 35, known: 99 }, ["plain"]],
];

/** Entries that differ in times and metadata. The one of another agent has all that is asked for. */
const FACT_ENTRIES: Record<string, Partial<SearchEntry>> = {
  old: { created_at: 10, updated_at: 500, date: 100 },
  new: { created_at: 1000, date: 200 },
  paid: metadata({ state: "paid", total: 120.5, due: "2026-03-01", urgent: true }),
  open: metadata({ state: "open", total: -3, due: "2026-03-01T12:00:00+02:00", urgent: false }),
  listed: metadata({ state: ["open", "late"], total: [0, 1e21], nested: { state: "paid" } }),
  // Its text looks like lines of others.
  odd: metadata({
    ...{ 'a":"b': 'x\n"state":"paid"', text: '"state":"paid"', "to.\u2028$gt": "y", total: "120.5" },
  }),
  others: { agent_id: "ag_b", created_at: 10, date: 100, ...metadata({ state: "paid", total: 120.5 }) },
};

function metadata(given: object): Partial<SearchEntry> {
  return { metadata: packMetadata(given), created_at: 50 };
}

const NUMBER = { key: "total", of: "number" } as const;
const DUE = { key: "due", of: "time" } as const;
const FACT_CASES: [string, LegsQuery["where"], string[]][] = [
  ["created since", { times: { created_at: { since: 1000 } } }, ["new"]],
  ["created until", { times: { created_at: { until: 50 } } }, ["old"]],
  ["updated within", { times: { updated_at: { since: 500, until: 501 } } }, ["old"]],
  ["updated when created", { times: { updated_at: { since: 1000 } } }, ["new"]],
  ["fresh since", { times: { date: { since: 101 } } }, ["new"]],
  ["fresh until, not without a date", { times: { date: { until: 101 } } }, ["old"]],
  ["a text", { metadata: [{ key: "state", in: ["paid"] }] }, ["paid"]],
  [
    "one of several, or of a list",
    { metadata: [{ key: "state", in: ["late", "paid"] }] },
    ["listed", "paid"],
  ],
  ["a boolean", { metadata: [{ key: "urgent", in: [false] }] }, ["open"]],
  ["a number, not its text", { metadata: [{ key: "total", in: [120.5] }] }, ["paid"]],
  ["a number's text", { metadata: [{ key: "total", in: ["120.5"] }] }, ["odd"]],
  ["a large number", { metadata: [{ key: "total", in: [1e21] }] }, ["listed"]],
  ["at least", { metadata: [{ ...NUMBER, gte: 120.5 }] }, ["listed", "paid"]],
  ["more than", { metadata: [{ ...NUMBER, gt: 120.5 }] }, ["listed"]],
  ["less than", { metadata: [{ ...NUMBER, lt: 0 }] }, ["open"]],
  ["at most", { metadata: [{ ...NUMBER, lte: -0 }] }, ["listed", "open"]],
  ["one value of a list between both bounds", { metadata: [{ ...NUMBER, gt: 0, lt: 1000 }] }, ["paid"]],
  ["an empty range", { metadata: [{ ...NUMBER, gt: 5, lt: 5 }] }, []],
  ["times in any zone", { metadata: [{ ...DUE, gte: Date.UTC(2026, 2, 1, 10) }] }, ["open"]],
  ["a time before", { metadata: [{ ...DUE, lt: Date.UTC(2026, 2, 1, 10) }] }, ["paid"]],
  ["a time is no number", { metadata: [{ key: "due", of: "number", gte: 0 }] }, []],
  [
    "all conditions",
    {
      metadata: [
        { key: "state", in: ["open"] },
        { ...NUMBER, lt: 0 },
      ],
    },
    ["open"],
  ],
  ["an odd key", { metadata: [{ key: 'a":"b', in: ['x\n"state":"paid"'] }] }, ["odd"]],
  ["a key like an operator", { metadata: [{ key: "to.\u2028$gt", in: ["y"] }] }, ["odd"]],
  ["a nested key", { metadata: [{ key: "nested.state", in: ["paid"] }] }, []],
  ["an unknown key", { metadata: [{ key: "__proto__", in: ["paid"] }] }, []],
];

const LEGS = {
  text: { terms: ["lemur"] },
  vector: { terms: [], vector: vector(1, 1) },
  both: { terms: ["lemur"], vector: vector(1, 1) },
};

async function putAll(index: SearchIndex, tenant: string, entries: Record<string, Partial<SearchEntry>>) {
  await index.useModel(MODEL);
  const all = Object.entries(entries).map(([id, more]) => entry({ id, text: "lemur", ...more }));
  await index.put(tenant, all);
  const missing = await index.unembedded(1000, 0, { tenant_id: tenant, kind: "memory" });
  await index.setVectors(
    MODEL,
    missing.map((each) => ({ ...each, vector: vector(1, 1) })),
  );
}

/** Each filter in each leg, and in both. */
export function filterCases(index: () => SearchIndex): void {
  describe("times and metadata", () => {
    beforeAll(() => putAll(index(), FACTS, FACT_ENTRIES));

    for (const [leg, by] of Object.entries(LEGS))
      test.each(FACT_CASES)(`${leg}: %s`, async (_name, where, expected) => {
        const answer = await index().legs(query("", { tenant_id: FACTS, ...by, where }));
        expect(answer.candidates.map(({ id }) => id).sort()).toEqual(expected);
        expect(answer.visible).toBe(expected.length);
      });
  });

  describe("what held then", () => {
    beforeAll(() => putAll(index(), TIMES, TIME_ENTRIES));

    for (const [leg, by] of Object.entries(LEGS))
      test.each(PAST_CASES)(`${leg}: what is in force, and %s`, async (_name, past, expected) => {
        const answer = await index().legs(query("", { ...by, tenant_id: TIMES, where: { past } }));
        expect(answer.candidates.map(({ id }) => id).sort()).toEqual(expected);
      });

    for (const [leg, by] of Object.entries(LEGS))
      test.each(TIME_CASES)(`${leg}: %s`, async (_name, held, expected) => {
        const more = { tenant_id: TIMES, include_superseded: true, where: { held } };
        const answer = await index().legs(query("", { ...by, ...more }));
        expect(answer.candidates.map(({ id }) => id).sort()).toEqual(expected);
        expect(answer.visible).toBe(expected.length);
      });
  });

  describe("filters", () => {
    beforeAll(() => putAll(index(), FILTERS, ENTRIES));

    for (const [leg, by] of Object.entries(LEGS))
      test.each(CASES)(`${leg}: %s`, async (_name, more, expected) => {
        const answer = await index().legs(query("", { tenant_id: FILTERS, ...by, ...more }));
        expect(answer.candidates.map(({ id }) => id).sort()).toEqual(expected.toSorted());
        expect(answer.visible).toBe(expected.length);
      });

    test("frequencies count only what the reader may find", async () => {
      const { corpus } = await index().legs(
        query("lemur", { tenant_id: FILTERS, where: { types: ["episodic"] } }),
      );
      expect(corpus).toEqual({ documents: 1, frequencies: [1], averageLength: 2 });
    });

    test.each([
      ["own", "candidate"],
      ["others", "unknown"],
      ["otherTeam", "unknown"],
      ["nowhere", "unknown"],
      ["expired", "expired"],
      ["superseded", "superseded"],
      ["episodic", "filtered"],
    ])("of %s it says that it is %s", async (expect_, expected) => {
      const where = { types: ["semantic"] };
      const answer = await index().legs(query("lemur", { tenant_id: FILTERS, where, expect: expect_ }));
      expect(answer.expected).toBe(expected);
    });
  });
}
