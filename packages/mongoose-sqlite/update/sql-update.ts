import { fromClause, type Plan, source } from "../query/plan.ts";
import { isDocument, isOdd, type Key, type Maybe, type Raw, type RawObject, toKey } from "../query/values.ts";
import type { Column, Index, Table } from "../tables/catalog.ts";
import { columnOf, type Packed, type PackedField, toColumn } from "../tables/packed.ts";
import { isConstraint } from "../tables/schema.ts";
import type { Statements } from "../tables/statements.ts";

/** An SQL expression, or a list of them, with its parameters. */
type Fragment = { sql: string; params: Key[] };

/**
 * An update as SQL: one statement instead of a round trip of each document through JavaScript, which costs five times
 * as much. Gives exactly the text of `compileUpdate`, or `null` for a document that it does not apply to.
 */
export type SqlUpdate = {
  /** The SQL identifiers of columns with their new values: `doc`, which is NULL for a document that it does not fit, first. */
  sets: { column: string; value: Fragment }[];
  /** A condition for the documents that it changes; undefined: all that it applies to. */
  differs: Fragment | undefined;
};

/** How many documents match a filter, and how many of them the update changed. */
export type Updated = { matched: number; modified: number };

/** Additions of an operator on one path to the statement. */
type Change = {
  /** Arguments of `json_set`. */
  sets?: Fragment[];
  /** An argument of `json_remove`. */
  removed?: Fragment;
  /** Conditions on the document without which only JavaScript can update it. */
  guards?: Fragment[];
  key?: Key;
  certain?: boolean;
};
type Operator = (path: string, operand: Raw, isColumn: boolean) => Change | undefined;

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
  if (table.packed) return packedUpdate(table, table.packed, update, filter);
  const changes: Change[] = [];
  const columns: { column: Column; key: Key }[] = [];
  for (const name of Object.keys(update)) {
    const fields = update[name] as RawObject;
    for (const path of Object.keys(fields)) {
      const change = toChange(table, name, path, fields[path] as Raw);
      if (!change) return undefined;
      changes.push(change);
      const column = table.columns.get(path);
      if (column) columns.push({ column, key: change.key as Key });
    }
  }
  const document = toDocument(changes);
  if (!document || hasConflict(update)) return undefined;
  const certain =
    changes.some((change) => change.certain) ||
    columns.some(({ column, key }) => isOther(filter[column.path], key));
  // A column that loses its value implies a change, and is cheaper to look at than the document.
  const emptied = columns.filter(({ key }) => key === null).map(({ column }) => `${column.sql} IS NOT NULL`);
  const differs = [...emptied, `doc IS NOT ${document.sql}`].join(" OR ");
  return {
    sets: [
      { column: "doc", value: document },
      ...columns.map(({ column, key }) => ({ column: column.sql, value: { sql: "?", params: [key] } })),
    ],
    differs: certain ? undefined : { sql: differs, params: document.params },
  };
}

/** The same for packed rows: NULL is the document of any other. */
function packedUpdate(
  table: Table,
  { fields }: Packed,
  update: RawObject,
  filter: RawObject,
): SqlUpdate | undefined {
  if (hasConflict(update)) return undefined;
  const changes: PackedChange[] = [];
  for (const name of Object.keys(update)) {
    const operands = update[name] as RawObject;
    for (const path of Object.keys(operands)) {
      const field = fields.find((each) => each.path === path);
      if (!field || !isSimple(table, path, operands[path])) return undefined;
      const change = PACKED_OPERATORS[name]?.(field, operands[path] as Raw, filter[path]);
      if (!change) return undefined;
      changes.push(change);
    }
  }
  const fits = ["doc = ''", ...changes.flatMap(({ guard }) => guard ?? [])].join(" AND ");
  const differing = changes.map(({ column, value }) => `${column} IS NOT ${value.sql}`);
  return {
    sets: [{ column: "doc", value: { sql: `CASE WHEN ${fits} THEN '' END`, params: [] } }, ...changes],
    differs: changes.some(({ certain }) => certain)
      ? undefined
      : {
          sql: [`(${fits}) IS NOT 1`, ...differing].join(" OR "),
          params: changes.flatMap(({ value }) => value.params),
        },
  };
}

type PackedChange = SqlUpdate["sets"][number] & { guard?: string; certain?: boolean };
/** @param wanted what the filter requires at the path */
type PackedOperator = (field: PackedField, operand: Raw, wanted: Maybe) => PackedChange | undefined;

