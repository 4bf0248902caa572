import { NotImplemented } from "../errors.ts";
import type { Sort } from "../query/sort.ts";

export type Options = Record<string, unknown>;

const REFUSED = [
  "session",
  "collation",
  "arrayFilters",
  "let",
  "min",
  "max",
  "returnKey",
  "showRecordId",
  "tailable",
  "explain",
];

/** Refuses, by name, options that would change the meaning of an operation. */
export function checkOptions(options: Options | undefined): Options {
  if (!options) return {};
  for (const name of REFUSED) {
    const value = options[name];
    if (value !== undefined && value !== null && value !== false)
      throw new NotImplemented(`the option ${name}`);
  }
  return options;
}

/** Normalizes the driver's forms of a sort: object, Map, list of pairs, name. */
export function sortOf(sort: unknown): Sort {
  if (sort === undefined || sort === null) return [];
  if (typeof sort === "string") return [[sort, 1]];
  const pairs = sort instanceof Map ? [...sort] : Array.isArray(sort) ? pairsOf(sort) : Object.entries(sort);
  return pairs.map(([path, direction]) => [path as string, directionOf(path as string, direction)]);
}

function pairsOf(sort: unknown[]): [unknown, unknown][] {
  if (typeof sort[0] === "string" && sort.length === 2 && !Array.isArray(sort[1]) && DIRECTIONS.has(sort[1]))
    return [[sort[0], sort[1]]];
  return sort.map((item) => (Array.isArray(item) ? [item[0], item[1]] : [item, 1]));
}

const DIRECTIONS = new Map<unknown, 1 | -1>([
  [1, 1],
  ["1", 1],
  ["asc", 1],
  ["ascending", 1],
  [-1, -1],
  ["-1", -1],
  ["desc", -1],
  ["descending", -1],
]);

function directionOf(path: string, direction: unknown): 1 | -1 {
  const found = DIRECTIONS.get(typeof direction === "string" ? direction.toLowerCase() : direction);
  if (!found) throw new NotImplemented(`the sort ${JSON.stringify(direction)} of ${path} (1 and -1 are)`);
  return found;
}
