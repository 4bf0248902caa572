import { expect, test } from "@jest/globals";
import { LruMap } from "../../lib/lru-map.ts";

test("the entry that was used longest ago makes way for a new one", () => {
  const map = new LruMap<string, number>(2).set("a", 1).set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([...map]).toEqual([
    ["a", 1],
    ["c", 3],
  ]);
});
