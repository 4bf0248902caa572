import type { Column } from "../tables/catalog.ts";
import { compileRegex } from "./filter.ts";
import {
  bracketOf,
  isDocument,
  isOdd,
  type Key,
  Rank,
  type Raw,
  type RawObject,
  toKey,
  typeRank,
} from "./values.ts";

/**
 * How an index is entered at a path: at one key, at missing ones, at several keys or at a range; and the number of
 * keys.
 */
export type Access = { path: string; kind: "equal" | "null" | "among" | "between" | "range"; keys?: number };

/** An SQL condition (empty: no restriction) with its parameters. If not exact, it selects further rows too. */
export type Condition = { sql: string; params: Key[]; exact: boolean; access?: Access };

/**
 * Bound as a parameter: SQLite would reduce a filter with a literal 0 to 0, and then refuse the sparse index named for
 * the rest.
 */
const NOTHING: Condition = { sql: "?", params: [0], exact: true };

/** Returns conditions on a scalar column, one per operator; `undefined` where SQL cannot help. */
export function compileConditions(column: Column, operators: RawObject): (Condition | undefined)[] {
  const found: (Condition | undefined)[] = [];
  const bounds: Bound[] = [];
  for (const name of Object.keys(operators)) {
    const operand = operators[name] as Raw;
    if (name === "$gt" || name === "$gte" || name === "$lt" || name === "$lte")
      bounds.push({ name, operand });
    else if (name !== "$options") found.push(compileCondition(column, name, operand, operators));
  }
  if (bounds.length > 0) found.push(range(column, bounds));
  return found;
}

function compileCondition(
  column: Column,
  name: string,
  operand: Raw,
  siblings: RawObject,
): Condition | undefined {
  switch (name) {
    case "$eq":
      return equal(column, operand);
    case "$in":
      return Array.isArray(operand) ? among(column, operand) : undefined;
    case "$ne":
      return different(column, [operand]);
    case "$nin":
      return Array.isArray(operand) ? different(column, operand) : undefined;
    case "$exists":
      return operand === false ? { ...isNull(column), exact: false } : undefined;
    case "$regex":
      return column.odd ? undefined : containsLiteral(column.sql, compileRegex(operand, siblings.$options));
    default:
      return undefined;
  }
}

function isNull(column: Column): Condition {
  return {
    sql: `${column.sql} IS NULL`,
    params: [],
    exact: !column.odd,
    access: { path: column.path, kind: "null" },
  };
}

function equal(column: Column, operand: Raw): Condition | undefined {
  if (operand === null) return isNull(column);
  if (Array.isArray(operand)) return NOTHING;
  const key = toKey(operand);
  return key === null ? undefined : inList(column, [key]);
}

/** Returns the key of a value in a side table or list; `undefined` if no key distinguishes it. */
export function sideKey(value: Raw): Key | undefined {
  if (value === null || Array.isArray(value)) return undefined;
  return toKey(value) ?? undefined;
}

function among(column: Column, list: Raw[]): Condition | undefined {
  const values = list.filter((item) => item !== null && !Array.isArray(item));
  const keys = values.map(sideKey);
  if (keys.includes(undefined)) return undefined;
  const listed = keys.length > 0 ? inList(column, keys as Key[]) : NOTHING;
  if (!list.includes(null)) return listed;
  return { sql: `(${listed.sql} OR ${column.sql} IS NULL)`, params: listed.params, exact: !column.odd };
}

function different(column: Column, list: Raw[]): Condition | undefined {
  const keys = list.filter((item) => item !== null && !Array.isArray(item)).map(sideKey);
  if (keys.includes(undefined)) return undefined;
  const notNull = list.includes(null);
  if (notNull && column.odd) return undefined;
  const present = notNull ? `${column.sql} IS NOT NULL` : "";
  if (keys.length === 0) return { sql: present, params: [], exact: true };
  const listed = inList(column, keys as Key[]);
  const sql = notNull ? `(NOT ${listed.sql} AND ${present})` : `(${listed.sql}) IS NOT 1`;
  return { sql, params: listed.params, exact: true };
}

