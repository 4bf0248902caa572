import { type Options, toSort } from "../driver/options.ts";
import { NotImplemented } from "../errors.ts";
import { encode } from "../query/codec.ts";
import type { RawObject } from "../query/values.ts";
import type { Index } from "./catalog.ts";

/** Options without effect in this store: builds are immediate, and nothing expires by itself. */
const ACCEPTED = new Set([
  "name",
  "unique",
  "sparse",
  "background",
  "expireAfterSeconds",
  "key",
  "v",
  "hidden",
  "comment",
  "maxTimeMS",
  "writeConcern",
  "w",
  "j",
]);

/**
 * Returns an index from the arguments of MongoDB's `createIndex`. Throws `NotImplemented` for any kind but ascending
 * and descending.
 */
export function toIndex(keys: Options, options: Options = {}): Index {
  const key = toSort(keys);
  for (const name of Object.keys(options)) {
    if (!ACCEPTED.has(name) && options[name] !== undefined)
      throw new NotImplemented(`the index option ${name}`);
  }
  const shown: Options = {};
  if (options.unique) shown.unique = true;
  if (options.sparse) shown.sparse = true;
  if (options.expireAfterSeconds !== undefined) shown.expireAfterSeconds = options.expireAfterSeconds;
  return {
    name:
      (options.name as string | undefined) ??
      key.map(([path, direction]) => `${path}_${direction}`).join("_"),
    key,
    unique: Boolean(options.unique),
    sparse: Boolean(options.sparse),
    options: JSON.parse(encode(shown)) as RawObject,
  };
}
