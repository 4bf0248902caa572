import { describe, expect, test } from "@jest/globals";
import type { Workbench } from "../store.ts";

/** An upsert that is refused if the id exists. */
const creating = (_id: number) => ({
  updateOne: { filter: { _id, absent: 1 }, update: { $set: { n: 1 } }, upsert: true },
});

export function bulkTests(bench: Workbench): void {
  describe("bulkWrite", () => {
    test("runs all kinds in order and counts them", async () => {
      const things = await bench.collection([
        { _id: 1, n: 1 },
        { _id: 2, n: 1 },
        { _id: 3, n: 1 },
        { _id: 4, n: 9 },
        { _id: 5, n: 1 },
      ]);
      const result = await things.bulkWrite([
        { updateOne: { filter: { _id: 5 }, update: { $inc: { n: 1 } } } },
        { updateMany: { filter: { n: 1 }, update: { $set: { m: 1 } } } },
        { deleteMany: { filter: { m: 1 } } },
        { updateOne: { filter: { _id: 7 }, update: { $set: { u: 1 } }, upsert: true } },
      ]);
      expect(result).toMatchObject({
        ...{ matchedCount: 4, modifiedCount: 4, deletedCount: 3, upsertedCount: 1, upsertedIds: { 3: 7 } },
      });
      expect(await things.find().sort({ _id: 1 }).toArray()).toEqual([
        { _id: 4, n: 9 },
        { _id: 5, n: 2 },
        { _id: 7, u: 1 },
      ]);
    });

    test("unordered goes on after errors, and says which", async () => {
      const things = await bench.collection([{ _id: 1 }]);
      const operations = [1, 2, 1, 3].map(creating);
      const error = await things.bulkWrite(operations, { ordered: false }).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: "MongoBulkWriteError", code: 11000 });
      if (!bench.lacks("insertedCount")) expect(error.result.upsertedCount).toBe(2);
      expect(
        error.writeErrors.map(({ index, code }: { index: number; code: number }) => [index, code]),
      ).toEqual([
        [0, 11000],
        [2, 11000],
      ]);
      expect(await bench.ids(things)).toEqual([1, 2, 3]);
    });

    bench.it("ordered bulk writes stop at the first error", async () => {
      const things = await bench.collection([{ _id: 1 }]);
      const error = await things.bulkWrite([2, 1, 3].map(creating)).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: "MongoBulkWriteError", code: 11000 });
      expect(error.result.upsertedCount).toBe(1);
      expect(await bench.ids(things)).toEqual([1, 2]);
    });

    test("guarded updates count only what they changed", async () => {
      const things = await bench.collection([
        { _id: 1, s: "a" },
        { _id: 2, s: "b" },
      ]);
      const operations = [1, 2, 3].map((_id) => ({
        updateOne: { filter: { _id, s: "a" }, update: { $set: { s: "c" } } },
      }));
      expect(await things.bulkWrite(operations, { ordered: false })).toMatchObject({
        matchedCount: 1,
        modifiedCount: 1,
      });
    });
  });
}
