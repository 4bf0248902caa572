import { describe, expect, test } from "@jest/globals";
import type { Workbench } from "../store.ts";

export function modifyTests(bench: Workbench): void {
  describe("findOneAndUpdate", () => {
    test("gives the document before, or after", async () => {
      const things = await bench.collection([{ _id: 1, n: 1 }]);
      expect(await things.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } })).toEqual({ _id: 1, n: 1 });
      const after = await things.findOneAndUpdate(
        { _id: 1 },
        { $inc: { n: 1 } },
        { returnDocument: "after" },
      );
      expect(after).toEqual({ _id: 1, n: 3 });
      expect(await things.findOneAndUpdate({ _id: 2 }, { $inc: { n: 1 } })).toBeNull();
    });

    test("takes the first of the sort, and projects", async () => {
      const things = await bench.collection([
        { _id: 1, n: 1 },
        { _id: 2, n: 5 },
        { _id: 3, n: 3 },
      ]);
      const options = { sort: { n: -1 as const }, projection: { x: 1 }, returnDocument: "after" as const };
      expect(await things.findOneAndUpdate({}, { $set: { x: 1 } }, options)).toEqual({ _id: 2, x: 1 });
    });

    test("upserts", async () => {
      const things = await bench.collection();
      const upsert = { upsert: true, returnDocument: "after" as const };
      expect(await things.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, upsert)).toEqual({ _id: 1, n: 1 });
      expect(await things.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, upsert)).toEqual({ _id: 1, n: 2 });
      expect(await things.findOneAndUpdate({ _id: 2 }, { $inc: { n: 1 } }, { upsert: true })).toBeNull();
    });

    test("only one of many takes what is there once", async () => {
      const things = await bench.collection([{ _id: 1, state: "ready" }]);
      const takes = Array.from({ length: 20 }, (_, by) =>
        things.findOneAndUpdate(
          { state: "ready" },
          { $set: { state: "taken", by } },
          { returnDocument: "after" },
        ),
      );
      expect((await Promise.all(takes)).filter((taken) => taken !== null)).toHaveLength(1);
    });
  });

  test("findOneAndDelete gives what it removed", async () => {
    const things = await bench.collection([
      { _id: 1, n: 1 },
      { _id: 2, n: 2 },
    ]);
    expect(await things.findOneAndDelete({}, { sort: { n: -1 } })).toEqual({ _id: 2, n: 2 });
    expect(await things.findOneAndDelete({ _id: 2 })).toBeNull();
    expect(await things.countDocuments()).toBe(1);
  });

  test("findOneAndReplace replaces", async () => {
    const things = await bench.collection([{ _id: 1, n: 1 }]);
    expect(await things.findOneAndReplace({ n: 1 }, { m: 2 }, { returnDocument: "after" })).toEqual({
      _id: 1,
      m: 2,
    });
  });
}
