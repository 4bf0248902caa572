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
}
