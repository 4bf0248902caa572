import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseJsonBytes } from "../../lib/json/json.ts";
import { countValues, MAX_JSON_VALUES, UNCOUNTED_BYTES } from "../../lib/json/json-values.ts";
import { operations } from "../../services/contracts.ts";
import { DEFAULT_MAX_BODY } from "../../services/edge/gateway/body/body.ts";

const MEGABYTE = 1_048_576;
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
    expect(() => parseJsonBytes(list(MAX_JSON_VALUES + 1))).toThrow(
      "it contains more than 20000 values in more than 32768 bytes",
    );
    expect(MAX_JSON_VALUES * 2).toBeGreaterThan(UNCOUNTED_BYTES);
  });
});

/**
 * Routes that read more than a megabyte (docs/decisions/0018): `values` are parsed here within the bound above, `pieces`
 * in a thread; a `blob` is never parsed, only the other fields are.
 */
const LARGE = {
  "events.publish": "pieces",
  "memories.create": "values",
  "memories.create_batch": "pieces",
  "memories.update": "values",
  "runs.complete_step": "values",
  "state.put": "blob",
  "gateway.mcp": "values",
  "documents.upload": "blob",
  "exemplars.create": "blob",
  "outputs.save": "blob",
};

test("every route that reads more than a megabyte is known, and does not hold the main thread up", () => {
  const large = operations.filter(
    ({ maxBody = 0, maxBodySetting }) => maxBody > DEFAULT_MAX_BODY || maxBodySetting,
  );
  const ways = large.map((op) => {
    const pieces = op.inPieces !== undefined || op.consumes === "cloudevents";
    return [op.action, op.byReference ? "blob" : pieces ? "pieces" : "values"];
  });
  expect(DEFAULT_MAX_BODY).toBe(MEGABYTE);
  expect(Object.fromEntries(ways)).toEqual(LARGE);
});
