import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compileGlob, globError } from "../../lib/glob.ts";

const matches = (glob: string, text: string) => compileGlob(glob).test(text);

describe("what a glob matches", () => {
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
  ])("%s on %s: %s", (glob, text, expected) => {
    expect(matches(glob, text)).toBe(expected);
  });
});

test.each([
  ["", "must not be empty"],
  ["com.[ab", "position 4 is not closed"],
  ["[]", "position 0 is not closed"],
  ["[!]", "position 0 is not closed"],
  ["x[z-a]", "z-a in the class at position 1 is reversed"],
  ["a".repeat(256), "at most 255 characters, this one has 256"],
])("glob %j is refused", (glob, reason) => {
  expect(globError(glob)).toContain(reason);
  expect(() => compileGlob(glob)).toThrow(reason);
});

test("a valid glob has no error", () => {
  expect(globError("com.*.[a-z]?")).toBeNull();
});

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
    fc.property(fc.array(piece, { minLength: 1, maxLength: 7 }), text, (pieces, characters) => {
      expect(matches(pieces.join(""), characters.join(""))).toBe(naive(pieces, characters));
    }),
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

test("many stars do not multiply the work", () => {
  expect(matches(`${"*a".repeat(120)}*b`, "a".repeat(20_000))).toBe(false);
});