const LONG_LIST = 1_000;

/** Returns `column IN (…)`. Pads lists to powers of two, so that few statement texts cover all lengths. */
export function inList({ sql, path }: Pick<Column, "sql" | "path">, keys: Key[]): Condition {
  if (keys.length === 1)
    return { sql: `${sql} = ?`, params: keys, exact: true, access: { path, kind: "equal", keys: 1 } };
  const access: Access = { path, kind: "among", keys: keys.length };
  if (keys.length > LONG_LIST) {
    return {
      sql: `${sql} IN (SELECT value FROM json_each(?))`,
      params: [JSON.stringify(keys)],
      exact: true,
      access,
    };
  }
  const params = [...keys];
  while ((params.length & (params.length - 1)) !== 0) params.push(keys[0] as Key);
  return { sql: `${sql} IN (?${",?".repeat(params.length - 1)})`, params, exact: true, access };
}

type Bound = { name: string; operand: Raw };
type Term = { operator: string; key: Key };

/** A range within one type; a missing bound is the bound of the type. */
function range(column: Column, bounds: Bound[]): Condition | undefined {
  const rank = typeRank((bounds[0] as Bound).operand);
  if (bounds.some((bound) => typeRank(bound.operand) !== rank)) return NOTHING;
  if (rank === Rank.null) return bounds.every((bound) => bound.name.endsWith("e")) ? isNull(column) : NOTHING;
  const bracket = bracketOf(rank);
  if (!bracket || bounds.some((bound) => isOdd(bound.operand))) return undefined;
  const lower = bounds.filter((bound) => bound.name[1] === "g").map(term);
  const upper = bounds.filter((bound) => bound.name[1] === "l").map(term);
  const kind = lower.length && upper.length ? "between" : "range";
  if (lower.length === 0 && bracket.low !== null) lower.push({ operator: ">=", key: bracket.low });
  if (upper.length === 0) upper.push({ operator: "<", key: bracket.high });
  const terms = [...lower, ...upper];
  const sql = terms.map((each) => `${column.sql} ${each.operator} ?`).join(" AND ");
  const params = terms.map((each) => each.key);
  return { sql: `(${sql})`, params, exact: true, access: { path: column.path, kind } };
}

const SIGNS: Record<string, string> = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" };

function term(bound: Bound): Term {
  return { operator: SIGNS[bound.name] as string, key: toKey(bound.operand) };
}

/** Returns a condition on a document's text, an SQL expression, for a path without a column; `undefined` where SQL cannot help. */
export function conditionOfText(document: string, asked: Raw): Condition | undefined {
  if (!isDocument(asked) || asked.$regex === undefined) return undefined;
  return containsLiteral(document, compileRegex(asked.$regex, asked.$options), (text) =>
    JSON.stringify(text).slice(1, -1),
  );
}

/** A pattern that is plain text, with its special characters escaped. */
const PLAIN = /^(?:[^\\^$.*+?()[\]{}|]|\\[^\w])+$/;
/** LIKE compares a long text again at every position. */
const LONGEST = 64;

/**
 * Finds a pattern's text anywhere in an SQL value; `toStored` gives its stored form. LIKE folds the case of ASCII only,
 * so other characters become wildcards, and the pattern itself is tested on the result.
 */
function containsLiteral(
  sql: string,
  regex: RegExp,
  toStored = (text: string) => text,
): Condition | undefined {
  if (!PLAIN.test(regex.source) || regex.source === "(?:)") return undefined;
  const text = regex.source.replace(/\\(.)/g, "$1").slice(0, LONGEST);
  if (!text.isWellFormed() || text.includes("\0")) return undefined;
  const like = toStored(text)
    .replace(/[\\%_]/g, "\\$&")
    .replace(/\P{ASCII}/gu, "_");
  return { sql: `${sql} LIKE ? ESCAPE '\\'`, params: [`%${like}%`], exact: false };
}
