import { type Static, type TObject, Type } from "typebox";
import { expectation, invalidValue, quoted } from "../../../lib/contract/faults.ts";
import { compileCheck } from "../../../lib/contract/validator.ts";
import {
  comparable,
  type MetadataCondition,
  type MetadataRange,
  MOST_KEY,
} from "../../../lib/filter/metadata.ts";
import { oncePer } from "../../../lib/once-per.ts";
import type { SearchWhere, TimeBounds } from "../../../storage/search/entry.ts";
import {
  FILTER_TIMES,
  FILTER_VALUES,
  MetadataFilter,
  MOST_CONDITIONS,
  MOST_LABEL,
  type memoryFilters,
} from "./filters.contract.ts";

export type MemoryFilters = Static<TObject<typeof memoryFilters>>;

const values = Object.entries(FILTER_VALUES) as [
  keyof typeof FILTER_VALUES,
  { row: string; entry?: string },
][];
const times = Object.entries(FILTER_TIMES) as [
  keyof typeof FILTER_TIMES,
  (typeof FILTER_TIMES)[keyof typeof FILTER_TIMES],
][];

/** Returns the labels of a row's values in search, except of those that no filter can name. */
export function filterLabels(row: object): string[] {
  return values.flatMap(([name, { row: field, entry }]) => {
    const held = entry ? [] : [(row as Record<string, string | string[] | null>)[field] ?? []].flat();
    return held.filter(({ length }) => length <= MOST_LABEL).map((value) => `${name}:${value}`);
  });
}

/** Returns a search's conditions. */
export function toWhere(filters: MemoryFilters & { metadata?: Static<typeof MetadataFilter> }) {
  const conditions = values.flatMap(([name, { entry }]) => {
    const value = filters[name];
    return value === undefined ? [] : [{ name, entry, value }];
  });
  const { metadata } = filters;
  return {
    ...Object.fromEntries(conditions.flatMap(({ entry, value }) => (entry ? [[entry, value]] : []))),
    audience: conditions.flatMap(({ name, entry, value }) => (entry ? [] : [[`${name}:${value}`]])),
    times: Object.fromEntries(
      times.flatMap(([name, { entry }]) => {
        const bounds = boundsOf(filters[`${name}_from`], filters[`${name}_until`]);
        return bounds ? [[entry, bounds]] : [];
      }),
    ),
    ...(metadata && { metadata: toConditions(metadata) }),
  } satisfies SearchWhere;
}

/** Returns a list's conditions, without those of metadata. */
export function toClause(filters: MemoryFilters): object {
  return Object.fromEntries([
    ...values.flatMap(([name, { row }]) => (filters[name] === undefined ? [] : [[row, filters[name]]])),
    ...times.flatMap(([name, { row }]) => {
      const range = rangeOf(filters[`${name}_from`], filters[`${name}_until`]);
      return range ? [[row, range]] : [];
    }),
  ]);
}

/** Returns bounds of a time as a filter of rows; undefined without any. */
export function rangeOf(from?: string, until?: string): { $gte?: Date; $lt?: Date } | undefined {
  const range = { ...(from && { $gte: new Date(from) }), ...(until && { $lt: new Date(until) }) };
  return from || until ? range : undefined;
}

/** Returns bounds of a time for search; undefined without any. */
export function boundsOf(from?: string, until?: string): TimeBounds | undefined {
  const bounds = { ...(from && { since: Date.parse(from) }), ...(until && { until: Date.parse(until) }) };
  return from || until ? bounds : undefined;
}

const checkOf = oncePer((metadata: typeof MetadataFilter) => compileCheck(Type.Object({ metadata })));

/** Reads the filter of metadata of a query string. @throws Fault validation_failed */
export function readConditions(text: string): MetadataCondition[] {
  let metadata: unknown;
  try {
    metadata = JSON.parse(text);
  } catch {
    throw invalidValue("metadata", "metadata: expected an object as JSON.", {
      expected: "an object as JSON",
    });
  }
  const fault = checkOf(MetadataFilter)({ metadata });
  if (fault) throw fault;
  return toConditions(metadata as Static<typeof MetadataFilter>);
}

/** A dot or a dollar sign has a meaning in queries of some stores: none must come near one. */
const KEY = /^[^.$\p{Cc}]+$/u;

/** @throws Fault validation_failed for too many keys, one that cannot be named or has no condition, or bounds of different kinds */
function toConditions(filter: Static<typeof MetadataFilter>): MetadataCondition[] {
  const names = Object.keys(filter).length;
  if (names > MOST_CONDITIONS) {
    const expected = `at most ${MOST_CONDITIONS} keys`;
    throw invalidValue("metadata", expectation("metadata", expected, `${names}`), { expected });
  }
  return Object.entries(filter).flatMap(([key, condition]) => {
    if (!KEY.test(key) || [...key].length > MOST_KEY) {
      const expected = `a key of 1 to ${MOST_KEY} characters without dots, dollar signs and control characters`;
      throw invalidValue("metadata", expectation("metadata", expected, quoted(key)), { expected });
    }
    if (typeof condition !== "object") return [{ key, in: [condition] }];
    const { in: values, ...bounds } = condition;
    if (!values && Object.keys(bounds).length === 0) {
      const expected = "a value, or an object with in, gt, gte, lt or lte";
      throw invalidValue(`metadata.${key}`, expectation(`metadata.${key}`, expected, "{}"), { expected });
    }
    const range = toRange(key, bounds);
    return [...(values ? [{ key, in: values }] : []), ...(range ? [{ key, ...range }] : [])];
  });
}

function toRange(key: string, bounds: Record<string, string | number>): MetadataRange | undefined {
  const limits = Object.entries(bounds).map(([operator, bound]) => ({ operator, bound: comparable(bound) }));
  const kinds = new Set(limits.map(({ bound }) => bound?.of));
  const [of] = kinds;
  if (limits.length === 0) return undefined;
  if (kinds.size > 1 || of === undefined) {
    const expected = "numbers, or dates or times with their zone";
    throw invalidValue(`metadata.${key}`, `metadata.${key}: expected bounds of one kind: ${expected}.`, {
      expected,
    });
  }
  return { of, ...Object.fromEntries(limits.map(({ operator, bound }) => [operator, bound?.at])) };
}
