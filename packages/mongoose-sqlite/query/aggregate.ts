import { createRequire } from "node:module";
import { fault, NotImplemented } from "../errors.ts";
import type { Table } from "../tables/catalog.ts";
import { planFilter, source } from "./plan.ts";
import type { Queries, Query } from "./query.ts";
import type { Sort } from "./sort.ts";
import { isDocument, type Key, type Raw, type RawObject, rawNumber, rawOf } from "./values.ts";

const STAGES = new Set([
  "$match",
  "$sort",
  "$skip",
  "$limit",
  "$group",
  "$project",
  "$addFields",
  "$set",
  "$unset",
  "$unwind",
  "$count",
  "$sortByCount",
  "$replaceRoot",
  "$replaceWith",
]);

/**
 * Runs a pipeline: leading `$match`, `$sort`, `$skip` and `$limit` become a query, SQL counts by an indexed path, and
 * mingo runs the remaining stages. Throws `NotImplemented` for an unsupported stage.
 */
export function aggregate(queries: Queries, name: string, pipeline: RawObject[]): RawObject[] {
  for (const stage of pipeline) checkStage(stage);
  const { query, rest } = splitQuery(pipeline);
  const table = queries.catalog.tables.get(name);
  const counted = table && rest[0] && countGroups(queries, table, query, rest[0]);
  if (counted) return runStages(counted, rest.slice(1));
  return runStages(queries.documents(name, query), rest);
}

function checkStage(stage: RawObject): void {
  const names = Object.keys(stage);
  if (names.length !== 1)
    throw fault.badValue("A pipeline stage specification object must contain exactly one field.");
  if (!STAGES.has(names[0] as string)) throw new NotImplemented(`the aggregation stage ${names[0]}`);
}

/** Returns the longest start of a pipeline that is one query: matches, then a sort, a skip and a limit. */
function splitQuery(pipeline: RawObject[]): { query: Query; rest: RawObject[] } {
  const matches: RawObject[] = [];
  let at = 0;
  for (; pipeline[at]?.$match !== undefined; at++) matches.push(pipeline[at]?.$match as RawObject);
  const query: Query = { filter: matches.length > 1 ? { $and: matches } : (matches[0] ?? {}) };
  const sort = pipeline[at]?.$sort;
  if (isDocument(sort) && Object.values(sort).every((direction) => direction === 1 || direction === -1)) {
    query.sort = Object.entries(sort) as Sort;
    at++;
  }
  const skip = pipeline[at]?.$skip;
  if (typeof skip === "number") {
    query.skip = skip;
    at++;
  }
  const limit = pipeline[at]?.$limit;
  if (typeof limit === "number" && limit > 0) {
    query.limit = limit;
    at++;
  }
  return { query, rest: pipeline.slice(at) };
}

/** Runs `{$group: {_id: "$path" | null, n: {$sum: 1}}}` over an indexed path in SQL; else `undefined`. */
function countGroups(
  queries: Queries,
  table: Table,
  query: Query,
  stage: RawObject,
): RawObject[] | undefined {
  const { _id, ...sums } = isDocument(stage.$group) ? stage.$group : { _id: 0 };
  const ones = Object.values(sums).every(
    (sum) => isDocument(sum) && Object.keys(sum).length === 1 && sum.$sum === 1,
  );
  const column = typeof _id === "string" && _id[0] === "$" ? table.columns.get(_id.slice(1)) : undefined;
  const plan = planFilter(table, query.filter);
  if (!column || column.many || column.odd || !ones || !plan.exact || query.skip || query.limit)
    return undefined;
  const sql = `SELECT ${column.sql}, count(*) FROM ${source(table, plan, [])} GROUP BY 1`;
  return queries.statements.rows<[Key, number]>(sql, ...plan.params).map(([key, count]) => {
    const group: RawObject = { _id: rawOf(key) };
    for (const sum of Object.keys(sums)) group[sum] = count;
    return group;
  });
}

type Mingo = { Aggregator: new (pipeline: object[]) => { run(documents: unknown[]): unknown[] } };

let mingo: Mingo | undefined;

// Load mingo on first use: most nodes never need it.
function runStages(documents: RawObject[], stages: RawObject[]): RawObject[] {
  if (stages.length === 0) return documents;
  mingo ??= createRequire(import.meta.url)("mingo") as Mingo;
  try {
    const aggregator = new mingo.Aggregator(withDates(stages) as object[]);
    return aggregator
      .run(withDates(documents) as unknown[])
      .map((document) => withTags(document) as RawObject);
  } catch (error) {
    throw fault.badValue((error as Error).message);
  }
}

/** Converts dates and non-finite numbers for mingo; other tagged values compare and group as they are. */
function withDates(value: Raw): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withDates);
  const tag = value.$;
  if (typeof tag === "number") return new Date(tag);
  if (typeof tag === "string") return tag[0] === "n" ? Number(tag.slice(1)) : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDates(item)]));
}

function withTags(value: unknown): Raw {
  if (typeof value === "number") return rawNumber(value);
  if (value === undefined) return null;
  if (typeof value !== "object" || value === null) return value as Raw;
  if (value instanceof Date) return { $: value.getTime() };
  if (Array.isArray(value)) return value.map(withTags);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTags(item)]));
}
