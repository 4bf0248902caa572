import { fromClause, type Plan, source } from "../query/plan.ts";
import { isDocument, isOdd, type Key, keyOf, type Maybe, type Raw, type RawObject } from "../query/values.ts";
import type { Column, Table } from "../tables/catalog.ts";
import { isConstraint } from "../tables/indexes.ts";
import type { Statements } from "../tables/statements.ts";

/**
 * An update as SQL: one statement instead of a round trip of each document through JavaScript, which costs five times
 * as much. Gives exactly the text of `compileUpdate`, or `null` for a document that it does not apply to.
 */
export type SqlUpdate = {
  /** The updated document as an SQL expression over the stored one. */
  document: string;
  params: Key[];
  /** SQL identifiers of the columns that change. */
  changed: string[];
  /** ` , column = ?` for each of them. */
  columns: string;
  columnParams: Key[];
  /** True if it changes every document that it applies to. */
  certain: boolean;
  /** A condition cheaper than comparing documents that implies a change; empty if none is known. */
  hint: string;
};

/** How many documents match a filter, and how many of them the update changed. */
export type Updated = { matched: number; modified: number };

type Clauses = {
  sets: string[];
  params: Key[];
  removed: string[];
  removedParams: Key[];
  guards: string[];
  guardParams: Key[];
  columns: { column: Column; key: Key }[];
  certain: boolean;
  hints: string[];
};
type Operator = (path: string, operand: Raw, parts: Clauses, column: Column | undefined) => boolean;

// Needs no quoting in a JSON path, and is not a number, which JavaScript would sort before all other keys.
const PLAIN = /^[A-Za-z_]\w*$/;
/** An element of an array, or a field of an embedded document. */
const INNER = /^([A-Za-z_]\w*)\.(?:(0|[1-9]\d{0,5})|([A-Za-z_]\w*))$/;

/** Each set takes two arguments of one function, and every SQLite build allows 127. */
const MAX_SETS = 60;

/**
 * Compiles an update to SQL; `undefined` where only JavaScript can apply it, or report why it is refused.
 *
 * @param filter matched by the documents to update
 */
export function sqlUpdate(table: Table, update: RawObject, filter: RawObject = {}): SqlUpdate | undefined {
  const parts: Clauses = {
    sets: [],
    params: [],
    removed: [],
    removedParams: [],
    guards: [],
    guardParams: [],
    columns: [],
    certain: false,
    hints: [],
  };
  for (const name of Object.keys(update)) {
    const operator = OPERATORS[name];
    const fields = update[name] as RawObject;
    if (!operator) return undefined;
    for (const path of Object.keys(fields)) {
      if (!addChange(table, operator, path, fields[path] as Raw, parts)) return undefined;
    }
  }
  if (hasConflict(update) || Math.max(parts.sets.length, parts.removed.length) > MAX_SETS) return undefined;
  parts.certain ||= parts.columns.some(({ column, key }) => isOther(filter[column.path], key));
  return assemble(parts);
}

/** Whether two changes have the same path, or one's path contains the other's. */
function hasConflict(update: RawObject): boolean {
  const paths = Object.values(update).flatMap((fields) => Object.keys(fields as RawObject));
  const all = new Set(paths);
  return (
    all.size < paths.length ||
    paths.some((path) => path.includes(".") && all.has(path.slice(0, path.indexOf("."))))
  );
}

/** Whether a filter requires a path to equal something other than a key. */
function isOther(wanted: Maybe, key: Key): boolean {
  return (typeof wanted === "string" || typeof wanted === "number") && keyOf(wanted) !== key;
}

/** Adds one change to the parts; returns false where only JavaScript can apply it. */
function addChange(table: Table, operator: Operator, path: string, operand: Raw, parts: Clauses): boolean {
  const [, holder, index, key] = INNER.exec(path) ?? [];
  if (holder !== undefined) return addInnerChange(table, operator, { holder, index, key }, operand, parts);
  return PLAIN.test(path) && isSimple(table, path) && operator(path, operand, parts, table.columns.get(path));
}

/** True if a change at a path affects at most one column and no unique index. */
function isSimple(table: Table, path: string): boolean {
  if (path === "_id" || path === table.apart || table.columns.get(path)?.many) return false;
  for (const column of table.columns.keys()) if (column.startsWith(`${path}.`)) return false;
  return !table.indexes.some((index) => index.unique && index.key.some(([key]) => key === path));
}

function assemble(parts: Clauses): SqlUpdate {
  const { sets, params, removed, removedParams, guards, guardParams, columns, certain, hints } = parts;
  let document = sets.length > 0 ? `json_set(doc, ${sets.join(", ")})` : "doc";
  if (removed.length > 0) document = `json_remove(${document}, ${removed.join(", ")})`;
  if (guards.length > 0) document = `CASE WHEN ${guards.join(" AND ")} THEN ${document} END`;
  return {
    document,
    params: [...guardParams, ...params, ...removedParams],
    changed: columns.map(({ column }) => column.sql),
    columns: columns.map(({ column }) => `, ${column.sql} = ?`).join(""),
    columnParams: columns.map(({ key }) => key),
    certain,
    hint: hints.join(" OR "),
  };
}

function set(path: string, operand: Raw, parts: Clauses, column: Column | undefined): boolean {
  if (column) {
    if (Array.isArray(operand) || isOdd(operand)) return false;
    parts.columns.push({ column, key: keyOf(operand) });
  }
  parts.sets.push(`'$.${path}', json(?)`);
  parts.params.push(JSON.stringify(operand));
  return true;
}

