import { anyAt, parts } from "./paths.ts";
import { compare, type Maybe, type RawObject } from "./values.ts";

/** Sort keys in order, each a dotted path with 1 (ascending) or -1. */
export type Sort = [path: string, direction: 1 | -1][];

/** What a document sorts by at one path: of an array its least element, or its greatest when descending. */
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

/** The sort keys of a document, to be compared with `compareKeys`. */
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
