import { describe, expect, test } from "@jest/globals";
import { Binary, type Document } from "mongodb";
import { type MetadataCondition, metadataCheck, packMetadata } from "../../lib/filter/metadata.ts";
import {
  areHopeless,
  asMatch,
  buildConditions,
  type Condition,
  fits,
} from "../../storage/search/atlas/conditions.ts";
import { toFields } from "../../storage/search/atlas/entries.ts";
import { labelsFor, metadataLabels } from "../../storage/search/atlas/metadata-labels.ts";
import {
  countPipeline,
  formsOf,
  textIndex,
  textPipeline,
  vectorIndex,
  vectorPipeline,
  wordsOf,
} from "../../storage/search/atlas/pipelines.ts";
import { entry, NOW, query, TENANT } from "../suites/search/samples.ts";

const context = { now: NOW, include_superseded: false, neighbours: 2 };
const mine = buildConditions(query(""));
const narrowed = buildConditions(
  query("", {
    access: { agent_ids: ["ag_a"], team_ids: ["team_a"] },
    include_superseded: true,
    where: {
      ...{ types: ["semantic", "episodic"], project_id: null, except: { types: ["x"] } },
      ...{ times: { created_at: { since: 5, until: 9 }, updated_at: { since: 7 }, date: { until: 8 } } },
      ...{ metadata: [{ key: "state", in: ["open"] }] },
    },
  }),
);

// The forms are those of MongoDB's manual: "Run Vector Search Queries", "compound Operator", "in Operator",
// "range Operator", "$searchMeta", and "Define Field Mappings".
describe("pipelines", () => {
  test("words: compound with a scoring must, and everything else as filter", () => {
    const [search, limit, current] = textPipeline(narrowed, wordsOf(["dig", "burrow"]), 60, context);
    expect(search).toEqual({
      $search: {
        index: "entries_text_6",
        compound: {
          must: [{ text: { query: ["dig", "burrow"], path: ["title_terms", "text_terms"] } }],
          filter: [
            { equals: { path: "tenant_id", value: TENANT } },
            { equals: { path: "kind", value: "memory" } },
            { in: { path: "readers", value: ["*", "agent:ag_a", "team:team_a"] } },
            { range: { path: "expires_at", gt: NOW } },
            { in: { path: "type", value: ["semantic", "episodic"] } },
            { equals: { path: "project_id", value: "" } },
            { equals: { path: "metadata", value: '"state":"open"' } },
            { range: { path: "created_at", gte: 5 } },
            { range: { path: "created_at", lt: 9 } },
            { range: { path: "updated_at", gte: 7 } },
            { range: { path: "date", lt: 8 } },
          ],
          mustNot: [{ equals: { path: "type", value: "x" } }],
        },
      },
    });
    expect(limit).toEqual({ $limit: 60 });
    expect(current).toEqual({ $match: asMatch(narrowed) });
  });

  test("other forms: the beginnings and initials of words, and words that they begin", () => {
    const [search] = textPipeline(mine, formsOf(["burrow", "ab"]), 60, context);
    expect(search?.$search.compound.must).toEqual([
      {
        compound: {
          should: [
            { text: { query: ["burro", "burr", "=burrow", "=ab"], path: ["title_terms", "text_terms"] } },
            {
              wildcard: { query: ["burrow*"], path: ["title_terms", "text_terms"], allowAnalyzedField: true },
            },
          ],
          minimumShouldMatch: 1,
        },
      },
    ]);
  });

  test("meaning: $vectorSearch is the first stage, with its filter inside", () => {
    const vector = Binary.fromInt8Array(Int8Array.of(1, 2));
    const [search] = vectorPipeline(mine, { vector, dimensions: 2, limit: 60 }, context);
    expect(search).toEqual({
      $vectorSearch: {
        ...{ index: "entries_vector_2_6", path: "vector", queryVector: vector, numCandidates: 1200 },
        limit: 60,
        filter: {
          $and: [
            { tenant_id: { $in: [TENANT] } },
            { kind: { $in: ["memory"] } },
            { readers: { $in: ["*", "agent:ag_a"] } },
            { expires_at: { $gt: NOW } },
            { superseded: { $in: [false] } },
          ],
        },
      },
    });
  });

  test("counts: one round trip, each count with the same filter", () => {
    const [all, , ...unions] = countPipeline(mine, ["dig", "burrow"]);
    expect(all?.$searchMeta).toMatchObject({ index: "entries_text_6", count: { type: "total" } });
    expect(unions.map(({ $unionWith }) => $unionWith.coll)).toEqual(["search_entries", "search_entries"]);
    for (const { $unionWith } of unions)
      expect($unionWith.pipeline[0].$searchMeta.compound.filter).toEqual(all?.$searchMeta.compound.filter);
  });

  test("neighbours are of the tenant and thread, nearest first", () => {
    const before = textPipeline(mine, wordsOf(["dig"]), 60, context).find(
      ({ $lookup }) => $lookup?.as === "before",
    );
    const [match, sort, limit] = (before as Document).$lookup.pipeline;
    expect(match.$match.$expr.$and).toEqual([
      { $eq: ["$tenant_id", "$$tenant"] },
      { $eq: ["$thread", "$$thread"] },
      { $lt: ["$position", "$$position"] },
    ]);
    expect([sort, limit]).toEqual([{ $sort: { position: -1 } }, { $limit: 2 }]);
  });

  test("every filter of a pipeline is a field of both indexes", () => {
    const paths = [...mine, ...narrowed].map((each) => (each as { path: string }).path);
    const vector = (vectorIndex(384).definition.fields as { path: string }[]).map(({ path }) => path);
    expect(vector).toEqual(expect.arrayContaining(paths));
    expect(Object.keys(textIndex().definition.mappings.fields)).toEqual(expect.arrayContaining(paths));
    expect(vectorIndex(384).definition.fields[0]).toEqual({
      ...{ type: "vector", path: "vector", numDimensions: 384, similarity: "cosine" },
    });
  });
});

