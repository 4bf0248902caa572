import { describe, expect, test } from "@jest/globals";
import { ObjectId } from "mongodb";
import type { Workbench } from "../store.ts";

export function writeTests(bench: Workbench): void {
  describe("insert", () => {
    test("gives a document without _id an ObjectId, and puts it first", async () => {
      const things = await bench.collection();
      const document: { a: number; _id?: unknown } = { a: 1 };
      const { acknowledged, insertedId } = await things.insertOne(document);
      expect(acknowledged).toBe(true);
      expect(insertedId).toBeInstanceOf(ObjectId);
      expect(document._id).toEqual(insertedId);
      if (!bench.lacks("_id first"))
        expect(Object.keys(await things.findOne({ _id: insertedId }))).toEqual(["_id", "a"]);
    });

    test("keeps _id values of different types apart", async () => {
      const id = new ObjectId();
      const things = await bench.collection([
        { _id: 1 },
        { _id: "1" },
        { _id: true },
        { _id: id },
        { _id: { a: 1 } },
      ]);
      expect(await things.countDocuments({})).toBe(5);
      expect(await things.findOne({ _id: "1" })).toEqual({ _id: "1" });
      expect(await things.findOne({ _id: id })).toEqual({ _id: id });
      expect(await things.findOne({ _id: { a: 1 } })).toEqual({ _id: { a: 1 } });
    });

    test("refuses a second document with the same _id by code 11000", async () => {
      const things = await bench.collection([{ _id: "a" }]);
      await expect(things.insertOne({ _id: "a" })).rejects.toMatchObject({
        name: "MongoServerError",
        code: 11000,
        ...(bench.lacks("keyPattern") ? {} : { keyPattern: { _id: 1 }, keyValue: { _id: "a" } }),
      });
    });

    test("keeps what is undefined as null", async () => {
      const things = await bench.collection([{ _id: 1, a: undefined, b: { c: undefined }, d: [undefined] }]);
      expect(await things.findOne({ a: undefined })).toEqual({ _id: 1, a: null, b: { c: null }, d: [null] });
      await things.updateOne({ _id: 1 }, { $set: { a: 1, d: undefined } });
      await things.updateOne({ _id: 1 }, { $set: { a: undefined } });
      expect(await things.findOne({ _id: 1 })).toEqual({ _id: 1, a: null, b: { c: null }, d: null });
    });

    test("keeps numbers and times as they are", async () => {
      const given = {
        ...{ _id: 1, most: Number.MAX_SAFE_INTEGER, least: -(2 ** 53), part: 0.1, zero: 0 },
        ...(bench.lacks("NaN") ? {} : { none: NaN }),
      };
      const at = new Date("2026-01-31T09:30:00.001Z");
      const things = await bench.collection([{ ...given, at, early: new Date(-1), huge: 2 ** 31 }]);
      const kept = await things.findOne({ _id: 1 });
      expect(kept).toMatchObject({ ...given, at, early: new Date(-1), huge: 2 ** 31 });
      await things.updateOne({ _id: 1 }, { $inc: { huge: 2 ** 31 } });
      expect(await things.findOne({ huge: 2 ** 32 })).toMatchObject({ _id: 1 });
    });

    bench.it("refuses an array as _id", async () => {
      const things = await bench.collection();
      await expect(things.insertOne({ _id: [1] })).rejects.toThrow("array");
      expect(await things.countDocuments({})).toBe(0);
    });

    test("insertMany answers the ids", async () => {
      const things = await bench.collection();
      const result = await things.insertMany([{ _id: "a" }, { _id: "b" }]);
      expect(result).toMatchObject({ acknowledged: true, insertedCount: 2, insertedIds: { 0: "a", 1: "b" } });
    });

    test("ordered insertMany stops at the first error", async () => {
      const things = await bench.collection([{ _id: "b" }]);
      const failing = things.insertMany([{ _id: "a" }, { _id: "b" }, { _id: "c" }]);
      const error = await failing.catch((thrown) => thrown);
      expect(error).toMatchObject({ name: "MongoBulkWriteError", code: 11000 });
      if (!bench.lacks("insertedCount")) expect(error.insertedCount).toBe(1);
      expect(await bench.ids(things)).toEqual(["a", "b"]);
    });

    test("unordered insertMany goes on, and says what failed", async () => {
      const things = await bench.collection([{ _id: "b" }]);
      const failing = things.insertMany([{ _id: "a" }, { _id: "b" }, { _id: "c" }], { ordered: false });
      const error = await failing.catch((thrown) => thrown);
      expect(error).toMatchObject({ name: "MongoBulkWriteError", code: 11000 });
      if (!bench.lacks("insertedCount")) expect(error.insertedCount).toBe(2);
      expect(error.writeErrors).toHaveLength(1);
      expect(error.writeErrors[0]).toMatchObject({ index: 1, code: 11000 });
      expect(error.result.insertedIds).toEqual({ 0: "a", 2: "c" });
      expect(await bench.ids(things)).toEqual(["a", "b", "c"]);
    });
  });

  describe("update", () => {
    test("updateOne changes one, updateMany all", async () => {
      const things = await bench.collection([
        { _id: 1, g: 1 },
        { _id: 2, g: 1 },
        { _id: 3, g: 2 },
      ]);
      expect(await things.updateOne({ g: 1 }, { $set: { x: 1 } })).toMatchObject({
        matchedCount: 1,
        modifiedCount: 1,
      });
      expect(await things.updateMany({ g: 1 }, { $set: { x: 1 } })).toMatchObject({
        matchedCount: 2,
        modifiedCount: 1,
      });
      expect(await things.countDocuments({ x: 1 })).toBe(2);
    });

    test("of a list of ids all count as matched that fit, whether they change or fit afterwards", async () => {
      const things = await bench.collection([
        { _id: 1, g: 1 },
        { _id: 2, g: 1, x: 1 },
        { _id: 3, g: 2 },
      ]);
      await things.createIndex({ g: 1 });
      const listed = { _id: { $in: [1, 2, 3, 3, 9] } };
      const update = async (filter: object, $set: object) => {
        const { matchedCount, modifiedCount } = await things.updateMany(filter, { $set });
        return [matchedCount, modifiedCount];
      };
      expect(await update({ ...listed, g: 1 }, { x: 1 })).toEqual([2, 1]);
      expect(await update({ _id: { $in: [1, 2] } }, { y: 1 })).toEqual([2, 2]);
      expect(await update({ ...listed, g: 1 }, { g: 2 })).toEqual([2, 2]);
      expect(await update({ ...listed, g: 2 }, { g: 2, x: 1 })).toEqual([3, 1]);
    });

    test("a guard that no longer holds changes nothing", async () => {
      const things = await bench.collection([{ _id: 1, state: "ready" }]);
      const claim = () => things.updateOne({ _id: 1, state: "ready" }, { $set: { state: "leased" } });
      const results = await Promise.all([claim(), claim(), claim()]);
      expect(results.map(({ modifiedCount }) => modifiedCount).sort()).toEqual([0, 0, 1]);
    });

    test("upsert makes a document of the equalities and the update", async () => {
      const things = await bench.collection();
      const result = await things.updateOne(
        { _id: "n", "a.b": 1, c: { $gt: 5 }, d: { $eq: 2 } },
        { $set: { e: 1 }, $setOnInsert: { f: 1 }, $inc: { n: 1 } },
        { upsert: true },
      );
      expect(result).toMatchObject({ matchedCount: 0, modifiedCount: 0, upsertedCount: 1, upsertedId: "n" });
      expect(await things.findOne({})).toEqual({ _id: "n", a: { b: 1 }, d: 2, e: 1, f: 1, n: 1 });
    });

    test("upsert without _id makes an ObjectId", async () => {
      const things = await bench.collection();
      const { upsertedId } = await things.updateOne({ a: 1 }, { $set: { b: 1 } }, { upsert: true });
      expect(upsertedId).toBeInstanceOf(ObjectId);
      expect(await things.findOne({})).toEqual({ _id: upsertedId, a: 1, b: 1 });
    });
  });

  test("delete deleteOne removes one, deleteMany all", async () => {
    const things = await bench.collection([
      { _id: 1, g: 1 },
      { _id: 2, g: 1 },
      { _id: 3, g: 2 },
    ]);
    expect(await things.deleteOne({ g: 1 })).toEqual({ acknowledged: true, deletedCount: 1 });
    expect(await things.deleteMany({ _id: { $in: [1, 2, 9] } })).toEqual({
      acknowledged: true,
      deletedCount: 1,
    });
    expect(await bench.ids(things)).toEqual([3]);
    expect(await things.deleteMany({ h: { $exists: false } })).toMatchObject({ deletedCount: 1 });
  });

  test("the next reader reads acknowledged writes", async () => {
    const things = await bench.collection();
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        await things.insertOne({ _id: n });
        expect(await things.findOne({ _id: n })).toEqual({ _id: n });
        await things.updateOne({ _id: n }, { $set: { n } });
        expect(await things.countDocuments({ _id: n, n })).toBe(1);
      }),
    );
  });
}
