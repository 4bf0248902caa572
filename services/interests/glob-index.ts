import { compileGlob, type Glob } from "../../lib/glob.ts";
import { AffixTable } from "./affix-table.ts";

/** What is stored under one glob. */
interface GlobEntry<Value> {
  readonly glob: Glob;
  readonly value: Value;
}

/** The globs that share a literal prefix. */
interface Bucket<Value> {
  withoutSuffix: GlobEntry<Value>[];
  bySuffix: AffixTable<GlobEntry<Value>[]> | null;
}

/**
 * One value per distinct glob, found by the texts that the glob matches. Only globs whose literal prefix
 * and literal suffix both fit are ever tested.
 */
export class GlobIndex<Value> {
  readonly #entries = new Map<string, GlobEntry<Value>>();
  readonly #buckets = new AffixTable<Bucket<Value>>("start");

  get(glob: string): Value | undefined {
    return this.#entries.get(glob)?.value;
  }

  /** Throws an Error that says what is wrong with the glob if it cannot be compiled. */
  add(source: string, value: Value): void {
    const entry = { glob: compileGlob(source), value };
    this.#entries.set(source, entry);
    if (!entry.glob.literal) this.#addToBucket(entry);
  }

  delete(source: string): void {
    const entry = this.#entries.get(source);
    if (entry === undefined) return;
    this.#entries.delete(source);
    if (!entry.glob.literal) this.#deleteFromBucket(entry);
  }

  /** The values of all globs that match the text and begin with at least `minPrefix` literal characters. */
  match(text: string, minPrefix = 0): Value[] {
    const matched: Value[] = [];
    const exact = this.#entries.get(text);
    if (exact?.glob.literal) matched.push(exact.value);
    for (const { withoutSuffix, bySuffix } of this.#buckets.find(text, minPrefix)) {
      pushMatching(matched, withoutSuffix, text);
      for (const entries of bySuffix?.find(text) ?? []) pushMatching(matched, entries, text);
    }
    return matched;
  }

  #addToBucket(entry: GlobEntry<Value>): void {
    const { prefix, suffix } = entry.glob;
    const bucket = this.#buckets.get(prefix) ?? { withoutSuffix: NONE, bySuffix: null };
    this.#buckets.set(prefix, bucket);
    if (suffix === "") bucket.withoutSuffix = append(bucket.withoutSuffix, entry);
    else {
      bucket.bySuffix ??= new AffixTable("end");
      bucket.bySuffix.set(suffix, append(bucket.bySuffix.get(suffix) ?? NONE, entry));
    }
  }

  #deleteFromBucket(entry: GlobEntry<Value>): void {
    const { prefix, suffix } = entry.glob;
    const bucket = this.#buckets.get(prefix) as Bucket<Value>;
    if (suffix === "") removeFrom(bucket.withoutSuffix, entry);
    else {
      const siblings = bucket.bySuffix?.get(suffix) as GlobEntry<Value>[];
      removeFrom(siblings, entry);
      if (siblings.length === 0) bucket.bySuffix?.delete(suffix);
      if (bucket.bySuffix?.size === 0) bucket.bySuffix = null;
    }
    if (bucket.withoutSuffix.length === 0 && bucket.bySuffix === null) this.#buckets.delete(prefix);
  }
}

const NONE: never[] = [];

/** Adds one element. An array made by `push` reserves room for 17, which most globs and filters never need. */
export function append<Element>(array: Element[], element: Element): Element[] {
  if (array.length === 0) return [element];
  array.push(element);
  return array;
}

function pushMatching<Value>(matched: Value[], entries: GlobEntry<Value>[], text: string): void {
  for (const { glob, value } of entries) if (glob.test(text)) matched.push(value);
}

/** Removes one element, not keeping the order. */
export function removeFrom<Element>(array: Element[], element: Element): void {
  const at = array.indexOf(element);
  const last = array.pop() as Element;
  if (at < array.length) array[at] = last;
}
