import {
  type Column,
  type Index,
  indexIdentifier,
  isMultikey,
  sideTable,
  type Table,
} from "../tables/catalog.ts";
import { documentOf } from "../tables/out-of-line.ts";
import {
  type Access,
  type Condition,
  compileConditions,
  conditionOfText,
  inList,
  sideKey,
} from "./conditions.ts";
import { clauses, isOperators } from "./filter.ts";
import type { Sort } from "./sort.ts";
import type { Key, Raw, RawObject } from "./values.ts";

/**
 * The part of a filter that SQL can answer. The selected rows include every match; unless `exact`, each must also pass
 * the compiled filter.
 */
export type Plan = {
  /** A condition for WHERE; empty: all rows. */
  sql: string;
  params: Key[];
  exact: boolean;
  /** The index accesses that hold for every selected row. */
  accesses: Access[];
  /** True if a side table provides the rows. */
  named: boolean;
};

/** Plans a filter by the columns and side tables of a table. */
export function planFilter(table: Table, filter: RawObject): Plan {
  const plan: Plan = { sql: "", params: [], exact: true, accesses: [], named: false };
  for (const key of Object.keys(filter)) {
    const value = filter[key] as Raw;
    if (key === "$and") for (const clause of clauses(key, value)) merge(plan, planFilter(table, clause));
    else if (key === "$or") merge(plan, planOr(table, clauses(key, value)));
    else if (key[0] === "$") plan.exact = false;
    else planPath(table, key, value, filter, plan);
  }
  return plan;
}

function merge(plan: Plan, other: Plan | undefined): void {
  if (!other?.exact) plan.exact = false;
  if (!other) return;
  add(plan, other);
  plan.accesses.push(...other.accesses);
  plan.named ||= other.named;
}

/** Adds a condition to a plan; a missing one restricts nothing and makes the plan inexact. */
function add(plan: Plan, condition: (Omit<Condition, "access"> & { access?: Access }) | undefined): void {
  if (!condition?.exact) plan.exact = false;
  if (!condition || condition.sql === "") return;
  plan.sql += plan.sql === "" ? condition.sql : ` AND ${condition.sql}`;
  for (const param of condition.params) plan.params.push(param);
  if (condition.access) plan.accesses.push(condition.access);
}

function planOr(table: Table, branches: RawObject[]): Plan | undefined {
  const plans = branches.map((branch) => planFilter(table, branch));
  if (plans.some((plan) => plan.sql === "")) return undefined;
  return {
    sql: `(${plans.map((plan) => `(${plan.sql})`).join(" OR ")})`,
    params: plans.flatMap((plan) => plan.params),
    exact: plans.every((plan) => plan.exact),
    accesses: plans.every(({ accesses }) => accesses.some(isById)) ? [{ path: "_id", kind: "between" }] : [],
    named: false,
  };
}

/** Of each branch of an `$or`: SQLite then enters the index of ids once for each. */
const isById = ({ path, kind }: Access) => path === "_id" && kind !== "range" && kind !== "null";

function planPath(table: Table, path: string, value: Raw, filter: RawObject, plan: Plan): void {
  const column = table.columns.get(path);
  if (!column) {
    const field = path.split(".")[0] as string;
    const document = documentOf(table, (each) => each === field && each !== table.outOfLine);
    add(plan, field === table.outOfLine ? undefined : conditionOfText(document, value));
  } else if (column.many) {
    const lookup = planMany(table, column, value, filter);
    add(plan, lookup);
    plan.named ||= lookup !== undefined;
  } else {
    for (const condition of compileConditions(column, isOperators(value) ? value : { $eq: value }))
      add(plan, condition);
  }
}

/** Returns the values that a condition allows at a path, if it requires nothing else. */
function wantedKeys(value: Raw | undefined): Key[] | undefined {
  if (value === undefined) return undefined;
  if (!isOperators(value)) return keysFor([value]);
  const names = Object.keys(value);
  if (names.length !== 1) return undefined;
  if (names[0] === "$eq") return keysFor([value.$eq as Raw]);
  return names[0] === "$in" && Array.isArray(value.$in) ? keysFor(value.$in) : undefined;
}

function keysFor(values: Raw[]): Key[] | undefined {
  const keys = values.map(sideKey);
  return keys.includes(undefined) ? undefined : (keys as Key[]);
}

