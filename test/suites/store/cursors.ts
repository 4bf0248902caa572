import { describe, expect, test } from "@jest/globals";
import type { AnyCollection, Workbench } from "../store.ts";

const AT = new Date(0);
/** In MongoDB's ascending order; the second key tells null and missing apart, which sort as equals. */
const MIXED = [
  { _id: 1, v: null, n: 1 },
  { _id: 2, n: 2 },
  { _id: 3, v: -5 },
  { _id: 4, v: 1.5 },
  { _id: 5, v: 1e10 },
  { _id: 6, v: "" },
  { _id: 7, v: "B" },
  { _id: 8, v: "a" },
  { _id: 9, v: "\x7f" },
  { _id: 10, v: "é" },
  { _id: 11, v: "\uffee" },
  { _id: 12, v: "\uffff" },
  { _id: 13, v: false },
  { _id: 14, v: true },
  { _id: 15, v: new Date(-1) },
  { _id: 16, v: AT },
  { _id: 17, v: new Date(1_700_000_000_000) },
];

const ids = (documents: { _id: unknown }[]) => documents.map(({ _id }) => _id);

export function cursorTests(bench: Workbench): void {
  describe("find", () => {
    test.each([[[]], [[{ v: 1, n: 1 }]]])(
      "sorts mixed types as MongoDB does, indexes %j",
      async (indexes) => {
        const things = await bench.collection([...MIXED].reverse());
        for (const index of indexes) await things.createIndex(index as never);
        const sorted = await things.find({}, { sort: { v: 1, n: 1 } }).toArray();
        expect(ids(sorted)).toEqual(ids(MIXED));
        const down = await things.find().sort({ v: -1, n: -1 }).toArray();
        expect(ids(down)).toEqual(ids(MIXED).reverse());
      },
    );

    test("sorts arrays by their least element, or greatest downwards", async () => {
      const things = await bench.collection([
        { _id: 1, v: [5, 9] },
        { _id: 2, v: 6 },
        { _id: 3, v: [1, 7] },
      ]);
      expect(ids(await things.find().sort({ v: 1 }).toArray())).toEqual([3, 1, 2]);
      expect(ids(await things.find().sort({ v: -1 }).toArray())).toEqual([1, 3, 2]);
      await things.createIndex({ v: 1 });
      expect(ids(await things.find().sort({ v: 1 }).toArray())).toEqual([3, 1, 2]);
    });

    test.each([[[]], [[{ group: 1, n: -1 }]]])(
      "skip and limit go by the sort, indexes %j",
      async (indexes) => {
        const things = await bench.collection(numbered(30));
        for (const index of indexes) await things.createIndex(index as never);
        const cursor = things.find({ group: 1 }).sort({ n: -1 }).skip(2).limit(3);
        expect(ids(await cursor.toArray())).toEqual([23, 21, 19].map(Number).map((n) => n + 2));
      },
    );

    test("projects paths in and out", async () => {
      const things = await bench.collection([
        { _id: 1, a: { b: 1, c: 2 }, list: [{ x: 1, y: 2 }, { y: 3 }], d: 4 },
      ]);
      const project = async (projection: object) => things.findOne({}, { projection });
      expect(await project({ d: 1 })).toEqual({ _id: 1, d: 4 });
      expect(await project({ d: 1, _id: 0 })).toEqual({ d: 4 });
      expect(await project({ "a.b": 1 })).toEqual({ _id: 1, a: { b: 1 } });
      expect(await project({ "list.x": 1 })).toEqual({ _id: 1, list: [{ x: 1 }, {}] });
      expect(await project({ "a.b": 0, list: 0 })).toEqual({ _id: 1, a: { c: 2 }, d: 4 });
      expect(await project({ "list.y": 0, a: 0 })).toEqual({ _id: 1, list: [{ x: 1 }, {}], d: 4 });
      expect(await project({ _id: 1 })).toEqual({ _id: 1 });
      expect(await project({ _id: 0 })).toEqual({
        ...{ a: { b: 1, c: 2 }, list: [{ x: 1, y: 2 }, { y: 3 }], d: 4 },
      });
    });

    test("reads answers of any length, whole or one by one", async () => {
      const things = await bench.collection(numbered(2_500));
      expect(await things.find({}, { projection: { _id: 1 } }).toArray()).toHaveLength(2_500);
      const sorted = await things
        .find({ n: { $gte: 10 } })
        .sort({ n: -1 })
        .toArray();
      expect(ids(sorted)).toEqual(Array.from({ length: 2_490 }, (_, i) => 2_499 - i));
      let count = 0;
      for await (const document of things.find()) count += document._id === undefined ? 0 : 1;
      expect(count).toBe(2_500);
    });

    test("next gives null at the end", async () => {
      const cursor = (await bench.collection([{ _id: 1 }])).find();
      expect(await cursor.hasNext()).toBe(true);
      expect(await cursor.next()).toEqual({ _id: 1 });
      expect(await cursor.next()).toBeNull();
      await cursor.close();
    });

    test("findOne takes the first of the sort, or gives null", async () => {
      const things = await bench.collection(numbered(5));
      expect(await things.findOne({}, { sort: { n: -1 } })).toMatchObject({ _id: 4 });
      expect(await things.findOne({ n: 77 })).toBeNull();
    });

    test("a collection that nobody wrote to is empty", async () => {
      const things: AnyCollection = bench.db().collection("never_written");
      expect(await things.find({ a: 1 }).toArray()).toEqual([]);
      expect(await things.countDocuments()).toBe(0);
      expect((await things.deleteMany({})).deletedCount).toBe(0);
      expect((await things.updateOne({ a: 1 }, { $set: { b: 1 } })).matchedCount).toBe(0);
    });
  });
}

function numbered(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({ _id: n, n, group: n % 2 }));
}
