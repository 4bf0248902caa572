import { isDocument, type Maybe, type RawObject } from "./values.ts";

const INDEX = /^(0|[1-9]\d*)$/;

/** True if a path component can be an array position. */
export function isIndex(part: string): boolean {
  return INDEX.test(part);
}

const split = new Map<string, string[]>();

/** Returns the components of a dotted path (cached: paths come from code, not from users' data). */
export function parts(path: string): string[] {
  let found = split.get(path);
  if (!found) {
    if (split.size > 10_000) split.clear();
    found = path.split(".");
    split.set(path, found);
  }
  return found;
}

function own(value: RawObject, key: string): Maybe {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Walks `path` as MongoDB's filters do: through embedded documents, the documents of an array (one level) and by
 * position. True as soon as `leaf` accepts a value; a path that ends early yields `undefined`.
 */
export function anyAt(value: Maybe, path: string[], at: number, leaf: (value: Maybe) => boolean): boolean {
  if (at === path.length) return leaf(value);
  const part = path[at] as string;
  if (isDocument(value)) return anyAt(own(value, part), path, at + 1, leaf);
  if (!Array.isArray(value)) return leaf(undefined);
  if (isIndex(part) && Number(part) < value.length && anyAt(value[Number(part)], path, at + 1, leaf))
    return true;
  for (const element of value) {
    if (isDocument(element) && anyAt(element, path, at, leaf)) return true;
  }
  return false;
}

/** The value of an indexed path that passes through or ends in an array. */
export const MANY: unique symbol = Symbol("many");

/** Returns the scalar at a path, `undefined` if missing, `MANY` if an array is at it or on the way. */
export function scalarAt(document: RawObject, path: string[]): Maybe | typeof MANY {
  let value: Maybe = document;
  for (let i = 0; i < path.length; i++) {
    if (!isDocument(value)) return Array.isArray(value) ? MANY : undefined;
    value = own(value, path[i] as string);
  }
  return Array.isArray(value) ? MANY : value;
}

/** Returns all values at a path, arrays element by element, one level deep; `undefined` where one is missing. */
export function valuesAt(document: RawObject, path: string[]): Maybe[] {
  const found: Maybe[] = [];
  anyAt(document, path, 0, (value) => {
    if (Array.isArray(value)) found.push(...value);
    else found.push(value);
    return false;
  });
  return found;
}
