import type { Binary, Document, SearchIndexDescription } from "mongodb";
import { ENTRY_VERSION } from "../entry.ts";
import { isPrefix, listForms } from "../related.ts";
import { asCompound, asMatch, type Condition, FILTER_PATHS } from "./conditions.ts";

/** The collection of both indexes. */
export const ENTRIES = "search_entries";
/** A changed definition gets a new name, so that nodes of adjacent versions each keep theirs. */
const TEXT_INDEX = `entries_text_${ENTRY_VERSION}`;
const WORDS = ["title_terms", "text_terms"];
/** Candidates that a graph search examines per result, as MongoDB recommends. */
const LOOKED_AT_EACH = 20;

export function textIndex(): SearchIndexDescription {
  const filters = Object.entries(FILTER_PATHS).map(([path, type]) => [path, { type }]);
  // The words are stemmed already: Atlas only has to split them.
  const words = WORDS.map((path) => [path, { type: "string", analyzer: "lucene.whitespace" }]);
  const fields = Object.fromEntries([...filters, ...words]);
  return { name: TEXT_INDEX, type: "search", definition: { mappings: { dynamic: false, fields } } };
}

function vectorIndexName(dimensions: number): string {
  return `entries_vector_${dimensions}_${ENTRY_VERSION}`;
}

export function vectorIndex(dimensions: number): SearchIndexDescription {
  const vector = { type: "vector", path: "vector", numDimensions: dimensions, similarity: "cosine" };
  const filters = Object.keys(FILTER_PATHS).map((path) => ({ type: "filter", path }));
  return {
    name: vectorIndexName(dimensions),
    type: "vectorSearch",
    definition: { fields: [vector, ...filters] },
  };
}

/** Conditions of a neighbour: in the thread, and findable without the query's filters. */
interface Context {
  now: number;
  include_superseded: boolean;
  /** To each side. */
  neighbours: number;
}

/** Returns the clause of `$search` for other forms of terms that no entry has. */
export function formsOf(terms: readonly string[]): object {
  const longer = terms.filter(isPrefix).map((term) => `${term}*`);
  const should = [
    wordsOf(terms.flatMap(listForms)),
    ...(longer.length ? [{ wildcard: { query: longer, path: WORDS, allowAnalyzedField: true } }] : []),
  ];
  return { compound: { should, minimumShouldMatch: 1 } };
}

/** Finds the best entries by words, a clause of `$search`, with their neighbours in the thread. */
export function textPipeline(
  conditions: readonly Condition[],
  words: object,
  limit: number,
  context: Context,
): Document[] {
  const compound = { must: [words], ...asCompound(conditions) };
  return [
    { $search: { index: TEXT_INDEX, compound } },
    { $limit: limit },
    ...current(conditions),
    ...beside(context),
  ];
}

/** Finds the nearest entries by meaning, with their neighbours in the thread. */
export function vectorPipeline(
  conditions: readonly Condition[],
  query: { vector: Binary; dimensions: number; limit: number },
  context: Context,
): Document[] {
  return [nearest(conditions, query), ...current(conditions), ...beside(context)];
}

/** Finds the nearest entries by meaning alone. */
export function nearPipeline(
  conditions: readonly Condition[],
  query: { vector: Binary; dimensions: number; limit: number },
): Document[] {
  return [nearest(conditions, query), ...current(conditions), { $project: { id: 1, vector: 1 } }];
}

/**
 * Counts the matching entries, and those with each term: rows `{term, count}`, without `term` the count of all. One
 * round trip, whatever the query.
 */
export function countPipeline(conditions: readonly Condition[], terms: readonly string[]): Document[] {
  const count = (more: object, term: number | null): Document[] => [
    {
      $searchMeta: {
        index: TEXT_INDEX,
        compound: { ...more, ...asCompound(conditions) },
        count: { type: "total" },
      },
    },
    { $project: { _id: 0, term: { $literal: term }, count: "$count.total" } },
  ];
  return [
    ...count({}, null),
    ...terms.map((term, i) => ({
      $unionWith: { coll: ENTRIES, pipeline: count({ must: [wordsOf([term])] }, i) },
    })),
  ];
}

/** Returns the clause of `$search` for terms. */
export function wordsOf(terms: readonly string[]): object {
  return { text: { query: terms, path: WORDS } };
}

function nearest(
  conditions: readonly Condition[],
  { vector, dimensions, limit }: { vector: Binary; dimensions: number; limit: number },
): Document {
  return {
    $vectorSearch: {
      index: vectorIndexName(dimensions),
      path: "vector",
      queryVector: vector,
      numCandidates: limit * LOOKED_AT_EACH,
      limit,
      filter: asMatch(conditions),
    },
  };
}

/** The index lags behind the rows, so check the current row against this reader's conditions. */
function current(conditions: readonly Condition[]): Document[] {
  return [{ $match: asMatch(conditions) }];
}

function beside({ now, include_superseded, neighbours }: Context): Document[] {
  const side = (as: string, comparison: "$lt" | "$gt", direction: -1 | 1): Document => ({
    $lookup: {
      from: ENTRIES,
      let: { tenant: "$tenant_id", thread: "$thread", position: "$position" },
      pipeline: [
        {
          $match: {
            thread: { $type: "string" },
            expires_at: { $gt: now },
            ...(!include_superseded && { superseded: false }),
            $expr: {
              $and: [
                { $eq: ["$tenant_id", "$$tenant"] },
                { $eq: ["$thread", "$$thread"] },
                { [comparison]: ["$position", "$$position"] },
              ],
            },
          },
        },
        { $sort: { position: direction } },
        { $limit: neighbours },
        { $project: { text: 0 } },
      ],
      as,
    },
  });
  return [{ $project: { text: 0 } }, side("before", "$lt", -1), side("after", "$gt", 1)];
}
