import { apartTable } from "../tables/apart.ts";
import { planFilter, source } from "./plan.ts";
import type { Queries } from "./query.ts";
import type { RawObject } from "./values.ts";

/** Up to so many documents each is measured; of more about half as many. */
const ALL = 10_000;
const RANGE = 2 ** 32;
/** The golden ratio of it: its multiples are spread evenly. */
const GOLDEN = 2_654_435_769;

/** About how many bytes the documents that fit a filter take, as text. Only the lengths that rows begin with are read. */
export function bytesOf(queries: Queries, name: string, filter: RawObject): number {
  const table = queries.catalog.tables.get(name);
  if (!table) return 0;
  const plan = planFilter(table, filter);
  // Without an index that begins with the tenant there are few rows.
  if (!plan.exact) {
    let bytes = 0;
    for (const { text } of queries.rows(table, { filter })) bytes += text.length;
    return bytes;
  }
  const count = queries.count(name, { filter });
  const every = count <= ALL ? 1 : Math.floor((2 * count) / ALL);
  const apart = `(SELECT octet_length(a.text) FROM ${apartTable(table)} a WHERE a.rid = ${table.sql}.rid)`;
  const size = table.apart === undefined ? "octet_length(doc)" : `octet_length(doc) + coalesce(${apart}, 0)`;
  // The row id stands in every index: rows that are not in the sample are not read. Multiplied, so that no rhythm in which
  // rows were written is that of the sample.
  const sql = `SELECT count(*), total(${size}) FROM ${source(table, plan, [])} AND rid * ${GOLDEN} % ${RANGE} < ?`;
  const [measured, bytes] = queries.statements.row<[number, number]>(sql, ...plan.params, RANGE / every) ?? [
    0, 0,
  ];
  return measured === 0 ? 0 : (bytes * count) / measured;
}
