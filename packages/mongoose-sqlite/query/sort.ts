import { anyAt, parts } from "./paths.ts";
import { compare, type Maybe, type RawObject } from "./values.ts";

/** Sort keys in order, each a dotted path with 1 (ascending) or -1. */
export type Sort = [path: string, direction: 1 | -1][];

/** Returns a document's sort key at one path: the least element of an array, or the greatest when descending. */
function sortKey(document: RawObject, path: string[], direction: 1 | -1): Maybe {
  let found = false;
  let best: Maybe;
  const offer = (value: Maybe) => {
    if (!found || compare(value, best) * direction < 0) best = value;
    found = true;
  };
  anyAt(document, path, 0, (value) => {
    if (!Array.isArray(value)) offer(value);
    else if (value.length === 0) offer(undefined);
    else value.forEach(offer);
    return false;
  });
  return best;
}

/** Returns a document's sort keys, for `compareKeys`. */
export function sortKeys(document: RawObject, sort: Sort): Maybe[] {
  return sort.map(([path, direction]) => sortKey(document, parts(path), direction));
}

export function compareKeys(a: Maybe[], b: Maybe[], sort: Sort): number {
  for (let i = 0; i < sort.length; i++) {
    const order = compare(a[i], b[i]);
    if (order !== 0) return order * (sort[i] as Sort[number])[1];
  }
  return 0;
}
