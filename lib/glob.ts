/**
 * Shell-style globs over event types: `*` is any run of characters (dots too), `?` one character,
 * `[abc]`, `[a-z]`, `[!a-z]` one character of (not of) a class. Anything else stands for itself.
 */

const MAX_GLOB_LENGTH = 255;
const STAR = 0;
const ANY = 1;

interface CharClass {
  negated: boolean;
  /** Inclusive code point ranges. */
  ranges: [number, number][];
}

/** A string token is a run of literal characters. */
type Token = string | typeof STAR | typeof ANY | CharClass;

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

/** What is wrong with a glob, or null if it is valid. */
export function globError(glob: string): string | null {
  try {
    tokenize(glob);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Compiles a glob; throws an Error that says what is wrong with it (the text of `globError`). */
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
    const end = text.length - this.suffix.length;
    if (end < this.prefix.length || !text.startsWith(this.prefix) || !text.endsWith(this.suffix))
      return false;
    return this.#middle === ONLY_STAR || matchTokens(this.#middle, text, this.prefix.length, end);
  }
}

/**
 * Greedy matching that only ever goes back to the last star: an earlier star never has to be widened,
 * because the last one can take whatever it would. So the time is at most glob length times text length.
 */
function matchTokens(tokens: Token[], text: string, start: number, end: number): boolean {
  let at = start;
  let token = 0;
  let afterStar = -1;
  let starEnd = start;
  while (at < end || token < tokens.length) {
    const current = tokens[token];
    if (current === STAR) {
      afterStar = ++token;
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

/** How many UTF-16 units of the text the token takes at a position; 0 if it does not match there. */
function consumed(token: Exclude<Token, typeof STAR>, text: string, at: number, end: number): number {
  if (at >= end) return 0;
  if (typeof token === "string")
    return at + token.length <= end && text.startsWith(token, at) ? token.length : 0;
  if (token === ANY || inClass(token, text.codePointAt(at) as number)) return charLength(text, at);
  return 0;
}

function inClass(charClass: CharClass, codePoint: number): boolean {
  const listed = charClass.ranges.some(([low, high]) => codePoint >= low && codePoint <= high);
  return listed !== charClass.negated;
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}

function tokenize(glob: string): Token[] {
  if (glob === "") throw new Error("a glob must not be empty; `*` matches every type");
  if (glob.length > MAX_GLOB_LENGTH) {
    throw new Error(`a glob has at most ${MAX_GLOB_LENGTH} characters, this one has ${glob.length}`);
  }
  const tokens: Token[] = [];
  let at = 0;
  while (at < glob.length) {
    const end = tokenEnd(glob, at);
    const token = tokenOf(glob, at, end);
    if (token !== STAR || tokens.at(-1) !== STAR) tokens.push(token);
    at = end;
  }
  return tokens;
}

function tokenEnd(glob: string, start: number): number {
  if (glob[start] === "[") return classEnd(glob, start);
  let end = start;
  while (end < glob.length && !isWildcard(glob[end])) end++;
  return Math.max(end, start + 1);
}

function isWildcard(character: string | undefined): boolean {
  return character === "*" || character === "?" || character === "[";
}

function tokenOf(glob: string, start: number, end: number): Token {
  if (glob[start] === "*") return STAR;
  if (glob[start] === "?") return ANY;
  return glob[start] === "[" ? charClass([...glob.slice(start + 1, end - 1)], start) : glob.slice(start, end);
}

/** The position after the `]` that closes the class opened at `open`; one that comes first is a member. */
function classEnd(glob: string, open: number): number {
  const first = glob[open + 1] === "!" ? open + 2 : open + 1;
  const close = glob.indexOf("]", first + 1);
  if (close < 0) throw new Error(`the class opened by \`[\` at position ${open} is not closed by \`]\``);
  return close + 1;
}

function charClass(body: string[], open: number): CharClass {
  const negated = body[0] === "!";
  const members = negated ? body.slice(1) : body;
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