type Inner = { holder: string; index: string | undefined; key: string | undefined };

/** Changes an existing array element, or a field of an existing embedded document. */
function addInnerChange(
  table: Table,
  operator: Operator,
  { holder, index, key }: Inner,
  operand: Raw,
  parts: Clauses,
): boolean {
  if (table.columns.has(holder) || !isSimple(table, holder)) return false;
  if (index !== undefined) {
    parts.guards.push(`json_array_length(doc, '$.${holder}') > ?`);
    parts.guardParams.push(Number(index));
  } else {
    parts.guards.push(
      `json_type(doc, '$.${holder}') IS 'object' AND json_type(doc, '$.${holder}."$"') IS NULL`,
    );
  }
  // Paths are bound: otherwise each of hundreds of elements would be a separate statement.
  const path = index === undefined ? `$.${holder}.${key}` : `$.${holder}[${index}]`;
  if (operator === set) {
    parts.sets.push("?, json(?)");
    parts.params.push(path, JSON.stringify(operand));
    return true;
  }
  parts.removed.push("?");
  parts.removedParams.push(path);
  return operator === unset && index === undefined;
}

function unset(path: string, _operand: Raw, parts: Clauses, column: Column | undefined): boolean {
  parts.removed.push(`'$.${path}'`);
  if (!column) return true;
  parts.columns.push({ column, key: null });
  parts.hints.push(`${column.sql} IS NOT NULL`);
  return true;
}

const LARGEST_INC = 2 ** 31;
const LARGEST_SUM = 2 ** 52;

/** Integers only: SQLite formats other numbers differently from JavaScript. */
function inc(path: string, operand: Raw, parts: Clauses, column: Column | undefined): boolean {
  if (column || !Number.isInteger(operand) || Math.abs(operand as number) > LARGEST_INC) return false;
  const held = `json_extract(doc, '$.${path}')`;
  parts.guards.push(
    `json_type(doc, '$.${path}') IS 'integer' AND ${held} BETWEEN -${LARGEST_SUM} AND ${LARGEST_SUM}`,
  );
  // a number is bound as a float, which would make the sum a float
  parts.sets.push(`'$.${path}', ${held} + CAST(? AS INTEGER)`);
  parts.params.push(operand as number);
  parts.certain ||= operand !== 0;
  return true;
}

/** Appends to an array, as long as `$slice` cuts nothing off. */
function push(path: string, operand: Raw, parts: Clauses, column: Column | undefined): boolean {
  const modified = isDocument(operand) && operand.$each !== undefined;
  const { $each, $slice, $position } = (modified ? operand : { $each: [operand] }) as RawObject;
  if (column || !Array.isArray($each) || $position !== undefined) return false;
  if ($slice !== undefined && !(($slice as number) < 0)) return false;
  parts.guards.push(`json_type(doc, '$.${path}') IS 'array'`);
  if ($slice !== undefined) {
    const room = -($slice as number) - $each.length;
    parts.guards.push(`json_array_length(doc, '$.${path}') <= ${room}`);
  }
  for (const item of $each) {
    parts.sets.push(`'$.${path}[#]', json(?)`);
    parts.params.push(JSON.stringify(item));
  }
  parts.certain ||= $each.length > 0;
  return true;
}

const OPERATORS: Record<string, Operator | undefined> = { $set: set, $unset: unset, $inc: inc, $push: push };

/** Runs an update on the rows of an exact plan; `undefined`, with nothing changed, if one of them does not fit. */
export function runUpdate(
  statements: Statements,
  table: Table,
  plan: Plan,
  update: SqlUpdate,
): Updated | undefined {
  const { document, params, columns, columnParams, certain, hint } = update;
  const differs = certain ? "" : `${hint && `${hint} OR `}doc IS NOT ${document}`;
  const conditions = [plan.sql, differs && `(${differs})`].filter((condition) => condition !== "");
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  const sql = `UPDATE ${fromClause(table, plan, [])} SET doc = ${document}${columns}${where}`;
  const given = [...params, ...columnParams, ...plan.params, ...(certain ? [] : params)];
  try {
    const before = certain || fitsAfterwards(plan, update) ? undefined : countOf(statements, table, plan);
    const modified = statements.run(sql, ...given);
    if (certain || modified === maxRows(plan)) return { matched: modified, modified };
    return { matched: before ?? countOf(statements, table, plan), modified };
  } catch (error) {
    if (isUnfit(error)) return undefined;
    throw error;
  }
}

/** Whether changed rows still match the plan, so that they can be counted afterwards if the count is needed. */
function fitsAfterwards(plan: Plan, { changed }: SqlUpdate): boolean {
  return !changed.some((column) => plan.sql.includes(column));
}

/** Returns the most rows that a plan can select. */
function maxRows({ accesses }: Plan): number {
  return accesses.find(({ path }) => path === "_id")?.keys ?? Number.POSITIVE_INFINITY;
}

function countOf(statements: Statements, table: Table, plan: Plan): number {
  const sql = `SELECT count(*) FROM ${source(table, plan, [])}`;
  return (statements.row<[number]>(sql, ...plan.params) as [number])[0];
}

/** A guard returned NULL, which `doc` refuses, or the document is nested too deeply for SQLite. */
function isUnfit(error: unknown): boolean {
  return isConstraint(error) || (error as Error).message === "malformed JSON";
}
