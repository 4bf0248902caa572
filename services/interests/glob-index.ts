import { compileGlob, type Glob } from "../../lib/glob.ts";
import { AffixTable } from "./affix-table.ts";
import { added, all, type Few, removed } from "./few.ts";

/**
 * A glob, and in what extends it, what is stored under it. Most globs of a large tenant have one `*` and nothing else:
 * they are tested by their text alone.
 */
export class GlobEntry {
  readonly source: string;
  readonly #glob: Glob | null;

  /** Throws an Error that says what is wrong with the glob if it cannot be compiled. */
  constructor(source: string) {
    const glob = compileGlob(source);
    const { prefix, suffix } = glob;
    this.source = source;
    this.#glob = source === `${prefix}*${suffix}` ? null : glob;
  }

  test(text: string): boolean {
    if (this.#glob !== null) return this.#glob.test(text);
    const { source } = this;
    const star = source.indexOf("*");
    if (text.length < source.length - 1) return false;
    return text.startsWith(source.slice(0, star)) && text.endsWith(source.slice(star + 1));
  }
}

/** The globs that share a literal prefix, where there are several. */
class Bucket<Entry extends GlobEntry> {
  withoutSuffix: Few<Entry> = null;
  readonly bySuffix = new AffixTable<Few<Entry>>("end");

  get isEmpty(): boolean {
    return this.withoutSuffix === null && this.bySuffix.size === 0;
  }

  add(entry: Entry, suffix: string): void {
    if (suffix === "") this.withoutSuffix = added(this.withoutSuffix, entry);
    else this.bySuffix.set(suffix, added(this.bySuffix.get(suffix) ?? null, entry));
  }

  delete(entry: Entry, suffix: string): void {
    if (suffix === "") this.withoutSuffix = removed(this.withoutSuffix, entry);
    else {
      const left = removed(this.bySuffix.get(suffix) ?? null, entry);
      if (left === null) this.bySuffix.delete(suffix);
      else this.bySuffix.set(suffix, left);
    }
  }
}

/**
 * One entry per distinct glob, found by the texts that the glob matches. Only globs whose literal prefix
 * and literal suffix both fit are ever tested.
 */
export class GlobIndex<Entry extends GlobEntry> {
  readonly #literals = new Map<string, Entry>();
  readonly #wildcards = new Map<string, Entry>();
  readonly #buckets = new AffixTable<Entry | Bucket<Entry>>("start");

  get(source: string): Entry | undefined {
    return this.#literals.get(source) ?? this.#wildcards.get(source);
  }

  /** Adds an entry for a glob that has none. */
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

  /** The entries of all globs that match the text and begin with at least `minPrefix` literal characters. */
  match(text: string, minPrefix = 0): Entry[] {
    const matched: Entry[] = [];
    const exact = this.#literals.get(text);
    if (exact) matched.push(exact);
    for (const found of this.#buckets.find(text, minPrefix)) {
      if (!(found instanceof Bucket)) pushMatching(matched, found, text);
      else {
        pushMatching(matched, found.withoutSuffix, text);
        for (const entries of found.bySuffix.find(text)) pushMatching(matched, entries, text);
      }
    }
    return matched;
  }

  #bucket(prefix: string, present: Entry | Bucket<Entry>): Bucket<Entry> {
    if (present instanceof Bucket) return present;
    const bucket = new Bucket<Entry>();
    bucket.add(present, compileGlob(present.source).suffix);
    this.#buckets.set(prefix, bucket);
    return bucket;
  }
}

function pushMatching<Entry extends GlobEntry>(matched: Entry[], entries: Few<Entry>, text: string): void {
  for (const entry of all(entries)) if (entry.test(text)) matched.push(entry);
}