const PACKED_OPERATORS: Record<string, PackedOperator | undefined> = {
  $set(field, operand, wanted) {
    const key = toColumn(field, operand);
    if (key === undefined) return undefined;
    return { column: columnOf(field), value: { sql: "?", params: [key] }, certain: isOther(wanted, key) };
  },
  $unset(field) {
    return field.empty === "absent"
      ? { column: columnOf(field), value: { sql: "NULL", params: [] } }
      : undefined;
  },
  $inc(field, operand) {
    if (field.kind !== "number" || !isSmall(operand)) return undefined;
    const column = columnOf(field);
    return {
      column,
      value: { sql: `CAST(${column} AS INTEGER) + CAST(? AS INTEGER)`, params: [operand] },
      guard: `${column} BETWEEN -${LARGEST_SUM} AND ${LARGEST_SUM}`,
      certain: operand !== 0,
    };
  },
  $push(field, operand) {
    const appended = toAppended(operand);
    if (field.kind !== "json" || !appended) return undefined;
    const column = columnOf(field);
    const items = appended.items.map(() => ", '$[#]', json(?)");
    const room = appended.room === undefined ? "" : ` AND json_array_length(${column}) <= ${appended.room}`;
    return {
      column,
      value: {
        sql: `json_insert(${column}${items.join("")})`,
        params: appended.items.map((item) => JSON.stringify(item)),
      },
      guard: `json_type(${column}) IS 'array'${room}`,
      certain: items.length > 0,
    };
  },
};

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
  return (typeof wanted === "string" || typeof wanted === "number") && toKey(wanted) !== key;
}

function toDocument(changes: Change[]): Fragment | undefined {
  const sets = changes.flatMap((change) => change.sets ?? []);
  const removed = changes.flatMap((change) => change.removed ?? []);
  const guards = changes.flatMap((change) => change.guards ?? []);
  if (Math.max(sets.length, removed.length) > MAX_SETS) return undefined;
  const list = (fragments: Fragment[], separator = ", ") => fragments.map(({ sql }) => sql).join(separator);
  let sql = sets.length > 0 ? `json_set(doc, ${list(sets)})` : "doc";
  if (removed.length > 0) sql = `json_remove(${sql}, ${list(removed)})`;
  if (guards.length > 0) sql = `CASE WHEN ${list(guards, " AND ")} THEN ${sql} END`;
  return { sql, params: [...guards, ...sets, ...removed].flatMap(({ params }) => params) };
}

/** Returns one change; `undefined` where only JavaScript can apply it. */
function toChange(table: Table, name: string, path: string, operand: Raw): Change | undefined {
  const [, holder, index, key] = INNER.exec(path) ?? [];
  if (holder === undefined) {
    if (!PLAIN.test(path) || !isSimple(table, path, operand)) return undefined;
    return OPERATORS[name]?.(path, operand, table.columns.has(path));
  }
  if (table.columns.has(holder) || !isSimple(table, holder)) return undefined;
  if (index !== undefined) return name === "$set" ? setElement(holder, Number(index), operand) : undefined;
  const guards = [
    {
      sql: `json_type(doc, '$.${holder}') IS 'object' AND json_type(doc, '$.${holder}."$"') IS NULL`,
      params: [],
    },
  ];
  // Paths are bound: otherwise each of hundreds of them would be a separate statement.
  if (name === "$set") return { guards, sets: [setAt(`$.${holder}.${key}`, operand)] };
  return name === "$unset" ? { guards, removed: { sql: "?", params: [`$.${holder}.${key}`] } } : undefined;
}

function setElement(holder: string, index: number, operand: Raw): Change {
  const guards = [{ sql: `json_array_length(doc, '$.${holder}') > ?`, params: [index] }];
  return { guards, sets: [setAt(`$.${holder}[${index}]`, operand)] };
}

function setAt(path: string, operand: Raw): Fragment {
  return { sql: "?, json(?)", params: [path, JSON.stringify(operand)] };
}

/**
 * True if a change at a path affects at most one column, and no unique index in which missing values are equal. A
 * violation of another one is left to JavaScript, which names it.
 */
function isSimple(table: Table, path: string, operand?: Raw): boolean {
  if (path === "_id" || path === table.outOfLine || table.columns.get(path)?.many) return false;
  for (const column of table.columns.keys()) if (column.startsWith(`${path}.`)) return false;
  const isFree = ({ sparse, key }: Index) => sparse && key.length === 1 && operand !== null;
  return !table.indexes.some(
    (index) => index.unique && !isFree(index) && index.key.some(([key]) => key === path),
  );
}

