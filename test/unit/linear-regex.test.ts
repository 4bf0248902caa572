import { expect, test } from "@jest/globals";
import { RE2JS } from "re2js";
import { compileRegex, programSizeBound } from "../../lib/filter/cel.ts";

test("matches anywhere, in RE2 syntax", () => {
  expect(compileRegex("b+c").test("abbbcd")).toBe(true);
  expect(compileRegex("^b").test("ab")).toBe(false);
  expect(compileRegex("(?i)SECURITY").test("a security hole")).toBe(true);
  expect(() => compileRegex("(a)\\1")).toThrow("invalid escape");
  expect(() => compileRegex("(a")).toThrow("missing closing )");
});

test("does not backtrack", () => expect(compileRegex("^(a+)+$").test(`${"a".repeat(100_000)}!`)).toBe(false));

test.each([
  ...["(x{10}){10}y{10}", "(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "\\d{4}-\\d{2}", "[]a]{3}|[[:alpha:]]{5}"],
  "a\\{30}",
])("the size bound of %s is near its size and not below half of it", (pattern) => {
  const size = RE2JS.compile(pattern).programSize();
  expect(programSizeBound(pattern)).toBeGreaterThan(size / 2);
  expect(programSizeBound(pattern)).toBeLessThan(size * 2);
});

test.each([
  ...["a{1000}a{1000}", "(abcdefghij){1000}", "((a{30}){30}){30}", "a{2,900}b{2,900}"],
  "\\pL".repeat(60),
])("%s is refused before it is compiled", (pattern) =>
  expect(() => compileRegex(pattern)).toThrow("the limit is 1000"),
);

test("unbalanced patterns are left to RE2", () => {
  expect(() => compileRegex("a)b")).toThrow("unexpected )");
  expect(() => compileRegex("*a")).toThrow("missing argument");
});