/** Looks a value up in the side table of the index with the longest wanted prefix. */
function planMany(table: Table, column: Column, value: Raw, filter: RawObject): Condition | undefined {
  const wanted = wantedKeys(value);
  if (!wanted || wanted.length === 0) return undefined;
  let best: { index: Index; keys: Key[][] } | undefined;
  for (const index of table.indexes) {
    if (!isMultikey(table, index)) continue;
    const keys = prefixKeys(table, index, column, filter);
    const covers = keys.length > index.key.findIndex(([path]) => path === column.path);
    if (
      covers &&
      index.key.some(([path]) => path === column.path) &&
      keys.length > (best?.keys.length ?? 0)
    ) {
      best = { index, keys };
    }
  }
  if (!best) return undefined;
  const where = best.keys.map((list, i) => inList({ sql: `k${i}`, path: "" }, list));
  return {
    sql: `rid IN (SELECT rid FROM ${sideTable(table, best.index)} WHERE ${where.map((c) => c.sql).join(" AND ")})`,
    params: where.flatMap((c) => c.params),
    exact: true,
  };
}

// A document has one entry per array element, so only one array path may take part in a lookup.
function prefixKeys(table: Table, index: Index, wanted: Column, filter: RawObject): Key[][] {
  const keys: Key[][] = [];
  for (const [path] of index.key) {
    if (path !== wanted.path && table.columns.get(path)?.many) break;
    const found = Object.hasOwn(filter, path) ? wantedKeys(filter[path]) : undefined;
    if (!found || found.length === 0) break;
    keys.push(found);
  }
  return keys;
}

/** Returns ORDER BY terms if columns give MongoDB's order, else `undefined`. */
export function planSort(table: Table, sort: Sort): string | undefined {
  const terms: string[] = [];
  for (const [path, direction] of sort) {
    const column = table.columns.get(path);
    if (!column || column.many || column.odd) return undefined;
    terms.push(direction === 1 ? column.sql : `${column.sql} DESC`);
  }
  return terms.join(", ");
}

/** Returns FROM and WHERE of a plan. */
export function source(table: Table, plan: Plan, sort: Sort): string {
  return `${fromClause(table, plan, sort)}${plan.sql && ` WHERE ${plan.sql}`}`;
}

/**
 * Returns the table for FROM, with the index to use: without statistics, SQLite would take the first index that fits.
 * An `_id`, or a range of them, comes first, then rows from a side table, then the longest prefix of given keys,
 * preferring an index that also provides the order.
 */
export function fromClause(table: Table, plan: Plan, sort: Sort): string {
  const kinds = new Map(plan.accesses.map(({ path, kind }) => [path, kind]));
  const id = kinds.get("_id");
  if (id === "equal" || id === "among" || id === "between")
    return `${table.sql} INDEXED BY ${indexIdentifier(table, "_id_")}`;
  if (plan.named) return `${table.sql} NOT INDEXED`;
  let best = { score: 0, name: "" };
  for (const index of table.indexes) {
    if (isMultikey(table, index)) continue;
    const score = fitness(index, kinds, sort);
    if (score > best.score) best = { score, name: index.name };
  }
  return best.name === "" ? table.sql : `${table.sql} INDEXED BY ${indexIdentifier(table, best.name)}`;
}

// 0 without a given leading key: then SQLite decides, and a sort may still select an index.
function fitness(index: Index, kinds: Map<string, Access["kind"]>, sort: Sort): number {
  // A sparse index of one key omits missing values (see Schema.#build), so it cannot find them.
  if (index.sparse && index.key.length === 1 && kinds.get(index.key[0]?.[0] as string) === "null") return 0;
  let given = 0;
  while (given < index.key.length && isPoint(kinds.get((index.key[given] as Sort[number])[0]))) given++;
  const complete = index.unique && given === index.key.length;
  const next = index.key[given]?.[0];
  const kind = next === undefined ? undefined : kinds.get(next);
  const ranged = kind === "range" || kind === "between";
  if (given === 0 && !ranged) return 0;
  const single = index.key.slice(0, given).every(([path]) => isOne(kinds.get(path)));
  const ordered = single && sort.length > 0 && gives(index.key.slice(given), sort);
  // The keys of a single-key sparse index are rare, for example pending entries among all past ones.
  const rare = index.sparse && index.key.length === 1;
  const fit = given * 8 + (ranged ? 4 : 0) + (ordered ? 3 : 0) + (rare ? 8 : 0);
  return fit + (complete ? 1_000 : 0) + 1 / (index.key.length + 1);
}

function isPoint(kind: Access["kind"] | undefined): boolean {
  return isOne(kind) || kind === "among";
}

function isOne(kind: Access["kind"] | undefined): boolean {
  return kind === "equal" || kind === "null";
}

function gives(keys: Sort, sort: Sort): boolean {
  if (sort.length > keys.length) return false;
  const forward = sort[0]?.[1] === keys[0]?.[1];
  return sort.every(
    ([path, direction], i) => path === keys[i]?.[0] && (direction === keys[i]?.[1]) === forward,
  );
}