function set(path: string, operand: Raw, isColumn: boolean): Change | undefined {
  if (isColumn && (Array.isArray(operand) || isOdd(operand))) return undefined;
  return {
    sets: [{ sql: `'$.${path}', json(?)`, params: [JSON.stringify(operand)] }],
    key: isColumn ? toKey(operand) : null,
  };
}

function unset(path: string): Change {
  return { removed: { sql: `'$.${path}'`, params: [] }, key: null };
}

const LARGEST_INC = 2 ** 31;
const LARGEST_SUM = 2 ** 52;

/** Integers only: SQLite formats other numbers differently from JavaScript. */
function isSmall(operand: Raw): operand is number {
  return Number.isInteger(operand) && Math.abs(operand as number) <= LARGEST_INC;
}

function inc(path: string, operand: Raw, isColumn: boolean): Change | undefined {
  if (isColumn || !isSmall(operand)) return undefined;
  const held = `json_extract(doc, '$.${path}')`;
  const isInteger = `json_type(doc, '$.${path}') IS 'integer'`;
  return {
    guards: [{ sql: `${isInteger} AND ${held} BETWEEN -${LARGEST_SUM} AND ${LARGEST_SUM}`, params: [] }],
    // a number is bound as a float, which would make the sum a float
    sets: [{ sql: `'$.${path}', ${held} + CAST(? AS INTEGER)`, params: [operand] }],
    certain: operand !== 0,
  };
}

/** Appends to an array, as long as `$slice` cuts nothing off. */
function push(path: string, operand: Raw, isColumn: boolean): Change | undefined {
  const appended = toAppended(operand);
  if (isColumn || !appended) return undefined;
  const { items, room } = appended;
  const guards: Fragment[] = [{ sql: `json_type(doc, '$.${path}') IS 'array'`, params: [] }];
  if (room !== undefined) guards.push({ sql: `json_array_length(doc, '$.${path}') <= ${room}`, params: [] });
  const sets = items.map((item) => ({ sql: `'$.${path}[#]', json(?)`, params: [JSON.stringify(item)] }));
  return { guards, sets, certain: items.length > 0 };
}

/** Reads the operand of a push: the appended items, and the most items that an array may have before. */
function toAppended(operand: Raw): { items: Raw[]; room?: number } | undefined {
  const modified = isDocument(operand) && operand.$each !== undefined;
  const { $each: items, $slice, ...others } = (modified ? operand : { $each: [operand] }) as RawObject;
  if (!Array.isArray(items) || Object.keys(others).length > 0) return undefined;
  if ($slice === undefined) return { items };
  return ($slice as number) < 0 ? { items, room: -($slice as number) - items.length } : undefined;
}

const OPERATORS: Record<string, Operator | undefined> = { $set: set, $unset: unset, $inc: inc, $push: push };

/** Runs an update on the rows of an exact plan; `undefined`, with nothing changed, if one of them does not fit. */
export function runUpdate(
  statements: Statements,
  table: Table,
  plan: Plan,
  { sets, differs }: SqlUpdate,
): Updated | undefined {
  const where = [plan.sql, differs ? `(${differs.sql})` : ""].filter((condition) => condition !== "");
  const assignments = sets.map(({ column, value }) => `${column} = ${value.sql}`).join(", ");
  const from = fromClause(table, plan, []);
  const sql = `UPDATE ${from} SET ${assignments}${where.length ? ` WHERE ${where.join(" AND ")}` : ""}`;
  const params = [...sets.flatMap(({ value }) => value.params), ...plan.params, ...(differs?.params ?? [])];
  // Changed rows that still match the plan can be counted afterwards, if the count is needed.
  const countFirst = differs && sets.some(({ column }) => column !== "doc" && plan.sql.includes(column));
  try {
    const before = countFirst ? countRows(statements, table, plan) : undefined;
    const modified = statements.run(sql, ...params);
    if (!differs || modified === maxRows(plan)) return { matched: modified, modified };
    return { matched: before ?? countRows(statements, table, plan), modified };
  } catch (error) {
    if (isUnfit(error)) return undefined;
    throw error;
  }
}

/** Returns the most rows that a plan can select. */
function maxRows({ accesses }: Plan): number {
  return accesses.find(({ path }) => path === "_id")?.keys ?? Number.POSITIVE_INFINITY;
}

function countRows(statements: Statements, table: Table, plan: Plan): number {
  const sql = `SELECT count(*) FROM ${source(table, plan, [])}`;
  return (statements.row<[number]>(sql, ...plan.params) as [number])[0];
}

/** A guard returned NULL, which `doc` refuses, a unique key is taken, or the document is nested too deeply for SQLite. */
function isUnfit(error: unknown): boolean {
  return isConstraint(error) || (error as Error).message === "malformed JSON";
}
