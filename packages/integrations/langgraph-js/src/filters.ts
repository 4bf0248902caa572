/** The conditions of searches and of lists of namespaces, as LangGraph defines them. */
import { isDeepStrictEqual } from "node:util";
import type { MatchCondition } from "@langchain/langgraph-checkpoint";

type Values = Record<string, unknown>;
type Ordered = string | number;

const OPERATORS: Record<string, (value: unknown, limit: unknown) => boolean> = {
  $eq: isDeepStrictEqual,
  $ne: (value, limit) => !isDeepStrictEqual(value, limit),
  $gt: (value, limit) => areOrdered(value, limit) && (value as Ordered) > (limit as Ordered),
  $gte: (value, limit) => areOrdered(value, limit) && (value as Ordered) >= (limit as Ordered),
  $lt: (value, limit) => areOrdered(value, limit) && (value as Ordered) < (limit as Ordered),
  $lte: (value, limit) => areOrdered(value, limit) && (value as Ordered) <= (limit as Ordered),
};

/** Whether a value has these fields: each equal to what is given, or as its operators say. @throws TypeError */
export function matchesAll(value: Values, conditions: Values = {}): boolean {
  return Object.entries(conditions).every(([name, wanted]) => matchesOne(value[name], wanted));
}

function matchesOne(value: unknown, wanted: unknown): boolean {
  if (!isValues(wanted)) return isDeepStrictEqual(value, wanted);
  if (!Object.keys(wanted).some((name) => name.startsWith("$")))
    return isValues(value) && matchesAll(value, wanted);
  return Object.entries(wanted).every(([name, limit]) => {
    const compare = OPERATORS[name];
    if (compare) return compare(value, limit);
    throw new TypeError(`${name} is no operator: expected one of ${Object.keys(OPERATORS).join(", ")}.`);
  });
}

type Value = string | number | boolean;
type Ranges = Partial<Record<"gt" | "gte" | "lt" | "lte", number>>;
/** The service's filter of metadata. */
export type MetadataFilter = Record<string, Value | ({ in?: Value[] } & Ranges)>;

/** Limits of the service's filter: keys, texts, and how many. */
const KEY = /^[^.$\p{Cc}]{1,64}$/u;
const MOST_TEXT = 200;
const MOST_KEYS = 10;
const RANGES: Record<string, keyof Ranges> = { $gt: "gt", $gte: "gte", $lt: "lt", $lte: "lte" };

/**
 * Returns the part of the conditions that the service filters by inside its search. It finds all that `matchesAll`
 * accepts and perhaps more, such as a list with the value.
 */
export function metadataFilter(conditions: Values = {}): MetadataFilter | undefined {
  const found = Object.entries(conditions)
    .filter(([name]) => KEY.test(name))
    .map(([name, wanted]) => [name, conditionOf(wanted)] as const)
    .filter(([, condition]) => condition !== undefined)
    .slice(0, MOST_KEYS);
  return found.length > 0 ? (Object.fromEntries(found) as MetadataFilter) : undefined;
}

function conditionOf(wanted: unknown): MetadataFilter[string] | undefined {
  if (isValue(wanted)) return wanted;
  if (!isValues(wanted)) return undefined;
  const parts = Object.entries(wanted).map(([name, limit]) => {
    if (name === "$eq" && isValue(limit)) return { in: [limit] };
    const range = RANGES[name];
    return range && typeof limit === "number" && Number.isFinite(limit) ? { [range]: limit } : {};
  });
  const condition = Object.assign({}, ...parts);
  return Object.keys(condition).length > 0 ? condition : undefined;
}

function isValue(value: unknown): value is Value {
  if (typeof value === "string") return [...value].length <= MOST_TEXT;
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A missing value, or one of another kind, is neither more nor less. */
function areOrdered(value: unknown, limit: unknown): boolean {
  return typeof value === typeof limit && (typeof value === "number" || typeof value === "string");
}

/** Whether a namespace begins, or ends, with a path, in which `*` is any label. */
export function matches(namespace: string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const from = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((wanted, at) => wanted === "*" || wanted === namespace[from + at]);
}
