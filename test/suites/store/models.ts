import { describe, expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import { containing } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Workbench } from "../store.ts";

type Row = { _id: string; tenant_id: string; name?: string; tags?: string[]; at?: Date };

export function modelTests(bench: Workbench): void {
  describe("models", () => {
    const declare = (name: string) => {
      const schema = new Schema<Row>(
        { _id: String, tenant_id: String, name: String, tags: [String], at: Date },
        { versionKey: false },
      );
      schema.index({ tenant_id: 1, name: 1 }, { unique: true });
      return { name, schema };
    };

    test("make their indexes, and a collection that asks for a tenant", async () => {
      const rows = bench.store().collection(declare("model_rows"));
      await bench.store().ready();
      await rows.insert({ _id: "1", tenant_id: "a", name: "x" });
      await expect(rows.insert({ _id: "2", tenant_id: "a", name: "x" })).rejects.toMatchObject({
        code: 11000,
      });
      expect(await rows.find("b", {})).toEqual([]);
      expect(await rows.update("a", { _id: "1" }, { $set: { at: new Date(1) } })).toMatchObject({
        at: new Date(1),
      });
      expect([...(await bench.store().collections()).keys()]).toContain("model_rows");
    });

    test("refuse a query, a write and a document without a tenant, and a filter that names one", async () => {
      const rows = bench.store().collection(declare("owned_rows"));
      await bench.store().ready();
      await rows.insert({ _id: "1", tenant_id: "a", name: "x" });
      const nobody = undefined as unknown as string;
      const other = { _id: "1", tenant_id: "b" };
      for (const write of [
        async () => rows.find(nobody, {}),
        async () => rows.count("", {}),
        async () => rows.update(nobody, { _id: "1" }, { $set: { name: "y" } }),
        async () => rows.deleteMany(nobody, {}),
        async () => rows.insert({ _id: "2", tenant_id: nobody }),
        async () => rows.insertMany([{ _id: "2", tenant_id: "" }]),
        async () => rows.bulk([{ deleteMany: { filter: { _id: "1" } as never } }]),
        async () => rows.findOne("a", other as never),
        async () => rows.delete("a", other as never),
      ])
        await expect(write()).rejects.toThrow(/tenant/);
      expect(await rows.delete("b", { $or: [{ _id: "1" }, { tenant_id: "a" } as never] })).toBe(false);
      expect(await rows.find("a", {})).toEqual([{ _id: "1", tenant_id: "a", name: "x" }]);
    });

    test("read and change no row of another tenant", async () => {
      const rows = bench.store().collection(declare("tenants_rows"));
      await bench.store().ready();
      const row = { _id: "1", tenant_id: "a", name: "x" };
      await rows.insert(row);
      const sort = { name: 1 } as const;
      const change = { $set: { name: "y" } };
      expect([
        await rows.find("b", {}),
        await rows.findOne("b", { _id: "1" }),
        await rows.findWithin("b", {}, { sort, bytes: 1000 }),
        await rows.findEach("b", ["1"], { bytes: 1000 }),
        await rows.page("b", {}, sort, {}),
        await rows.pageAfter("b", {}, { by: "name", limit: 1 }),
        await rows.exists("b", {}),
        await rows.count("b", {}),
      ]).toEqual([
        ...[[], null, { rows: [], more: false }, [], { rows: [], total: 0 }],
        ...[{ page: [], next_cursor: null }, false, 0],
      ]);
      expect([
        await rows.update("b", { _id: "1" }, change),
        await rows.updateMany("b", {}, change),
        await rows.delete("b", { _id: "1" }),
        await rows.deleteMany("b", {}),
        await rows.bulk([{ updateOne: { filter: { _id: "1", tenant_id: "b" }, update: change } }]),
      ]).toEqual([null, 0, false, 0, expect.objectContaining({ modifiedCount: 0 })]);
      expect(await rows.find("a", {})).toEqual([row]);
    });

    test("are upserted, also by many at once", async () => {
      const rows = bench.store().collection(declare("upserted_rows"));
      await bench.store().ready();
      const change = (_id: string, name: string) => ({
        filter: { _id, tenant_id: "a" },
        update: { $set: { name } },
      });
      await Promise.all(
        Array.from({ length: 50 }, () => rows.upsert([change("1", "x"), change("2", "y"), change("3", "z")])),
      );
      expect(await rows.find("a", {}, { sort: { _id: 1 } })).toEqual([
        { _id: "1", tenant_id: "a", name: "x" },
        { _id: "2", tenant_id: "a", name: "y" },
        { _id: "3", tenant_id: "a", name: "z" },
      ]);
      await rows.upsert([]);
      // Another tenant's row, and a name that another row has.
      const refused = { code: 11000 };
      const other = { filter: { _id: "1", tenant_id: "b" }, update: { $set: { name: "x" } } };
      await expect(rows.upsert([change("4", "w"), other])).rejects.toMatchObject(refused);
      await expect(rows.upsert([change("5", "x")])).rejects.toMatchObject(refused);
      expect(await rows.count("a", { name: "w" })).toBe(1);
    });

    test("find a text anywhere in another, whatever signs it has", async () => {
      const rows = bench.store().collection(declare("texts"));
      await bench.store().ready();
      const name = "before [a\0B]? (1+1) $5 \\d. after";
      await rows.insertMany([
        { _id: "1", tenant_id: "a", name },
        { _id: "2", tenant_id: "a", name: "x00 aB" },
      ]);
      const found = async (text: string) =>
        (await rows.find("a", { name: containing(text) })).map(({ _id }) => _id);
      expect(await found("[A\0b]? (1+1) $5 \\D.")).toEqual(["1"]);
      expect(await found("\0")).toEqual(["1"]);
      expect(await found("x00")).toEqual(["2"]);
    });

    test("work as mongoose's models do", async () => {
      bench.store().collection(declare("mongoose_rows"));
      await bench.store().ready();
      const model = bench.store().connection.model<Row>("mongoose_rows");
      await model.create({ _id: "1", tenant_id: "a", name: "x", tags: ["p"] });
      const document = await model.findById("1");
      document?.tags?.push("q");
      document?.set("at", "2026-01-01T00:00:00.000Z");
      await document?.save();
      expect(await model.find({ tags: "q" }).sort({ name: 1 }).lean()).toEqual([
        { _id: "1", tenant_id: "a", name: "x", tags: ["p", "q"], at: new Date("2026-01-01T00:00:00.000Z") },
      ]);
      expect(await model.exists({ name: "nobody" })).toBeNull();
    });

    describe("with an out-of-line field", () => {
      const long = 'text with "quotes", \\ and \u{1f600}\n'.repeat(100);
      const open = async (name: string) => {
        const rows = bench.store().collection({ ...declare(name), outOfLine: "text" as never });
        await bench.store().ready();
        return rows as unknown as TenantCollection<Row & { text?: string | null }>;
      };

      test("find and project it as any other", async () => {
        const rows = await open("found_texts");
        await rows.insertMany([
          { _id: "1", tenant_id: "a", name: "x", text: long },
          { _id: "2", tenant_id: "a", name: "y", text: null },
          { _id: "3", tenant_id: "a", name: "z", text: "nul \0" },
          { _id: "4", tenant_id: "a", name: "none" },
        ]);
        const sort = { sort: { name: 1 } } as const;
        expect((await rows.find("a", { name: { $gte: "x" } }, sort)).map(({ text }) => text)).toEqual([
          long,
          null,
          "nul \0",
        ]);
        const one = (options: object) => rows.findOne("a", { name: "x" }, options);
        expect(await one({ projection: { text: 1 } })).toEqual({ _id: "1", text: long });
        expect(await one({ projection: { text: 0 } })).toEqual({ _id: "1", tenant_id: "a", name: "x" });
        expect(await one({ projection: { name: 1 } })).toEqual({ _id: "1", name: "x" });
        const longest = await rows.find("a", {}, { sort: { text: -1 }, limit: 1, projection: { name: 1 } });
        expect(longest).toEqual([{ _id: "1", name: "x" }]);
        expect(await rows.count("a", { text: long })).toBe(1);
        expect(await rows.find("a", { text: long }, { projection: { name: 1 } })).toEqual([
          { _id: "1", name: "x" },
        ]);
      });

      test("change and delete it as any other", async () => {
        const rows = await open("changed_texts");
        await rows.insertMany(
          [1, 2, 3].map((n) => ({ _id: `${n}`, tenant_id: "a", name: `${n}`, text: long })),
        );
        const text = async (_id: string) => (await rows.findOne("a", { _id }))?.text;
        expect(await rows.updateMany("a", { name: "1" }, { $set: { at: new Date(1) } })).toBe(1);
        expect(await rows.findOne("a", { name: "1" })).toMatchObject({ text: long, at: new Date(1) });
        expect(await rows.update("a", { _id: "1" }, { $set: { text: "short" } })).toMatchObject({
          name: "1",
          text: "short",
        });
        expect(await text("1")).toBe("short");
        expect(await rows.updateMany("a", { _id: "2" }, { $unset: { text: 1 } })).toBe(1);
        expect(await text("2")).toBeUndefined();
        expect(await rows.updateMany("a", { _id: "2" }, { $set: { text: null } })).toBe(1);
        expect(await text("2")).toBeNull();
        expect(await rows.update("a", { _id: "3", text: long }, { $set: { name: "c" } })).toMatchObject({
          text: long,
        });
        expect(await rows.deleteMany("a", { name: { $exists: true } })).toBe(3);
        await rows.insert({ _id: "4", tenant_id: "a", name: "d" });
        expect(await text("4")).toBeUndefined();
        expect(await rows.updateMany("a", { name: "d" }, { $set: { text: long, name: "e" } })).toBe(1);
        expect(await rows.findOne("a", { name: "e" })).toMatchObject({ text: long });
        expect(await rows.updateMany("a", { name: "e" }, { $set: { at: new Date(2) } })).toBe(1);
        const update = { $set: { text: "in bulk" }, $unset: { at: 1 } };
        await rows.bulk([{ updateOne: { filter: { _id: "4", tenant_id: "a" }, update } }]);
        expect(await rows.findOne("a", { name: "e" })).toEqual({
          ...{ _id: "4", tenant_id: "a", name: "e", text: "in bulk" },
        });
      });

      test("refuse it when the row is refused, and take it in bulk", async () => {
        const rows = await open("refused_texts");
        await rows.insert({ _id: "1", tenant_id: "a", name: "x", text: "first" });
        await expect(
          rows.insertMany([
            { _id: "2", tenant_id: "a", name: "x", text: "second" },
            { _id: "3", tenant_id: "a", name: "z", text: "third" },
          ]),
        ).rejects.toMatchObject({ code: 11000 });
        await rows.bulk([
          {
            updateOne: {
              ...{ filter: { _id: "6", tenant_id: "a" }, update: { $set: { text: "new" } }, upsert: true },
            },
          },
          { deleteMany: { filter: { _id: "1", tenant_id: "a" } } },
        ]);
        const found = await rows.system.find({}, { sort: { _id: 1 }, projection: { text: 1 } }).toArray();
        expect(found).toEqual([
          { _id: "3", text: "third" },
          { _id: "6", text: "new" },
        ]);
      });
    });

    test("the store answers and tells its time", async () => {
      await bench.store().ping();
      expect(Math.abs(bench.store().now() - Date.now())).toBeLessThan(60_000);
    });
  });
}
