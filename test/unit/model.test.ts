import { expect, test } from "@jest/globals";
import { type DocumentOf, t, tenantSchema } from "../../storage/model.ts";
import type { Update, Where } from "../../storage/query.ts";

const schema = tenantSchema({
  ...{ state: t.string<"ready" | "done">(), closed_at: t.nullable(t.date()) },
  ...{ size: t.optional(t.nullable(t.number())), matched: t.mixed<{ ids: string[] }>() },
  tags: t.array(t.string()),
  secrets: t.subdocuments({ sealed: t.string(), ends_at: t.optional(t.date()) }),
});

interface Expected {
  _id: string;
  tenant_id: string;
  state: "ready" | "done";
  closed_at: Date | null;
  size?: number | null;
  matched: { ids: string[] };
  tags: string[];
  secrets: { sealed: string; ends_at?: Date }[];
}

type Equal<A, B> =
  (<T>() => T extends { [K in keyof A]: A[K] } ? 1 : 2) extends <T>() => T extends {
    [K in keyof B]: B[K];
  }
    ? 1
    : 2
    ? true
    : false;
// Checked by the compiler.
const sameType: Equal<DocumentOf<typeof schema>, Expected> = true;

const filters: Where<Expected>[] = [
  { state: "ready", size: { $gte: 1 }, "matched.ids": "x" },
  { $or: [{ state: { $in: ["ready", "done"] } }, { closed_at: null }] },
  // @ts-expect-error: no such state
  { state: "gone" },
  // @ts-expect-error: no such field
  { stat: "ready" },
  // @ts-expect-error: the collection adds the tenant
  { tenant_id: "tn_1" },
];
const updates: Update<Expected>[] = [
  { $set: { state: "done" }, $inc: { size: 1 }, $push: { tags: "x" }, $unset: { closed_at: 1 } },
  // @ts-expect-error: no number
  { $inc: { state: 1 } },
  // @ts-expect-error: no field of this type
  { $set: { closed_at: "now" } },
];

test("a tenant's schema has a path of the right kind for each field, and nothing of mongoose's own", () => {
  const kinds = Object.entries(schema.paths).map(([path, { instance }]) => [path, instance]);
  expect(Object.fromEntries(kinds)).toEqual({
    ...{ _id: "String", tenant_id: "String", state: "String", closed_at: "Date", size: "Number" },
    ...{ matched: "Mixed", tags: "Array", secrets: "Array" },
  });
  expect(Object.keys(schema.path("secrets").schema?.paths ?? {})).toEqual(["sealed", "ends_at"]);
  expect([sameType, filters.length, updates.length]).toEqual([true, 5, 3]);
});
