import { RE2JS } from "re2js";

/** Bounds compile time (about 2 µs an instruction) and memory; RE2 itself allows 140,000 in 1,000 characters. */
const MAX_PROGRAM_SIZE = 1000;

/** A Unicode class such as `\pL` is one instruction with hundreds of ranges; it compiles as slowly as this many. */
const UNICODE_CLASS_SIZE = 20;

/** A regular expression whose matching time is linear in the text (RE2 syntax, no backreferences). */
export interface LinearRegex {
  /** Instructions; matching costs at most one step per instruction and character. */
  readonly size: number;
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

/** Compiles an RE2 pattern. @throws Error with the reason if it is invalid */
export function compileRegex(pattern: string): LinearRegex {
  const bound = programSizeBound(pattern);
  if (bound > MAX_PROGRAM_SIZE) {
    throw new Error(`the pattern needs about ${bound} instructions; the limit is ${MAX_PROGRAM_SIZE}`);
  }
  const compiled = RE2JS.compile(pattern);
  return { size: compiled.programSize(), test: (text) => compiled.test(text) };
}

interface Group {
  /** Instructions before the last atom. */
  before: number;
  /** Instructions of the last atom, which a quantifier repeats. */
  atom: number;
}

/**
 * Estimates the compiled size before compiling, because counted repetitions such as `(…){1000}` make compiling
 * expensive. RE2 refuses patterns that this scanner misreads as a syntax error.
 */
export function programSizeBound(pattern: string): number {
  const outer: Group[] = [];
  let group: Group = { before: 0, atom: 0 };
  const scanner = /\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/gu;
  for (const [token, least, most] of pattern.matchAll(scanner)) {
    if (least !== undefined) group.atom *= Math.max(1, Number(least), Number(most ?? 0));
    else if (token === "(") {
      outer.push(group);
      group = { before: 0, atom: 0 };
    } else if (token === ")" && outer.length > 0) {
      const size = group.before + group.atom + 2;
      group = outer.pop() as Group;
      nextAtom(group, size);
    } else if (token === "*" || token === "+" || token === "?") group.atom += 1;
    else nextAtom(group, 1 + UNICODE_CLASS_SIZE * (token.match(/\\[pP]/g)?.length ?? 0));
  }
  return [...outer, group].reduce((sum, open) => sum + open.before + open.atom, 0);
}

function nextAtom(group: Group, size: number): void {
  group.before += group.atom;
  group.atom = size;
}
