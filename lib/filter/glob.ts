/**
 * Shell-style globs over event types: `*` is any run of characters (dots too), `?` one character,
 * `[abc]`, `[a-z]`, `[!a-z]` one character of (not of) a class. Anything else stands for itself.
 */
import { ANY, inClass, STAR, type Token, tokenize } from "./glob-tokens.ts";

export { globError } from "./glob-tokens.ts";

/**
 * Maximum steps of one test (some 10 ns each). New globs need at most half as many; an older glob or a longer type that
 * needs more does not match.
 */
export const MAX_GLOB_STEPS = 32_768;

/** Literal characters that are compared in one step. */
const LITERAL_STEP = 32;

// A test is synchronous and never nested, so one counter serves all globs.
let steps = 0;

/** Returns the steps of the last test. */
export function globSteps(): number {
  return steps;
}

/** A compiled glob. A string matches only if it begins with `prefix` and ends with `suffix`. */
export interface Glob {
  readonly source: string;
  /** The literal characters before the first wildcard; the whole glob if it has none. */
  readonly prefix: string;
  /** The literal characters after the last wildcard; empty if the glob has none. */
  readonly suffix: string;
  /** True if the glob has no wildcard, so that it matches exactly `prefix`. */
  readonly literal: boolean;
  test(text: string): boolean;
}

/** Compiles a glob. @throws Error with the text of `globError` if it is invalid */
export function compileGlob(glob: string): Glob {
  const tokens = tokenize(glob);
  const first = tokens[0];
  const prefix = typeof first === "string" ? first : "";
  if (tokens.length === 1 && prefix !== "") return new LiteralGlob(glob);
  const last = tokens[tokens.length - 1];
  const suffix = typeof last === "string" ? last : "";
  const middle = tokens.slice(prefix === "" ? 0 : 1, suffix === "" ? tokens.length : -1);
  return new WildcardGlob(
    glob,
    prefix,
    suffix,
    middle.length === 1 && middle[0] === STAR ? ONLY_STAR : middle,
  );
}

/** Shared, because most globs of a large tenant have this one wildcard. */
const ONLY_STAR: Token[] = [STAR];

class LiteralGlob implements Glob {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  get prefix(): string {
    return this.source;
  }

  get suffix(): string {
    return "";
  }

  get literal(): boolean {
    return true;
  }

  test(text: string): boolean {
    steps = 0;
    return text === this.source;
  }
}

class WildcardGlob implements Glob {
  readonly source: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly #middle: Token[];

  constructor(source: string, prefix: string, suffix: string, middle: Token[]) {
    this.source = source;
    this.prefix = prefix;
    this.suffix = suffix;
    this.#middle = middle;
  }

  get literal(): boolean {
    return false;
  }

  test(text: string): boolean {
    steps = 0;
    const end = text.length - this.suffix.length;
    if (end < this.prefix.length || !text.startsWith(this.prefix) || !text.endsWith(this.suffix))
      return false;
    return this.#middle === ONLY_STAR || matchTokens(this.#middle, text, this.prefix.length, end);
  }
}

/**
 * Matches greedily and backtracks only to the last star: widening an earlier star is unnecessary, because the last one
 * can match the same text. So the steps are at most the text's length times the tokens between two stars.
 */
function matchTokens(tokens: Token[], text: string, start: number, end: number): boolean {
  let at = start;
  let token = 0;
  let afterStar = -1;
  let starEnd = start;
  while (at < end || token < tokens.length) {
    if (steps > MAX_GLOB_STEPS) return false;
    const current = tokens[token];
    if (current === STAR) {
      // A final star matches the rest.
      if (++token === tokens.length) return true;
      afterStar = token;
      starEnd = at;
      continue;
    }
    const length = current === undefined ? 0 : consumed(current, text, at, end);
    if (length > 0) {
      at += length;
      token++;
      continue;
    }
    if (afterStar < 0 || starEnd >= end) return false;
    starEnd += charLength(text, starEnd);
    at = starEnd;
    token = afterStar;
  }
  return true;
}

/** Returns the UTF-16 units that a token matches at a position, 0 if it does not match. */
function consumed(token: Exclude<Token, typeof STAR>, text: string, at: number, end: number): number {
  steps++;
  if (at >= end) return 0;
  if (typeof token === "string") {
    steps += Math.floor(token.length / LITERAL_STEP);
    return at + token.length <= end && text.startsWith(token, at) ? token.length : 0;
  }
  if (token === ANY || inClass(token, text.codePointAt(at) as number)) return charLength(text, at);
  return 0;
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}
