import { textTable } from "../tables/out-of-line.ts";
import { planFilter, source } from "./plan.ts";
import type { Queries } from "./queries.ts";
import type { RawObject } from "./values.ts";

/** Up to this many documents are all measured; of more, about half as many. */
const MAX_EXACT = 10_000;
const RANGE = 2 ** 32;
/** 2^32 divided by the golden ratio: its multiples are evenly distributed. */
const GOLDEN = 2_654_435_769;

/** Estimates the text bytes of the documents that match a filter. Reads only the lengths at the start of rows. */
export function estimateBytes(queries: Queries, name: string, filter: RawObject): number {
  const table = queries.catalog.tables.get(name);
  if (!table) return 0;
  const plan = planFilter(table, filter);
  // Without an index that starts with the tenant there are few rows.
  if (!plan.exact) {
    let bytes = 0;
    for (const { text } of queries.rows(table, { filter })) bytes += text.length;
    return bytes;
  }
  const count = queries.count(name, filter);
  const every = count <= MAX_EXACT ? 1 : Math.floor((2 * count) / MAX_EXACT);
  const longText = `(SELECT octet_length(a.text) FROM ${textTable(table)} a WHERE a.rid = ${table.sql}.rid)`;
  const size =
    table.outOfLine === undefined ? "octet_length(doc)" : `octet_length(doc) + coalesce(${longText}, 0)`;
  // Every index holds the row id, so rows outside the sample are not read. Multiply to break up regular writes.
  const sql = `SELECT count(*), total(${size}) FROM ${source(table, plan, [])} AND rid * ${GOLDEN} % ${RANGE} < ?`;
  const [measured, bytes] = queries.statements.row<[number, number]>(sql, ...plan.params, RANGE / every) ?? [
    0, 0,
  ];
  return measured === 0 ? 0 : (bytes * count) / measured;
}
