/**
 * Shell-style globs over event types: `*` is any run of characters (dots too), `?` one character,
 * `[abc]`, `[a-z]`, `[!a-z]` one character of (not of) a class. Anything else stands for itself.
 */
const MAX_LENGTH = 255;
/** A test takes at most as many steps as characters in the text times wildcards between two `*`. */
const MAX_STARS = 16;
const MAX_SINGLES = 32;

const STAR = 0;
const ANY = 1;

/** One character of (or not of) a set. */
interface CharClass {
  readonly negated: boolean;
  /** First and last code point of each range. */
  readonly ranges: readonly [number, number][];
}

/** A string token is a run of literal characters. */
type Token = string | typeof STAR | typeof ANY | CharClass;

/** The limits of new globs, for descriptions. */
export const GLOB_BOUNDS = `at most ${MAX_STARS} \`*\`, and at most ${MAX_SINGLES} \`?\` and \`[...]\``;

/** Returns the error of a new glob, null if it is valid. */
export function globError(glob: string): string | null {
  try {
    return wildcardsError(tokenize(glob));
  } catch (error) {
    return (error as Error).message;
  }
}

function wildcardsError(tokens: Token[]): string | null {
  const stars = tokens.filter((token) => token === STAR).length;
  if (stars > MAX_STARS) return `a glob has at most ${MAX_STARS} \`*\`, this one has ${stars}`;
  const singles = tokens.filter((token) => token !== STAR && typeof token !== "string").length;
  if (singles <= MAX_SINGLES) return null;
  return `a glob has at most ${MAX_SINGLES} \`?\` and \`[...]\`, this one has ${singles}`;
}

/** A `]` that comes first in a class is a member. A `[` alone opens a class that is not closed. */
const TOKEN = /\*+|\?|\[(?:!|(?!!))[\s\S][^\]]*\]|\[|[^*?[]+/gu;

/** Returns the tokens of a glob, adjacent stars as one. @throws Error with the reason if it is invalid */
function tokenize(glob: string): Token[] {
  if (glob === "") throw new Error("a glob cannot be empty; `*` matches every type");
  if (glob.length > MAX_LENGTH) {
    throw new Error(`a glob has at most ${MAX_LENGTH} characters, this one has ${glob.length}`);
  }
  return Array.from(glob.matchAll(TOKEN), ({ 0: text, index }) => {
    if (text[0] === "*") return STAR;
    if (text[0] === "?") return ANY;
    return text[0] === "[" ? charClass(text, index) : text;
  });
}

function charClass(text: string, open: number): CharClass {
  if (text === "[") throw new Error(`the class opened by \`[\` at position ${open} is not closed by \`]\``);
  const negated = text[1] === "!";
  const members = [...text.slice(negated ? 2 : 1, -1)];
  const ranges: [number, number][] = [];
  for (let i = 0; i < members.length; i++) {
    const low = members[i] as string;
    const isRange = members[i + 1] === "-" && i + 2 < members.length;
    const high = isRange ? (members[i + 2] as string) : low;
    if (isRange) i += 2;
    const range: [number, number] = [low.codePointAt(0) as number, high.codePointAt(0) as number];
    if (range[0] > range[1])
      throw new Error(`the range ${low}-${high} in the class at position ${open} is reversed`);
    ranges.push(range);
  }
  return { negated, ranges };
}

function inClass({ negated, ranges }: CharClass, codePoint: number): boolean {
  return ranges.some(([low, high]) => codePoint >= low && codePoint <= high) !== negated;
}

/**
 * Maximum steps of one test (some 10 ns each). New globs need at most half as many; an older glob or a longer type that
 * needs more does not match.
 */
export const MAX_GLOB_STEPS = 32_768;

/** Literal characters, or ranges of a class, that are compared in one step. */
const COMPARED_IN_STEP = 32;

// A test is synchronous and never nested, so one counter serves all globs.
let steps = 0;

export function globSteps(): number {
  return steps;
}

/** Compiles a glob. @throws Error with the text of `globError` if it is invalid */
export function compileGlob(glob: string): Glob {
  const tokens = tokenize(glob);
  const [first] = tokens;
  const prefix = typeof first === "string" ? (tokens.shift() as string) : "";
  const last = tokens.at(-1);
  const suffix = typeof last === "string" ? (tokens.pop() as string) : "";
  return new Glob(glob, prefix, suffix, tokens);
}

/** A compiled glob. A string matches only if it begins with `prefix` and ends with `suffix`. */
export class Glob {
  readonly source: string;
  /** The literal characters before the first wildcard; the whole glob if it has none. */
  readonly prefix: string;
  /** The literal characters after the last wildcard; empty if the glob has none. */
  readonly suffix: string;
  readonly #middle: Token[];

  constructor(source: string, prefix: string, suffix: string, middle: Token[]) {
    this.source = source;
    this.prefix = prefix;
    this.suffix = suffix;
    this.#middle = middle;
  }

  /** True if the glob has no wildcard, so that it matches exactly `prefix`. */
  get literal(): boolean {
    return this.#middle.length === 0;
  }

  test(text: string): boolean {
    steps = 0;
    const { prefix, suffix } = this;
    const end = text.length - suffix.length;
    if (end < prefix.length || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
    return matchTokens(this.#middle, text, prefix.length, end);
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
    steps += Math.floor(token.length / COMPARED_IN_STEP);
    return at + token.length <= end && text.startsWith(token, at) ? token.length : 0;
  }
  if (token !== ANY) {
    steps += Math.floor(token.ranges.length / COMPARED_IN_STEP);
    if (!inClass(token, text.codePointAt(at) as number)) return 0;
  }
  return charLength(text, at);
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}
