import { describe, expect, test } from "@jest/globals";
import { MAX_JSON_DEPTH, parseJsonBytes, parseJsonText } from "../../lib/json.ts";

const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => '{"a":'.repeat(depth) + 1 + "}".repeat(depth);

describe.each([
  ["arrays", arrays],
  ["objects", objects],
  ["both, beside much that is flat", (depth: number) => `[${"[],".repeat(5000)}${objects(depth - 1)}]`],
])("%s", (_, nested) => {
  test.each([2, MAX_JSON_DEPTH])("%s deep are read", (depth) => {
    expect(JSON.stringify(parseJsonText(nested(depth)))).toBe(nested(depth));
  });

  test.each([MAX_JSON_DEPTH + 1, 100 * MAX_JSON_DEPTH])("%s deep are refused", (depth) => {
    expect(() => parseJsonText(nested(depth))).toThrow("nested deeper than 1000 levels");
  });
});

test("a byte order mark before it is passed over, once", () => {
  expect(parseJsonBytes(Buffer.from("\ufeff[1]"))).toEqual([1]);
  expect(() => parseJsonBytes(Buffer.from("\ufeff\ufeff[1]"))).toThrow(SyntaxError);
});

test("what is no JSON is a syntax error", () => {
  expect(() => parseJsonText("{")).toThrow(SyntaxError);
});
