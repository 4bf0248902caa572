import { compileGlob, type Glob, globSteps } from "../../../lib/filter/glob.ts";

/** None, one or several elements. Most often one, for which an array would take most of the memory. */
export type CompactList<Element extends object> = Element | Element[] | null;

/** Adds an element; do not use the previous value afterwards. */
export function addTo<Element extends object>(
  list: CompactList<Element>,
  element: Element,
): CompactList<Element> {
  if (list === null) return element;
  if (!Array.isArray(list)) return [list, element];
  list.push(element);
  return list;
}

/** Removes an element; may change the order. */
export function removeFrom<Element extends object>(
  list: CompactList<Element>,
  element: Element,
): CompactList<Element> {
  if (!Array.isArray(list)) return list === element ? null : list;
  const at = list.indexOf(element);
  const last = list.pop() as Element;
  if (at >= 0 && at < list.length) list[at] = last;
  return list.length === 0 ? null : list;
}

const NONE: never[] = [];

/** Returns the elements as a read-only list. */
export function itemsOf<Element extends object>(list: CompactList<Element>): readonly Element[] {
  if (list === null) return NONE;
  return Array.isArray(list) ? list : [list];
}

/** Steps of a glob that cost one unit of filter cost. */
const STEPS_PER_UNIT = 4;

/** A glob; subclasses store values under it. Most have a single `*`: they are tested by their text alone. */
export class GlobEntry {
  readonly source: string;
  readonly #glob: Glob | null;

  /** Throws an Error that describes the problem if the glob cannot be compiled. */
  constructor(source: string) {
    const glob = compileGlob(source);
    const { prefix, suffix } = glob;
    this.source = source;
    this.#glob = source === `${prefix}*${suffix}` ? null : glob;
  }

  /** Cost of the last test, in units of filter cost; it must have been of this entry. */
  get unitsTaken(): number {
    return this.#glob === null ? 0 : globSteps() / STEPS_PER_UNIT;
  }

  test(text: string): boolean {
    if (this.#glob !== null) return this.#glob.test(text);
    const { source } = this;
    const star = source.indexOf("*");
    if (text.length < source.length - 1) return false;
    return text.startsWith(source.slice(0, star)) && text.endsWith(source.slice(star + 1));
  }
}

/**
 * Values stored under a prefix (or suffix) of texts. Finds all that apply to a text with one hash look-up per distinct
 * length of affix, however many affixes there are.
 */
export class AffixTable<Value> {
  readonly #side: "start" | "end";
  readonly #values = new Map<string, Value>();
  /** Length of affix → number of stored affixes. */
  readonly #lengths = new Map<number, number>();

  constructor(side: "start" | "end") {
    this.#side = side;
  }

  get size(): number {
    return this.#values.size;
  }

  get(affix: string): Value | undefined {
    return this.#values.get(affix);
  }

  set(affix: string, value: Value): void {
    if (!this.#values.has(affix)) this.#count(affix.length, 1);
    this.#values.set(affix, value);
  }

  delete(affix: string): void {
    if (this.#values.delete(affix)) this.#count(affix.length, -1);
  }

  /** Returns the values of all affixes of the text with at least `minLength` characters. */
  find(text: string, minLength = 0): Value[] {
    const values: Value[] = [];
    for (const length of this.#lengths.keys()) {
      if (length < minLength || length > text.length) continue;
      const value = this.#values.get(
        this.#side === "start" ? text.slice(0, length) : text.slice(text.length - length),
      );
      if (value !== undefined) values.push(value);
    }
    return values;
  }

  #count(length: number, change: number): void {
    const count = (this.#lengths.get(length) ?? 0) + change;
    if (count === 0) this.#lengths.delete(length);
    else this.#lengths.set(length, count);
  }
}

/** Several globs with a common literal prefix. */
class Bucket<Entry extends GlobEntry> {
  withoutSuffix: CompactList<Entry> = null;
  readonly bySuffix = new AffixTable<CompactList<Entry>>("end");

  get isEmpty(): boolean {
    return this.withoutSuffix === null && this.bySuffix.size === 0;
  }

  add(entry: Entry, suffix: string): void {
    if (suffix === "") this.withoutSuffix = addTo(this.withoutSuffix, entry);
    else this.bySuffix.set(suffix, addTo(this.bySuffix.get(suffix) ?? null, entry));
  }

  delete(entry: Entry, suffix: string): void {
    if (suffix === "") this.withoutSuffix = removeFrom(this.withoutSuffix, entry);
    else {
      const left = removeFrom(this.bySuffix.get(suffix) ?? null, entry);
      if (left === null) this.bySuffix.delete(suffix);
      else this.bySuffix.set(suffix, left);
    }
  }
}

/** One entry per distinct glob. A text is tested only with globs whose literal prefix and suffix match it. */
export class GlobIndex<Entry extends GlobEntry> {
  readonly #literals = new Map<string, Entry>();
  readonly #wildcards = new Map<string, Entry>();
  readonly #buckets = new AffixTable<Entry | Bucket<Entry>>("start");

  get(source: string): Entry | undefined {
    return this.#literals.get(source) ?? this.#wildcards.get(source);
  }

  add(entry: Entry): void {
    const { source } = entry;
    const { literal, prefix, suffix } = compileGlob(source);
    if (literal) {
      this.#literals.set(source, entry);
      return;
    }
    this.#wildcards.set(source, entry);
    const present = this.#buckets.get(prefix);
    if (present === undefined) this.#buckets.set(prefix, entry);
    else this.#bucket(prefix, present).add(entry, suffix);
  }

  delete(entry: Entry): void {
    const { source } = entry;
    if (this.#literals.delete(source)) return;
    this.#wildcards.delete(source);
    const { prefix, suffix } = compileGlob(source);
    const present = this.#buckets.get(prefix);
    if (present instanceof Bucket) present.delete(entry, suffix);
    if (!(present instanceof Bucket) || present.isEmpty) this.#buckets.delete(prefix);
  }

  /** Returns a copy of the entries to test: those whose prefix, of at least `minPrefix` characters, and suffix match. */
  candidates(text: string, minPrefix: number): Entry[] {
    const matching: Entry[] = [];
    const exact = this.#literals.get(text);
    if (exact) matching.push(exact);
    for (const each of this.#buckets.find(text, minPrefix)) {
      if (!(each instanceof Bucket)) matching.push(each);
      else {
        addAll(matching, each.withoutSuffix);
        for (const entries of each.bySuffix.find(text)) addAll(matching, entries);
      }
    }
    return matching;
  }

  #bucket(prefix: string, present: Entry | Bucket<Entry>): Bucket<Entry> {
    if (present instanceof Bucket) return present;
    const bucket = new Bucket<Entry>();
    bucket.add(present, compileGlob(present.source).suffix);
    this.#buckets.set(prefix, bucket);
    return bucket;
  }
}

function addAll<Entry extends GlobEntry>(entries: Entry[], list: CompactList<Entry>): void {
  for (const entry of itemsOf(list)) entries.push(entry);
}
