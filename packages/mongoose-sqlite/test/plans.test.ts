import { expect, test } from "@jest/globals";
import { planFilter, planSort, source } from "../query/plan.ts";
import type { Sort } from "../query/sort.ts";
import type { RawObject } from "../query/values.ts";
import { ownFile } from "./own-file.ts";

const { statements, schema, rows } = await ownFile();
const index = (name: string, key: Sort, sparse = false) =>
  schema.createIndexes("d", [{ name, key, unique: false, sparse }]);
index("poll", [
  ["t", 1],
  ["state", 1],
  ["agent", 1],
  ["priority", -1],
  ["at", 1],
]);
index("event", [
  ["t", 1],
  ["event", 1],
]);
index("due", [["due", 1]], true);
index("tags", [
  ["t", 1],
  ["tags", 1],
]);
const table = schema.table("d");
const row = { _id: "1", t: "a", tags: ["x"] };
rows.insert(table, row);

/** Explains how SQLite finds the rows. */
function explain(filter: RawObject, sort: Sort = []): { plan: string; exact: boolean } {
  const plan = planFilter(table, filter);
  const order = planSort(table, sort);
  const sql = `EXPLAIN QUERY PLAN SELECT doc FROM ${source(table, plan, sort)}${order ? ` ORDER BY ${order}` : ""}`;
  const steps = statements.rows<[number, number, number, string]>(sql, ...plan.params);
  return { plan: steps.map(([, , , step]) => step).join("; "), exact: plan.exact };
}

test.each<[string, RawObject, Sort, RegExp]>([
  [
    "a poll walks its index in order",
    { t: "a", agent: "g", state: "ready" },
    [
      ["priority", -1],
      ["at", 1],
    ],
    /^SEARCH d_d USING INDEX i_d#poll \(k_t=\? AND k_state=\? AND k_agent=\?\)$/,
  ],
  [
    "an _id between two others beats every other index",
    { t: "a", state: "ready", _id: { $gt: "x-", $lt: "x." } },
    [],
    /^SEARCH d_d USING INDEX i_d#_id_ \(_id>\? AND _id<\?\)$/,
  ],
  [
    "an _id beats every other index",
    { t: "a", state: "ready", _id: "1" },
    [],
    /^SEARCH d_d USING INDEX i_d#_id_ \(_id=\?\)$/,
  ],
  [
    "a list of _ids too",
    { t: "a", state: "ready", _id: { $in: ["1", "2", "3"] } },
    [],
    /^SEARCH d_d USING INDEX i_d#_id_ \(_id=\?\)$/,
  ],
  [
    "a long list of _ids too",
    { t: "a", _id: { $in: Array.from({ length: 2_000 }, String) } },
    [],
    /SEARCH d_d USING INDEX i_d#_id_ \(_id=\?\)/,
  ],
  ["the index with the most given keys", { event: "e", t: "a" }, [], /i_d#event \(k_t=\? AND k_event=\?\)$/],
  [
    "a range of times on a sparse index",
    { due: { $lte: { $: 5 } } },
    [["due", 1]],
    /^SEARCH d_d USING INDEX i_d#due \(k_due>\? AND k_due<\?\)$/,
  ],
  [
    "a count of a tenant's rows by state",
    { t: "a", state: { $in: ["ready", "leased"] } },
    [],
    /i_d#poll \(k_t=\? AND k_state=\?\)$/,
  ],
  [
    "elements of arrays by the side table",
    { t: "a", tags: "x" },
    [],
    /USING INTEGER PRIMARY KEY.*SEARCH m_d#tags USING PRIMARY KEY \(k0=\? AND k1=\?\)/,
  ],
  [
    "each branch of an $or by its own index",
    { $or: [{ t: "a", event: "e" }, { due: { $: 1 } }] },
    [],
    /MULTI-INDEX OR.*i_d#event.*i_d#due/,
  ],
  [
    "an _id in each branch of an $or beats every other index",
    { t: "a", $or: [{ _id: { $gt: "x-", $lt: "x." } }, { _id: { $gt: "y-", $lt: "y." } }] },
    [],
    /^MULTI-INDEX OR(; INDEX \d; SEARCH d_d USING INDEX i_d#_id_ \(_id>\? AND _id<\?\)){2}$/,
  ],
])("%s", (_name, filter, sort, expected) => {
  const { plan, exact } = explain(filter, sort);
  expect(plan).toMatch(expected);
  expect(plan).not.toMatch(/TEMP B-TREE|SCAN d_d/);
  expect(exact).toBe(true);
});

test("what only a document tells is left to the filter", () => {
  expect(explain({ t: "a", other: 1 }).exact).toBe(false);
  expect(explain({ t: { $exists: true } }).exact).toBe(false);
});
