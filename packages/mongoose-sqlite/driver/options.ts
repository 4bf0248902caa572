import { NotImplemented } from "../errors.ts";
import type { Sort } from "../query/sort.ts";

export type Document = Record<string, unknown>;
export type Options = Document;

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
export function checkOptions(options: Options = {}, alsoRefused: string[] = []): Options {
  for (const name of [...REFUSED, ...alsoRefused]) {
    const value = options[name];
    if (value !== undefined && value !== null && value !== false)
      throw new NotImplemented(`the option ${name}`);
  }
  return options;
}

/** Returns the keys of a sort or an index, an object or a Map. */
export function toSort(sort: unknown): Sort {
  if (sort === undefined || sort === null) return [];
  if (typeof sort !== "object" || Array.isArray(sort))
    throw new NotImplemented(`the sort ${JSON.stringify(sort)} (objects are)`);
  const pairs: [string, unknown][] = sort instanceof Map ? [...sort] : Object.entries(sort);
  for (const [path, direction] of pairs) {
    if (direction !== 1 && direction !== -1)
      throw new NotImplemented(`the sort ${JSON.stringify(direction)} of ${path} (1 and -1 are)`);
  }
  return pairs as Sort;
}

type Class = { prototype: object };

/** Makes each method that `theirs`, a class of MongoDB's driver, has and `ours` lacks throw `NotImplemented`. */
export function refuseOthers(ours: Class, theirs: Class, label: string): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(theirs.prototype))) {
    if (typeof value !== "function" || name in ours.prototype) continue;
    const refuse = () => {
      throw new NotImplemented(`${label}.${name}`);
    };
    Object.defineProperty(ours.prototype, name, { value: refuse });
  }
}
