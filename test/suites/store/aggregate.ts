import { describe, expect, test } from "@jest/globals";
import type { Workbench } from "../store.ts";

const AT = new Date("2026-01-02T03:04:05.678Z");
const DOCUMENTS = [
  { _id: 1, state: "a", n: 1, at: AT },
  { _id: 2, state: "b", n: 2, at: new Date(0) },
  { _id: 3, state: "a", n: 4, at: new Date(5) },
  { _id: 4, n: 8 },
];

export function aggregateTests(bench: Workbench): void {
  describe.each([
    ["without an index", []],
    ["with an index", [{ state: 1 }]],
  ])("aggregate %s", (_, indexes) => {
    const run = async (pipeline: object[]) => {
      const things = await bench.collection(DOCUMENTS as object[]);
      for (const index of indexes) await things.createIndex(index as never);
      return things.aggregate(pipeline).toArray();
    };

    test("groups and counts", async () => {
      const groups = await run([{ $group: { _id: "$state", count: { $sum: 1 } } }, { $sort: { _id: 1 } }]);
      expect(groups).toEqual([
        { _id: null, count: 1 },
        { _id: "a", count: 2 },
        { _id: "b", count: 1 },
      ]);
    });

    test("groups what matches, with sums and extremes", async () => {
      const groups = await run([
        { $match: { state: { $in: ["a", "b"] } } },
        { $group: { _id: "$state", sum: { $sum: "$n" }, newest: { $max: "$at" } } },
        { $sort: { _id: -1 } },
      ]);
      expect(groups).toEqual([
        { _id: "b", sum: 2, newest: new Date(0) },
        { _id: "a", sum: 5, newest: AT },
      ]);
    });

    test("sorts, skips, limits and projects", async () => {
      const found = await run([{ $sort: { n: -1 } }, { $skip: 1 }, { $limit: 2 }, { $project: { n: 1 } }]);
      expect(found).toEqual([
        { _id: 3, n: 4 },
        { _id: 2, n: 2 },
      ]);
    });

    test("counts", async () => {
      expect(await run([{ $match: { state: "a" } }, { $count: "n" }])).toEqual([{ n: 2 }]);
    });
  });

  test("an unknown stage is refused by name", async () => {
    const things = await bench.collection();
    await expect(things.aggregate([{ $nonsense: {} }]).toArray()).rejects.toThrow("$nonsense");
  });
}
