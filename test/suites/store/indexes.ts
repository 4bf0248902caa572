import { describe, expect, test } from "@jest/globals";
import type { AnyCollection, Workbench } from "../store.ts";

const insert = (things: AnyCollection, ...documents: object[]) =>
  Promise.all(documents.map((document) => things.insertOne(document as never)));
const DUPLICATE = { code: 11000 };

export function indexTests(bench: Workbench): void {
  describe("indexes", () => {
    test("are made once, by the name that is given or follows from the keys", async () => {
      const things = await bench.collection([{ _id: 1 }]);
      expect(await things.createIndex({ a: 1, b: -1 })).toBe("a_1_b_-1");
      expect(await things.createIndex({ a: 1, b: -1 })).toBe("a_1_b_-1");
      await things.createIndexes([
        { key: { c: 1 }, unique: true, sparse: true, name: "c" },
        { key: { d: 1 }, expireAfterSeconds: 60 },
      ]);
      await insert(things, { _id: 2 }, { _id: 3, c: 1 });
      await expect(things.insertOne({ _id: 4, c: 1 } as never)).rejects.toMatchObject(DUPLICATE);
    });

    test("are filled from what is there", async () => {
      const things = await bench.collection([{ _id: 1, a: "x" }, { _id: 2, a: "y" }, { _id: 3 }]);
      await things.createIndex({ a: 1 });
      expect(await things.find({ a: "y" }).toArray()).toEqual([{ _id: 2, a: "y" }]);
      expect(await things.countDocuments({ a: null })).toBe(1);
    });

    test("a unique one is refused when documents differ from it", async () => {
      const things = await bench.collection([
        { _id: 1, a: "x" },
        { _id: 2, a: "x" },
      ]);
      await expect(things.createIndex({ a: 1 }, { unique: true })).rejects.toMatchObject(DUPLICATE);
      await things.insertOne({ _id: 3, a: "x" });
    });

    test("follow updates and deletes", async () => {
      const things = await bench.collection();
      await things.createIndex({ a: 1, "b.c": -1 });
      await things.insertMany([
        { _id: 1, a: 1, b: { c: 1 } },
        { _id: 2, a: 1, b: { c: 2 } },
      ]);
      await things.updateOne({ _id: 1 }, { $set: { "b.c": 3 } });
      expect(await things.find({ a: 1 }).sort({ "b.c": -1 }).toArray()).toMatchObject([
        { _id: 1 },
        { _id: 2 },
      ]);
      await things.updateOne({ _id: 2 }, { $unset: { b: 1 } });
      expect(await things.find({ a: 1, "b.c": null }).toArray()).toMatchObject([{ _id: 2 }]);
      await things.deleteOne({ _id: 1 });
      expect(await things.countDocuments({ a: 1 })).toBe(1);
    });

    describe("unique", () => {
      test("refuses a second value on insert and on update", async () => {
        const things = await bench.collection();
        await things.createIndex({ t: 1, slug: 1 }, { unique: true });
        await insert(
          things,
          { _id: 1, t: "a", slug: "x" },
          { _id: 2, t: "b", slug: "x" },
          { _id: 3, t: "a", slug: "y" },
        );
        const error = await things.insertOne({ _id: 4, t: "a", slug: "x" }).catch((thrown) => thrown);
        expect(error).toMatchObject(DUPLICATE);
        if (!bench.lacks("keyPattern"))
          expect(error).toMatchObject({ keyPattern: { t: 1, slug: 1 }, keyValue: { t: "a", slug: "x" } });
        await expect(things.updateOne({ _id: 3 }, { $set: { slug: "x" } })).rejects.toMatchObject(DUPLICATE);
        expect(await things.findOne({ _id: 3 })).toMatchObject({ slug: "y" });
        await expect(
          things.updateOne({ t: "a", slug: "z" }, { $set: { _id: 1 } as never }, { upsert: true }),
        ).rejects.toMatchObject(DUPLICATE);
      });

      bench.it("takes a missing value for a value", async () => {
        const things = await bench.collection();
        await things.createIndex({ t: 1, a: 1 }, { unique: true });
        await insert(things, { _id: 1, t: 1 }, { _id: 2, t: 2 });
        await expect(things.insertOne({ _id: 3, t: 1 })).rejects.toMatchObject(DUPLICATE);
        await expect(things.insertOne({ _id: 4, t: 1, a: null })).rejects.toMatchObject(DUPLICATE);
        await things.insertOne({ _id: 5, t: 1, a: 0 });
      });

      test("sparse lets any number of documents go without, but not with null", async () => {
        const things = await bench.collection();
        await things.createIndex({ a: 1 }, { unique: true, sparse: true });
        await insert(things, { _id: 1 }, { _id: 2 }, { _id: 3, a: "x" });
        await expect(things.insertOne({ _id: 4, a: "x" })).rejects.toMatchObject(DUPLICATE);
        await things.insertOne({ _id: 5, a: null });
        await expect(things.insertOne({ _id: 6, a: null })).rejects.toMatchObject(DUPLICATE);
        await things.updateOne({ _id: 3 }, { $unset: { a: 1 } });
        await things.insertOne({ _id: 7, a: "x" });
        expect(await things.countDocuments({})).toBe(5);
      });

      test("sparse serves a filter that nothing can fit", async () => {
        const things = await bench.collection([{ _id: 1, due: 1 }]);
        await things.createIndex({ due: 1 }, { sparse: true });
        expect(await things.find({ _id: { $in: [] }, due: { $lte: 2 } }).toArray()).toEqual([]);
        expect(await things.deleteMany({ _id: { $in: [] }, due: { $lte: 2 } })).toMatchObject({
          deletedCount: 0,
        });
        expect(await things.countDocuments({ due: { $lte: 2 } })).toBe(1);
      });

      bench.it("holds for every element of an array", async () => {
        const things = await bench.collection();
        await things.createIndex({ tags: 1 }, { unique: true });
        await things.insertOne({ _id: 1, tags: ["a", "b", "b"] });
        await things.insertOne({ _id: 2, tags: "c" });
        await expect(things.insertOne({ _id: 3, tags: ["d", "b"] })).rejects.toMatchObject(DUPLICATE);
        await expect(things.updateOne({ _id: 2 }, { $set: { tags: ["a"] } })).rejects.toMatchObject(
          DUPLICATE,
        );
        expect(await things.find({ tags: "c" }).toArray()).toEqual([{ _id: 2, tags: "c" }]);
        expect(await things.countDocuments({ tags: "d" })).toBe(0);
      });
    });

    describe("over arrays", () => {
      const make = async () => {
        const things = await bench.collection([{ _id: 0, t: 1, tags: "solo" }]);
        await things.createIndex({ t: 1, tags: 1 });
        await things.insertMany([
          { _id: 1, t: 1, tags: ["a", "b"] },
          { _id: 2, t: 1, tags: [] },
          { _id: 3, t: 2, tags: ["a"] },
          { _id: 4, t: 1 },
        ]);
        return things;
      };

      test("find by an element", async () => {
        const things = await make();
        expect(await things.find({ t: 1, tags: "a" }).toArray()).toMatchObject([{ _id: 1 }]);
        expect(await things.countDocuments({ tags: "a" })).toBe(2);
        expect(await things.countDocuments({ t: 1, tags: { $in: ["solo", "b", "a"] } })).toBe(2);
        expect(await things.countDocuments({ t: 1 })).toBe(4);
        expect(await things.countDocuments({ t: 1, tags: null })).toBe(1);
        expect(await things.countDocuments({ t: 1, tags: ["a", "b"] })).toBe(1);
      });

      test("follow updates", async () => {
        const things = await make();
        await things.updateOne({ _id: 1 }, { $pull: { tags: "a" as never }, $set: { t: 3 } });
        await things.updateOne({ _id: 4 }, { $push: { tags: "new" as never } });
        await things.updateOne({ _id: 0 }, { $set: { tags: ["solo", "duo"] } });
        expect(await things.countDocuments({ t: 3, tags: "b" })).toBe(1);
        expect(await things.countDocuments({ tags: "a" })).toBe(1);
        expect(await things.countDocuments({ t: 1, tags: { $in: ["new", "duo"] } })).toBe(2);
        await things.deleteMany({ tags: "duo" });
        expect(await things.countDocuments({ tags: "solo" })).toBe(0);
      });

      test("find in documents of an array", async () => {
        const things = await bench.collection();
        await things.createIndex({ "list.k": 1 });
        await things.insertMany([
          { _id: 1, list: [{ k: "a" }, { k: "b" }] },
          { _id: 2, list: { k: "a" } },
          { _id: 3, list: [{ z: 1 }] },
        ]);
        expect(await things.countDocuments({ "list.k": "a" })).toBe(2);
        expect(await things.countDocuments({ "list.k": "b" })).toBe(1);
        expect(await things.countDocuments({ "list.k": null })).toBe(1);
      });

      bench.it("refuse two arrays in one document", async () => {
        const things = await bench.collection();
        await things.createIndex({ a: 1, b: 1 });
        await expect(things.insertOne({ _id: 1, a: [1], b: [2] })).rejects.toMatchObject({ code: 171 });
        expect(await things.countDocuments({})).toBe(0);
      });

      test("an update that first makes an array is found", async () => {
        const things = await bench.collection([
          { _id: 1, a: 1 },
          { _id: 2, a: 2 },
        ]);
        await things.createIndex({ a: 1 });
        await things.updateOne({ _id: 1 }, { $set: { a: [2, 3] } });
        expect(await things.countDocuments({ a: 2 })).toBe(2);
        expect(await things.countDocuments({ a: 3 })).toBe(1);
        expect(await things.countDocuments({ a: 1 })).toBe(0);
        expect(await things.countDocuments({ a: { $gt: 1 } })).toBe(2);
      });
    });
  });
}
