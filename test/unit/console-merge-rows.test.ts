import { describe, expect, test } from "@jest/globals";
import { keyOf, mergeRows } from "../../packages/console/src/data/merge-rows.ts";

const rows = (text: string) => [...text].map((id) => ({ id, at: 0 }));
const read = (text: string, next: string | null = null) => ({ items: rows(text), next });
const ids = (items: { id: string }[]) => items.map(({ id }) => id).join("");

describe("the shown rows after a change", () => {
  test.each([
    ["new ones above are counted, and move nothing", read("cba"), read("edcba"), "cba", 2],
    ["new ones in between are counted", read("ace"), read("abcde"), "ace", 2],
    ["new ones at the end of a complete list are counted", read("ab"), read("abc"), "ab", 1],
    ["deleted ones go", read("cba"), read("ca"), "ca", 0],
    ["those that new ones pushed to the next page stay", read("cba", "1"), read("edc", "1"), "cba", 2],
    ["those that follow, as others are gone, are appended", read("edc", "1"), read("ecb", "1"), "ecb", 0],
    ["on a page of nothing but new ones, all stay", read("cba", "1"), read("fed", "1"), "cba", 3],
    ["of an empty list, new ones are shown", read(""), read("ba"), "ba", 0],
    ["all others gone, new ones are shown", read("a"), read("b"), "b", 0],
  ])("%s", (_, shown, fresh, left, added) => {
    const merged = mergeRows(shown, fresh);
    expect([ids(merged.items), merged.added]).toEqual([left, added]);
  });

  test("are the current ones", () => {
    const { items: merged } = mergeRows(read("ba"), { items: [{ id: "b", at: 1 }], next: null });
    expect(merged).toEqual([{ id: "b", at: 1 }]);
  });
});

test("a further page is appended without the rows that are shown already", () => {
  const { items, added } = mergeRows(read("cba", "1"), read("dcbayz"));
  expect([ids(items), added]).toEqual(["cbayz", 1]);
});

test("a row is identified by its own id, not by one that it refers to", () => {
  expect(keyOf({ chunk_id: "c", document_id: "d" })).toBe("c");
  expect(keyOf({ id: "i", agent_id: "a" })).toBe("i");
  expect(keyOf({ memory_id: "m", type: "semantic" })).toBe("m");
  expect(() => keyOf({})).toThrow("without a key");
});
