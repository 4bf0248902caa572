import { describe, expect, test } from "@jest/globals";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Workbench } from "../store.ts";

const schema = tenantSchema({ group: t.string(), n: t.number(), text: t.nullable(t.large(t.string())) });
schema.index({ tenant_id: 1, n: 1 });
interface NoteDoc extends DocumentOf<typeof schema> {}
const NoteModel: Omit<Model<NoteDoc>, "erasure" | "move"> = { name: "notes_within", schema };

const KILOBYTE = 1000;

/** Reads within a number of bytes, of rows with fields whose size callers choose. */
export function withinTests(bench: Workbench): void {
  describe("reads within bytes", () => {
    let notes: TenantCollection<NoteDoc>;
    let tenants = 0;

    /** Inserts notes with texts of these kilobytes; returns their tenant. */
    async function withTexts(...kilobytes: number[]): Promise<string> {
      if (!notes) {
        notes = bench.store().collection(NoteModel);
        await bench.store().ready();
      }
      const tenant_id = `tn_within_${++tenants}`;
      const docs = kilobytes.map((size, n) => ({
        ...{ _id: `${tenant_id}/${n}`, tenant_id, group: n % 2 ? "odd" : "even", n },
        text: "x".repeat(size * KILOBYTE),
      }));
      await notes.insertMany(docs);
      return tenant_id;
    }

    const numbers = ({ rows, more }: { rows: NoteDoc[]; more: boolean }) => [rows.map(({ n }) => n), more];
    const read = async (tenant_id: string, options: object, filter = {}) =>
      numbers(await notes.findWithin(tenant_id, filter, { sort: { n: 1 }, ...options }));

    test("end before the row that would exceed them", async () => {
      const tenant_id = await withTexts(2, 2, 2, 2);
      expect(await read(tenant_id, { bytes: 5 * KILOBYTE })).toEqual([[0, 1], true]);
      expect(await read(tenant_id, { bytes: 50 * KILOBYTE })).toEqual([[0, 1, 2, 3], false]);
    });

    test("return a first row that alone is larger", async () => {
      const tenant_id = await withTexts(20, 1);
      expect(await read(tenant_id, { bytes: KILOBYTE })).toEqual([[0], true]);
      expect(await read(tenant_id, { bytes: KILOBYTE, skip: 1 })).toEqual([[1], false]);
    });

    test("honour order, skip, limit and filter", async () => {
      const tenant_id = await withTexts(...Array.from({ length: 60 }, () => 0.1));
      const many = { bytes: 500 * KILOBYTE, sort: { n: -1 } };
      expect(await read(tenant_id, { ...many, skip: 1, limit: 3 })).toEqual([[58, 57, 56], false]);
      const odd = await read(tenant_id, many, { group: "odd" });
      expect(odd).toEqual([Array.from({ length: 30 }, (_, i) => 59 - 2 * i), false]);
      expect(await read(tenant_id, { bytes: 1, sort: { group: -1, n: 1 } })).toEqual([[1], true]);
      expect(await read(tenant_id, many, { text: { $regex: "^y" } })).toEqual([[], false]);
      expect(await read("tn_other", many)).toEqual([[], false]);
    });

    test("count what a projection leaves", async () => {
      const tenant_id = await withTexts(9, 9, 9);
      const projection = { n: 1 };
      expect(await read(tenant_id, { bytes: KILOBYTE, projection })).toEqual([[0, 1, 2], false]);
    });

    test("of ids keep their order", async () => {
      const tenant_id = await withTexts(2, 2, 2, 2);
      const ids = [3, 9, 1, 2].map((n) => `${tenant_id}/${n}`);
      const each = async (options: object) =>
        (await notes.findEach(tenant_id, ids, options)).map(({ n }) => n);
      expect(await each({})).toEqual([3, 1, 2]);
      expect(await each({ bytes: 5 * KILOBYTE })).toEqual([3, 1]);
      expect(await each({ filter: { group: "even" } })).toEqual([2]);
    });

    test("make a page shorter, whose total includes the others", async () => {
      const tenant_id = await withTexts(400, 400, 400);
      const { rows, total } = await notes.page(tenant_id, {}, { n: 1 }, {});
      expect([rows.map(({ n }) => n), total]).toEqual([[0], 3]);
    });

    test("are what other reads of several such rows lack", async () => {
      const tenant_id = await withTexts(1);
      const find = (options: object) => async () => notes.find(tenant_id, {}, options as never);
      await expect(find({})()).rejects.toThrow("needs a limit for text");
      for (const projection of [{ text: 1 }, { n: 0 }])
        await expect(find({ projection })()).rejects.toThrow("limit");
      for (const projection of [{ n: 1 }, { text: 0 }]) expect(await find({ projection })()).toHaveLength(1);
      expect(await find({ bounded: "one row" })()).toHaveLength(1);
    });
  });
}