describe("conditions", () => {
  const row = (more = {}) => ({ ...toFields(entry(more)), tenant_id: TENANT, embedded: "" });
  const finds = (more: object, where: object = {}) =>
    fits(
      row(more),
      buildConditions(query("", { where, access: { agent_ids: ["ag_a"], team_ids: ["team_a"] } })),
    );

  test("a caller finds its own, its team's and everybody's", () => {
    expect(finds({})).toBe(true);
    expect(finds({ agent_id: "ag_b" })).toBe(false);
    expect(finds({ agent_id: "ag_b", scope: "team", team_id: "team_a" })).toBe(true);
    expect(finds({ agent_id: "ag_b", scope: "team", team_id: "team_b" })).toBe(false);
    // A team that an agent's own memory names lends it to nobody.
    expect(finds({ agent_id: "ag_b", scope: "agent", team_id: "team_a" })).toBe(false);
    expect(finds({ agent_id: "ag_b", scope: "institutional" })).toBe(true);
  });

  test("and of those what is in time, stands, and fits the filters", () => {
    expect(finds({ expires_at: NOW })).toBe(false);
    expect(finds({ expires_at: NOW + 1 })).toBe(true);
    expect(finds({ superseded: true })).toBe(false);
    expect(finds({ tags: ["a", "b"] }, { tags_any: ["b", "c"] })).toBe(true);
    expect(finds({ tags: [] }, { tags_any: ["b"] })).toBe(false);
    expect(finds({ audience: ["r:1"] }, { audience: [["r:1"], ["s:1"]] })).toBe(false);
    expect(finds({ type: "x" }, { except: { types: ["x"] } })).toBe(false);
    expect(finds({ project_id: "p" }, { project_id: null })).toBe(false);
    expect(finds({ created_at: 5 }, { times: { created_at: { since: 5, until: 6 } } })).toBe(true);
    expect(finds({ created_at: 6 }, { times: { created_at: { since: 5, until: 6 } } })).toBe(false);
    expect(finds({ date: null }, { times: { date: { until: 9 } } })).toBe(false);
    expect(finds({ date: 5 }, { times: { date: { until: 9 } } })).toBe(true);
  });

  test("a range of metadata is a few labels, which find what it contains", () => {
    const numbers = [-1e300, -5.5, -1, 0, 5e-324, 0.1, 1, 99, 100, 101, 2 ** 53, 1e300];
    const operators = ["gt", "gte", "lt", "lte"] as const;
    const ranges = numbers.flatMap((at) => [
      ...operators.map((operator) => ({ [operator]: at })),
      ...numbers.map((to) => ({ gt: at, lte: to })),
    ]);
    for (const range of ranges) {
      const condition: MetadataCondition = { key: "n", of: "number", ...range };
      const labels = labelsFor(condition);
      expect(labels.length).toBeLessThan(450);
      for (const n of numbers) {
        const packed = packMetadata({ n });
        const isFound = metadataLabels(packed).some((label) => labels.includes(label));
        expect({ n, range, isFound }).toEqual({ n, range, isFound: metadataCheck([condition])(packed) });
      }
    }
  });

  test("an empty list finds nothing without asking", () => {
    expect(areHopeless(buildConditions(query("", { where: { types: [] } })))).toBe(true);
    expect(areHopeless(mine as Condition[])).toBe(false);
  });
});
