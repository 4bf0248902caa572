import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import { alternatives } from "./schemas.ts";

/**
 * What of a value is kept: `true` all as it is, `false` nothing, `rounded` a number with a few digits or a time to the
 * second, `unless empty` all but false and an empty list, else what is kept of its fields and items.
 */
export type Kept = boolean | "rounded" | "unless empty" | { fields?: Record<string, Kept>; items?: Kept };

/** Scores have sixteen digits, more than anybody needs. */
const DIGITS = 3;

/** Fields that say nothing to a caller: it belongs to one tenant. */
const OMITTED = new Set(["tenant_id"]);

/**
 * Returns what is kept of the values of a schema. Values that the schema leaves open are the callers' own and stay as they
 * are.
 *
 * @param paths of the kept fields, such as `results.memory.title`; lists are passed through. Default: all fields. One with a
 *   `?` at its end is kept unless it is empty.
 */
export function selectKept(schema: JsonSchema, paths?: readonly string[]): Kept {
  const parts = alternatives(schema);
  const items = parts.find((part) => part.items)?.items;
  const properties = parts.flatMap((part) => (part.properties ? [part.properties] : []));
  if (!items && properties.length === 0)
    return parts.some(({ type, format }) => type === "number" || format === "date-time") ? "rounded" : true;
  const fields = Object.entries(Object.assign({}, ...properties) as Record<string, JsonSchema>).map(
    ([name, part]) => [name, OMITTED.has(name) ? false : keptField(name, part, paths)],
  );
  return {
    ...(items && { items: selectKept(items, paths) }),
    ...(properties.length > 0 && { fields: Object.fromEntries(fields) }),
  };
}

function keptField(name: string, schema: JsonSchema, paths: readonly string[] | undefined): Kept {
  if (!paths || paths.includes(name)) return selectKept(schema);
  if (paths.includes(`${name}?`)) return "unless empty";
  const within = paths
    .filter((path) => path.startsWith(`${name}.`))
    .map((path) => path.slice(name.length + 1));
  return within.length > 0 && selectKept(schema, within);
}

/** Returns what is kept of a value, without nulls and, below its own fields, without empty lists and objects. */
export function prune(value: unknown, kept: Kept, isTop = true): unknown {
  if (kept === "rounded") return rounded(value);
  if (typeof kept !== "object" || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const { items = true } = kept;
    return value.map((item) => prune(item, items, false));
  }
  const { fields } = kept;
  if (!fields) return value;
  const left = Object.entries(value).flatMap(([name, field]) => {
    const own = fields[name];
    // Unknown to the schema: the caller's own.
    if (own === undefined) return [[name, field]];
    if (own === false || field === null) return [];
    if (own === "unless empty") return field === false || isEmpty(field) ? [] : [[name, field]];
    const small = prune(field, own, false);
    return typeof own === "object" && !isTop && isEmpty(small) ? [] : [[name, small]];
  });
  return Object.fromEntries(left);
}

function rounded(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toFixed(DIGITS));
  return typeof value === "string" ? value.replace(/\.\d+Z$/, "Z") : value;
}

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
