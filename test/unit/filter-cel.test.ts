import { expect, test } from "@jest/globals";
import { RE2JS } from "re2js";
import { compileRegex, programSizeBound } from "../../lib/filter/cel.ts";
import { compileFilter, EventScope } from "../../lib/filter/filter.ts";

// Where cel-js by itself differs from CEL as cel-go evaluates it: each of these once gave another result.

const data = {
  ...{ emoji: "😀", wide: "ｚ", late: "2026-01-01T00:00:00.000000002Z", impossible: "2026-02-30T00:00:00Z" },
  ...{ huge: 1e19, blank: "" },
};

function outcome(expression: string): string {
  try {
    return compileFilter(expression).matches(new EventScope({ type: "t", data }));
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

const at = (text: string) => `timestamp('${text}')`;
const SECOND = "2026-01-01T00:00:00";

test.each([
  [
    "texts are ordered by code point",
    "data.wide < data.emoji && 'ｚ' < '😀' && !('😀' <= 'ｚ') && 'a' < 'ab'",
  ],
  ["indexes of texts count code points", "'😀a'.indexOf('a') == 1 && '😀ab'.substring(1, 2) == 'a'"],
  ["… from the end too", "'a😀a'.lastIndexOf('a') == 2 && 'a😀a'.indexOf('a', 1) == 2"],
  ["only ASCII changes its case", "'ÄB'.lowerAscii() == 'Äb' && 'äb'.upperAscii() == 'äB'"],
  ["nanoseconds count", `timestamp(data.late) > ${at(`${SECOND}.000000001Z`)}`],
  ["… in equality", `${at(`${SECOND}.000000001Z`)} != ${at(`${SECOND}Z`)}`],
  ["… in differences", `timestamp(data.late) - ${at(`${SECOND}Z`)} == duration('2ns')`],
  ["… in sums", `${at(`${SECOND}Z`)} + duration('2ns') == timestamp(data.late)`],
  ["… before 1970", `${at("1969-12-31T23:59:59.999999999Z")} + duration('1ns') == timestamp(0)`],
  ["… of durations", "duration('9007199254740993ns') > duration('9007199254740992ns')"],
  ["durations with signs add up", "duration('-1.5s') + duration('1s') == duration('-0.5s')"],
  ["a time is a text again", `string(${at(`${SECOND}.000000321Z`)}) == '${SECOND}.000000321Z'`],
  ["a duration is a text", "string(duration('90m')) == '5400s' && string(duration('-1500ms')) == '-1.5s'"],
  ["a time is a number", `int(${at("1970-01-01T00:01:00Z")}) == 60`],
  ["hours of a zone do not depend on this machine", `${at(`${SECOND}Z`)}.getHours('Asia/Kolkata') == 5`],
  ["… nor do those of an offset", `${at(`${SECOND}Z`)}.getMinutes('+05:45') == 45`],
  ["… nor days of the year", `${at("2026-07-01T00:00:00Z")}.getDayOfYear() == 181`],
  ["bytes have an order", "b'a' < b'b' && b'ab' >= b'a'"],
])("%s: %s", (_, expression) => expect(outcome(expression)).toBe("match"));

test.each([
  ["a day that is none", "timestamp(data.impossible) > timestamp(0)"],
  ["another one", `${at("2026-13-01T00:00:00Z")} > timestamp(0)`],
  ["an hour that is none", `${at("2026-01-01T24:00:00Z")} > timestamp(0)`],
  ["a time without an offset", `${at("2026-01-01T00:00:00.000")} > timestamp(0)`],
  ["a time past the year 9999", `${at("9999-12-31T23:59:59Z")} + duration('1s') > timestamp(0)`],
  ["a double beyond all ints", "int(data.huge) > 0"],
  ["2^63", "int(9223372036854775808.0) > 0"],
  ["a negative double as uint", "uint(-1.5) == 0u"],
  ["the negative of the least int", "-int('-9223372036854775808') > 0"],
  ["the least int by -1", "int('-9223372036854775808') / -1 > 0"],
  ["its remainder", "int('-9223372036854775808') % -1 == 0"],
  ["no digits as int", "int(data.blank) == 0"],
  ["bits as int", "int('0b11') == 3"],
  ["hexadecimal digits as double", "double('0x10') == 16.0"],
  ["a duration without digits", "duration('s') == duration('0s')"],
])("%s is an error: %s", (_, expression) => expect(outcome(expression)).toBe("error"));

test("a regex matches anywhere, in RE2 syntax", () => {
  expect(compileRegex("b+c").test("abbbcd")).toBe(true);
  expect(compileRegex("^b").test("ab")).toBe(false);
  expect(compileRegex("(?i)SECURITY").test("a security hole")).toBe(true);
  expect(() => compileRegex("(a)\\1")).toThrow("invalid escape");
  expect(() => compileRegex("(a")).toThrow("missing closing )");
});

test("a regex does not backtrack", () =>
  expect(compileRegex("^(a+)+$").test(`${"a".repeat(100_000)}!`)).toBe(false));

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
