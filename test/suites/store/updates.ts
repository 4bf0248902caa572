import { describe, expect, test } from "@jest/globals";
import type { Workbench } from "../store.ts";

const AT = new Date("2026-01-02T03:04:05.678Z");

/** A document, an update, and what it is afterwards. */
const CASES: [name: string, before: object, update: object, after: object][] = [
  ["$set", { a: 1 }, { $set: { a: AT, b: "x" } }, { a: AT, b: "x" }],
  ["$set of a dotted path", { a: { b: 1 } }, { $set: { "a.c.d": 2 } }, { a: { b: 1, c: { d: 2 } } }],
  ["$set of a position", { a: [1, 2] }, { $set: { "a.1": 5 } }, { a: [1, 5] }],
  ["$set past the end", { a: [1] }, { $set: { "a.3": 5 } }, { a: [1, null, null, 5] }],
  ["$set inside an element", { a: [{ b: 1 }] }, { $set: { "a.0.b": 2 } }, { a: [{ b: 2 }] }],
  ["$unset", { a: 1, b: { c: 1, d: 2 } }, { $unset: { a: "", "b.c": 1, zz: 1 } }, { b: { d: 2 } }],
  ["$unset of a position", { a: [1, 2] }, { $unset: { "a.0": 1 } }, { a: [null, 2] }],
  ["$inc", { a: 1 }, { $inc: { a: 2, b: -1, "c.d": 0.5 } }, { a: 3, b: -1, c: { d: 0.5 } }],
  ["$max", { a: 3, b: 3 }, { $max: { a: 2, b: 4, c: 1 } }, { a: 3, b: 4, c: 1 }],
  ["$max of dates", { a: new Date(0) }, { $max: { a: AT } }, { a: AT }],
  ["$push", { a: [1] }, { $push: { a: 2, b: { c: 1 } } }, { a: [1, 2], b: [{ c: 1 }] }],
  ["$push of an array as one", { a: [1] }, { $push: { a: [2, 3] } }, { a: [1, [2, 3]] }],
  ["$push $each", { a: [1] }, { $push: { a: { $each: [2, 3] } } }, { a: [1, 2, 3] }],
  ["$push $slice keeps the last", { a: [1, 2] }, { $push: { a: { $each: [3], $slice: -2 } } }, { a: [2, 3] }],
  ["$addToSet", { a: [1, { b: 1 }] }, { $addToSet: { a: { b: 1 }, c: 1 } }, { a: [1, { b: 1 }], c: [1] }],
  ["$addToSet $each", { a: [1] }, { $addToSet: { a: { $each: [1, 2, 2] } } }, { a: [1, 2] }],
  ["$pull of a value", { a: [1, 2, 1] }, { $pull: { a: 1 } }, { a: [2] }],
  ["$pull where there is none", { b: 1 }, { $pull: { a: 1 } }, { b: 1 }],
  ["$setOnInsert of what is there", { a: 1 }, { $set: { b: 1 }, $setOnInsert: { c: 1 } }, { a: 1, b: 1 }],
  [
    "several operators",
    { n: 1, list: [1] },
    { $set: { s: "x" }, $inc: { n: 1 }, $push: { list: 2 } },
    { n: 2, list: [1, 2], s: "x" },
  ],
];

const REFUSED: [name: string, before: object, update: object, code: number][] = [
  ["$inc of a string", { a: "x" }, { $inc: { a: 1 } }, 14],
  ["$push to a number", { a: 1 }, { $push: { a: 1 } }, 2],
  ["a path through a scalar", { a: 1 }, { $set: { "a.b": 1 } }, 28],
  ["two changes of one path", { a: 1 }, { $set: { a: 1 }, $inc: { a: 1 } }, 40],
  ["a change of _id", { a: 1 }, { $set: { _id: "other" } }, 66],
];

export function updateTests(bench: Workbench): void {
  describe("update operators", () => {
    test.each(CASES.filter(([name]) => !bench.lacks(name)))("%s", async (_name, before, update, after) => {
      const things = await bench.collection([{ _id: "it", ...before }]);
      const result = await things.updateOne({ _id: "it" }, update);
      expect(await things.findOne({})).toEqual({ _id: "it", ...after });
      const changed = JSON.stringify(before) !== JSON.stringify(after);
      expect(result).toMatchObject({ acknowledged: true, matchedCount: 1, modifiedCount: changed ? 1 : 0 });
    });

    test.each(REFUSED)("refuses %s and changes nothing", async (_name, before, update, code) => {
      const things = await bench.collection([{ _id: "it", ...before }]);
      await expect(things.updateOne({ _id: "it" }, update)).rejects.toMatchObject({
        name: "MongoServerError",
        ...(bench.lacks("codes of refused updates") ? {} : { code }),
      });
      expect(await things.findOne({})).toEqual({ _id: "it", ...before });
    });

    bench.it("an unknown operator is refused by name", async () => {
      const things = await bench.collection([{ _id: 1 }]);
      await expect(things.updateOne({}, { $nonsense: { a: 1 } } as never)).rejects.toThrow("$nonsense");
    });

    test("an update without operators is refused", async () => {
      const things = await bench.collection([{ _id: 1 }]);
      await expect(async () => things.updateOne({}, { a: 1 } as never)).rejects.toThrow("atomic operators");
    });
  });
}
