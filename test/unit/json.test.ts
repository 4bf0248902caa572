import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  countValues,
  exactDigits,
  hasLongIntegers,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseExact,
  parseJsonBytes,
  parseJsonText,
  stringifyExact,
  unreadableJson,
} from "../../lib/json/json.ts";

const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => '{"a":'.repeat(depth) + 1 + "}".repeat(depth);

describe.each([
  ["arrays", arrays],
  ["objects", objects],
  ["both, with many flat values", (depth: number) => `[${"[],".repeat(5000)}${objects(depth - 1)}]`],
])("%s", (_, nested) => {
  test.each([2, MAX_JSON_DEPTH])("%s deep are read", (depth) =>
    expect(JSON.stringify(parseJsonText(nested(depth)))).toBe(nested(depth)),
  );

  test.each([MAX_JSON_DEPTH + 1, 100 * MAX_JSON_DEPTH])("%s deep are refused", (depth) =>
    expect(() => parseJsonText(nested(depth))).toThrow("nested deeper than 1000 levels"),
  );
});

test("a byte order mark before it is passed over, once", () => {
  expect(parseJsonBytes(Buffer.from("\ufeff[1]"))).toEqual([1]);
  expect(() => parseJsonBytes(Buffer.from("\ufeff\ufeff[1]"))).toThrow(SyntaxError);
});

test("what is no JSON is not quoted: it may hold a secret", () =>
  expect(() => parseJsonBytes(Buffer.from('{"password":hunter2}'))).toThrow(/^Unexpected token 'h'$/));

test("what is no JSON is a syntax error", () => expect(() => parseJsonText("{")).toThrow(SyntaxError));

describe("integers that a double cannot hold", () => {
  const TEXT =
    '{"id":820982911946154508,"list":[-9007199254740993,1],"text":"a:820982911946154508,","half":0.1234567890123456}';

  test("keep their digits where asked, and are rounded elsewhere", () => {
    for (const exact of [
      ...[parseExact(TEXT), parseJsonText(TEXT, true), parseJsonBytes(Buffer.from(TEXT), { exact: true })],
    ])
      expect(JSON.stringify(exact)).toBe(TEXT);
    expect(JSON.stringify(parseJsonText(TEXT))).not.toBe(TEXT);
    expect(exactDigits(parseExact(TEXT).id)).toBe("820982911946154508");
    expect(exactDigits({ rawJSON: "1" })).toBeNull();
    expect(parseExact(TEXT).list[1]).toBe(1);
  });

  test("stay apart from doubles between nodes", () => {
    const doubles = { n: 2 ** 53, list: [-(2 ** 64), 1.5e300, 1 / 3, 3], text: "9007199254740993" };
    const read = parseExact(stringifyExact({ exact: parseExact(TEXT), doubles }));
    expect(read.doubles).toEqual(doubles);
    expect(JSON.stringify(read.exact)).toBe(TEXT);
  });

  test("other JSON is parsed as usual", () => {
    for (const text of [
      ...['"820982911946154508"', '{"a":[0.82098291194615450]}', '{"at":"1:820982911946154508"}'],
    ])
      expect(hasLongIntegers(text)).toBe(false);
    expect(hasLongIntegers("820982911946154508")).toBe(true);
  });

  test("a limit is told from invalid JSON", () => {
    const many = Buffer.from(JSON.stringify(Array.from({ length: 100_001 }, () => 1)));
    const why = (bytes: Buffer) => {
      try {
        parseJsonBytes(bytes);
      } catch (err) {
        return unreadableJson("body", err);
      }
    };
    expect(why(many)).toMatch(/^the body is over the limit for JSON: The JSON has more than 100000 values/);
    expect(why(Buffer.from("{"))).toMatch(/^the body is not valid JSON/);
  });
});

describe("a number that no double can hold", () => {
  const many = "9".repeat(309);
  test.each([
    ["1e400", ""],
    ["-1.5E+0309", ""],
    [many, ""],
    [`${"9".repeat(210)}e99`, ""],
    [`{"a":[0,{"b":1e999}]}`, "a.1.b"],
    [`[1e999]`, "0"],
    [`["${"1".repeat(199)}","${"x".repeat(57)}",${many}]`, "2"],
  ])("is refused: %s", (text, field) => {
    expect(() => parseJsonText(text)).toThrow(expect.objectContaining({ field }));
    expect(() => parseJsonBytes(Buffer.from(text))).toThrow("a number beyond the range of a double");
  });

  test.each([
    ...["1.7976931348623157e308", `${many.slice(1)}`, `0.${many}`, "1e-400"],
    ...[`{"1e400":"1e400","a":"${many}"}`, `"${"1e400 ".repeat(100)}"`],
  ])("is not %s", (text) => expect(parseJsonText(text)).toEqual(JSON.parse(text)));

  test("is looked for before the test ends, which the square of the length would take hours", () => {
    for (const text of ["9".repeat(199), "1e", "9", "e400"]) {
      const json = JSON.stringify(`${text} `.repeat(1_048_576 / (text.length + 1)));
      expect(parseJsonText(json)).toHaveLength(json.length - 2);
    }
  });
});

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

/** How many values there are, keys of objects left out; an empty list counts as if one were in it. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const items = Object.values(value);
  return 1 + (items.length ? items.reduce((sum: number, item) => sum + countOf(item), 0) : 1);
}

describe("the values of a body", () => {
  test("are counted without parsing it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (given) => {
        const value = [given];
        const count = countOf(value);
        expect(countValues(bytes(value), count)).toBe(count);
        expect(countValues(bytes(value), count - 1)).toBe(count);
      }),
    );
  });

  test("are not what stands in texts", () => {
    const text = '[{,"\\'.repeat(100_000);
    expect(countValues(bytes({ [text]: text }), 10)).toBe(2);
  });

  test("are counted behind texts that end in escapes", () => {
    const texts = ["\\", '\\"', '"', '"\\', "\\\\", ""];
    expect(countValues(bytes(texts), 100)).toBe(1 + texts.length);
    for (const broken of ['"', '"\\', '"\\"', "[", ""])
      expect(countValues(Buffer.from(broken), 100)).toBeLessThanOrEqual(2);
  });

  test("are bounded where there are many bytes", () => {
    const list = (length: number) => bytes(Array.from({ length }, () => 0));
    expect(parseJsonBytes(list(MAX_JSON_VALUES - 1))).toHaveLength(MAX_JSON_VALUES - 1);
    expect(() => parseJsonBytes(list(MAX_JSON_VALUES + 1))).toThrow("more than 100000 values");
  });
});
