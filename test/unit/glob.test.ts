import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compileGlob, globError, globSteps, MAX_GLOB_STEPS } from "../../lib/filter/glob.ts";

const matches = (glob: string, text: string) => compileGlob(glob).test(text);

test.each([
  ["com.github.push", "com.github.push", true],
  ["com.github.push", "com.github.pushed", false],
  ["com.github.push", "com.github.pus", false],
  ["*", "anything.at.all", true],
  ["com.*", "com.github.push", true],
  ["com.*", "com.", true],
  ["com.*", "com", false],
  ["*.opened", "com.github.pull_request.opened", true],
  ["*.opened", ".opened", true],
  ["com.*.opened", "com.opened", false],
  ["com.*.opened", "com..opened", true],
  ["ab*ba", "aba", false],
  ["a*b*c", "axxbyybzzc", true],
  ["a**c", "abc", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["a?c", "a😀c", true],
  ["a??c", "a😀c", false],
  ["*[!😀]", "😀", false],
  ["v[0-9]", "v7", true],
  ["v[0-9]", "vx", false],
  ["v[!0-9]", "vx", true],
  ["v[!0-9]", "v7", false],
  ["v[]x]", "v]", true],
  ["v[!]]", "v]", false],
  ["v[a-]", "v-", true],
  ["v[*?]", "v*", true],
  ["v[*?]", "vv", false],
  ["a.c", "abc", false],
  ["a\\*", "a\\b", true],
  ["(a|b)+$", "(a|b)+$", true],
])("what a glob matches: %s on %s: %s", (glob, text, expected) => expect(matches(glob, text)).toBe(expected));

test.each([
  ["", "cannot be empty"],
  ["com.[ab", "position 4 is not closed"],
  ["[]", "position 0 is not closed"],
  ["[!]", "position 0 is not closed"],
  ["x[z-a]", "z-a in the class at position 1 is reversed"],
  ["a".repeat(256), "at most 255 characters, this one has 256"],
])("glob %j is refused", (glob, reason) => {
  expect(globError(glob)).toContain(reason);
  expect(() => compileGlob(glob)).toThrow(reason);
});

describe("a new glob has a bounded number of wildcards", () => {
  test.each([
    ["a*".repeat(16), null],
    ["a*".repeat(17), "at most 16 `*`, this one has 17"],
    [`com.${"?".repeat(16)}${"[a-z]".repeat(16)}`, null],
    [`com.${"?".repeat(17)}${"[a-z]".repeat(16)}`, "at most 32 `?` and `[...]`, this one has 33"],
    ["*".repeat(40), null],
    [`[${"*?".repeat(60)}]`, null],
  ])("%s: %s", (glob, reason) =>
    expect(globError(glob)).toEqual(reason === null ? null : expect.stringContaining(reason)),
  );

  test("one that was stored before is matched all the same", () => {
    expect(matches(`com.${"?".repeat(40)}`, `com.${"x".repeat(40)}`)).toBe(true);
    expect(matches(`${"a*".repeat(20)}z`, `${"a".repeat(20)}z`)).toBe(true);
  });
});

test("a valid glob has no error", () => expect(globError("com.*.[a-z]?")).toBeNull());

test("literal parts", () => {
  expect(compileGlob("com.a")).toMatchObject({ prefix: "com.a", suffix: "", literal: true });
  expect(compileGlob("com.*.a?b.c")).toMatchObject({ prefix: "com.", suffix: "b.c", literal: false });
  expect(compileGlob("*")).toMatchObject({ prefix: "", suffix: "", literal: false });
});

/** The definition, character by character, exponential and plain to see. */
function naive(glob: string[], text: string[]): boolean {
  const [head, ...rest] = glob;
  if (head === undefined) return text.length === 0;
  if (head === "*") return text.some((_, i) => naive(rest, text.slice(i))) || naive(rest, []);
  if (text.length === 0) return false;
  if (head === "?") return naive(rest, text.slice(1));
  const negated = head.startsWith("[!");
  const hit = head.startsWith("[")
    ? head.slice(negated ? 2 : 1, -1).includes(text[0] as string) !== negated
    : head === text[0];
  return hit && naive(rest, text.slice(1));
}

const piece = fc.constantFrom("*", "?", "[ab]", "[!ab]", "a", "b", "c", ".", "😀");
const text = fc.array(fc.constantFrom("a", "b", "c", ".", "😀"), { maxLength: 8 });

test("property: matches exactly what the definition says", () => {
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 7 }), text, (pieces, characters) =>
      expect(matches(pieces.join(""), characters.join(""))).toBe(naive(pieces, characters)),
    ),
    { numRuns: 3000 },
  );
});

test("property: what matches begins with the prefix and ends with the suffix", () => {
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), text, (pieces, characters) => {
      const glob = compileGlob(pieces.join(""));
      const subject = characters.join("");
      fc.pre(glob.test(subject));
      expect(subject.startsWith(glob.prefix) && subject.endsWith(glob.suffix)).toBe(true);
    }),
  );
});

describe("the steps of a test", () => {
  const LONGEST_TYPE = 255;
  const steps = (glob: string, text: string) => {
    matches(glob, text);
    return globSteps();
  };

  test("grow with the length of the text, whatever the stars", () => {
    const text = "a".repeat(LONGEST_TYPE);
    const one = steps("*a[b]*", text);
    expect(one).toBeGreaterThan(LONGEST_TYPE);
    expect(one).toBeLessThan(3 * LONGEST_TYPE);
    expect(steps(`${"*a".repeat(15)}[b]*`, text)).toBeLessThan(3 * LONGEST_TYPE);
  });

  test.each([
    ["single characters before one that is missing", `*${"?".repeat(31)}[b]*`, "a".repeat(LONGEST_TYPE)],
    ["classes", `*${"[aa]".repeat(31)}[b]*`, "a".repeat(LONGEST_TYPE)],
    ["literals between", `*${"a?".repeat(31)}${"a".repeat(150)}[b]*`, "a".repeat(LONGEST_TYPE)],
    ["a large class", `*[!${"abcdefgh".repeat(28)}]*`, "a".repeat(LONGEST_TYPE)],
  ])("of a glob and a type that are allowed are bounded: %s", (_, glob, text) => {
    expect(globError(glob)).toBeNull();
    expect(steps(glob, text)).toBeGreaterThan(200);
    expect(steps(glob, text)).toBeLessThan(0.75 * MAX_GLOB_STEPS);
  });

  test("of a glob or a type that is no longer allowed end at a limit, as no match", () => {
    const glob = `*${"?".repeat(180)}${"[aa]".repeat(17)}[b]*`;
    expect(matches(glob, "a".repeat(4096))).toBe(false);
    expect(globSteps()).toBeLessThan(MAX_GLOB_STEPS + 10);
  });

  test("property: at most one for each character and each part between two stars", () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 20 }), text, (pieces, characters) => {
        const glob = pieces.join("");
        const longest = Math.max(...glob.split("*").map((part) => [...part].length));
        expect(steps(glob, characters.join(""))).toBeLessThanOrEqual(
          (characters.length + 1) * (longest + 1) + pieces.length,
        );
      }),
    );
  });
});
