import { compileGlob } from "../../../lib/filter/glob.ts";
import { AffixTable } from "./affix-table.ts";
import { addTo, type CompactList, itemsOf, removeFrom } from "./compact-list.ts";
import type { GlobEntry } from "./glob-entry.ts";

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

/**
 * One entry per distinct glob, found by matching texts. Tests only globs whose literal prefix and suffix both match.
 */
export class GlobIndex<Entry extends GlobEntry> {
  readonly #literals = new Map<string, Entry>();
  readonly #wildcards = new Map<string, Entry>();
  readonly #buckets = new AffixTable<Entry | Bucket<Entry>>("start");

  get(source: string): Entry | undefined {
    return this.#literals.get(source) ?? this.#wildcards.get(source);
  }

  /** Adds an entry for a new glob. */
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

  /**
   * Returns the entries to test: all globs whose literal prefix (of at least `minPrefix` characters) and suffix match
   * the text. The list is a copy that later changes do not affect.
   */
  candidates(text: string, minPrefix: number): Entry[] {
    const found: Entry[] = [];
    const exact = this.#literals.get(text);
    if (exact) found.push(exact);
    for (const each of this.#buckets.find(text, minPrefix)) {
      if (!(each instanceof Bucket)) found.push(each);
      else {
        addAll(found, each.withoutSuffix);
        for (const entries of each.bySuffix.find(text)) addAll(found, entries);
      }
    }
    return found;
  }

  #bucket(prefix: string, present: Entry | Bucket<Entry>): Bucket<Entry> {
    if (present instanceof Bucket) return present;
    const bucket = new Bucket<Entry>();
    bucket.add(present, compileGlob(present.source).suffix);
    this.#buckets.set(prefix, bucket);
    return bucket;
  }
}

function addAll<Entry extends GlobEntry>(found: Entry[], list: CompactList<Entry>): void {
  for (const entry of itemsOf(list)) found.push(entry);
}
