import { compileGlob, type Glob, globSteps } from "../../../lib/filter/glob.ts";

/** Steps of a glob that cost one unit of filter cost. */
const STEPS_PER_UNIT = 4;

/**
 * A glob; subclasses store values under it. Most globs of a large tenant have a single `*`: they are tested by their
 * text alone.
 */
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
