import { describe, expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import type { Workbench } from "../store.ts";

interface Row {
  _id: string;
  tenant_id: string;
  name?: string;
  tags?: string[];
  at?: Date;
}

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

    test("the store answers and tells its time", async () => {
      await bench.store().ping();
      expect(Math.abs(bench.store().now() - Date.now())).toBeLessThan(60_000);
    });
  });
}
