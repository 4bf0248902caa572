import { expect, test } from "@jest/globals";
import { metadataCheck, packMetadata, unpackMetadata } from "../../lib/filter/metadata.ts";

const unpacked = (given: object) =>
  [...unpackMetadata(packMetadata(given))].map(({ key, value }) => [key, value]);

test("keeps texts, numbers and booleans, each once, and those of lists after the others", () => {
  const given = { tags: ["a", "b", "a", null, ["c"], {}], n: 1, no: false, of: { n: 2 }, none: null };
  expect(unpacked(given)).toEqual([
    ["n", 1],
    ["no", false],
    ["tags", "a"],
    ["tags", "b"],
  ]);
  expect(packMetadata({ of: {}, none: null })).toBe("");
});

test("keeps at most 4,000 characters, and no long keys or texts", () => {
  const long = {
    many: Array.from({ length: 9000 }, (_, n) => n),
    ["k".repeat(65)]: 1,
    text: "x".repeat(201),
  };
  const packed = packMetadata({ ...long, kept: "🦊".repeat(200), last: true });
  expect(packed.length).toBeLessThanOrEqual(4000);
  const keys = new Set(unpacked({ ...long, last: true }).map(([key]) => key));
  expect([...keys]).toEqual(["last", "many"]);
  expect(metadataCheck([{ key: "kept", in: ["🦊".repeat(200)] }])(packed)).toBe(true);
});
