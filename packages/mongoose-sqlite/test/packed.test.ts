import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test } from "@jest/globals";
import { ownFolder } from "../../../test/support/own-folder.ts";
import { SqliteClient } from "../index.ts";
import type { PackedField } from "../tables/packed.ts";

const directory = await ownFolder();
const FIELDS: PackedField[] = [
  { path: "_id", kind: "string", empty: "never" },
  { path: "name", kind: "string", empty: "never" },
  { path: "note", kind: "string", empty: "null" },
  { path: "count", kind: "number", empty: "absent" },
  { path: "at", kind: "date", empty: "absent" },
  { path: "list", kind: "json", empty: "absent" },
  { path: "long", kind: "text", empty: "absent" },
];
const FULL = {
  ...{ _id: "1", name: "\u{1f600} a", note: null, count: 3, at: new Date(0) },
  list: [{ $set: 1 }, new Date(5)],
  long: 'several\nlines with "quotes"',
};

let made = 0;
let name: string;
beforeEach(() => {
  name = `c${++made}`;
});

/** Returns rows of the file, while no store has it open. */
function stored(sql: string) {
  const db = new DatabaseSync(join(directory, "data.db"), { readOnly: true });
  try {
    return db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    db.close();
  }
}

const idOf = (row: unknown) => (row as { _id: string })._id;

/** Opens the store with a collection that is packed by these fields. */
async function opened<T>(
  packed: PackedField[] | undefined | { outOfLine: string },
  use: (collection: ReturnType<ReturnType<SqliteClient["db"]>["collection"]>) => Promise<T>,
): Promise<T> {
  const client = new SqliteClient(directory);
  await client.connect();
  try {
    client.db().setStorage(name, Array.isArray(packed) ? { packed } : { ...packed });
    return await use(client.db().collection(name));
  } finally {
    await client.close();
  }
}

test("a packed document is read as it was inserted, whole or in part", () =>
  opened(FIELDS, async (rows) => {
    const short = { _id: "2", name: "", note: "\x7fb" };
    await rows.insertMany([FULL, short]);
    expect(await rows.find({}, { sort: { _id: 1 } }).toArray()).toEqual([FULL, short]);
    expect(await rows.findOne({ _id: "1" }, { projection: { long: 1, note: 1 } })).toEqual({
      ...{ _id: "1", note: null, long: FULL.long },
    });
    const { long: _, ...rest } = FULL;
    expect(await rows.findOne({ long: FULL.long }, { projection: { long: 0 } })).toEqual(rest);
  }));

test.each([
  ["a field that is not declared", { other: 1 }],
  ["a string that SQLite would cut", { name: "a\0b" }],
  ["half a character", { long: "\ud800" }],
  ["another type", { count: "3" }],
  ["a number that is no integer", { count: 0.5 }],
  ["a time before 1970", { at: new Date(-1) }],
  ["null where it means nothing", { count: null }],
  ["an array in a column", { note: ["a", "b"] }],
])("%s is kept, and rows before and after it are", (_what, odd) =>
  opened(FIELDS, async (rows) => {
    const other = { ...FULL, _id: "2", ...odd };
    const last = { ...FULL, _id: "3" };
    await rows.insertMany([FULL, other]);
    await rows.insertOne(last);
    expect(await rows.find({}, { sort: { _id: 1 } }).toArray()).toEqual([FULL, other, last]);
    await rows.updateMany({}, { $set: { name: "new" } });
    const renamed = [FULL, other, last].map((row) => ({ ...row, name: "new" }));
    expect(await rows.find({ name: "new" }, { sort: { _id: 1 } }).toArray()).toEqual(renamed);
  }),
);

test("a duplicate is refused with the name of its index, and none of it stays", () =>
  opened(FIELDS, async (rows) => {
    await rows.createIndex({ name: 1 }, { unique: true });
    await rows.insertOne(FULL);
    const again = rows.insertMany(
      [
        { ...FULL, _id: "2" },
        { ...FULL, _id: "3", name: "b" },
      ],
      { ordered: false },
    );
    await expect(again).rejects.toMatchObject({
      code: 11000,
      writeErrors: [{ index: 0, err: { errmsg: expect.stringContaining("index: name_1") } }],
    });
    expect((await rows.find({}, { sort: { _id: 1 } }).toArray()).map(idOf)).toEqual(["1", "3"]);
  }));

test("an update to a taken key is refused with the name of its index, and changes nothing", () =>
  opened(FIELDS, async (rows) => {
    await rows.createIndex({ count: 1 }, { unique: true, sparse: true });
    const without = { _id: "2", name: "b", note: null };
    await rows.insertMany([FULL, without]);
    const taken = rows.updateMany({ _id: "2" }, { $set: { count: 3, name: "c" } });
    await expect(taken).rejects.toMatchObject({ code: 11000, message: expect.stringContaining("count_1") });
    expect(await rows.findOne({ _id: "2" })).toEqual(without);
    expect(await rows.updateMany({ _id: "2" }, { $set: { count: 4 } })).toMatchObject({ modifiedCount: 1 });
    expect(await rows.findOne({ count: 4 })).toEqual({ ...without, count: 4 });
  }));

test("a row that becomes text leaves nothing of its content in columns", async () => {
  await opened(FIELDS, async (rows) => {
    await rows.insertOne(FULL);
    await rows.updateOne({ _id: "1" }, { $set: { long: "half \ud800" } });
    expect(await rows.findOne({ _id: "1" })).toEqual({ ...FULL, long: "half \ud800" });
  });
  expect(stored(`SELECT j_long, j_list FROM d_${name}`)).toEqual([{ j_long: null, j_list: null }]);
});

test("a new declaration and an index read what was packed by an older one", async () => {
  await opened(FIELDS, (rows) => rows.insertOne(FULL));
  const more: PackedField[] = [...FIELDS.slice(0, 3), { path: "new", kind: "string", empty: "absent" }];
  const row = { _id: "2", name: "b", note: null, new: "x" };
  await opened(more, async (rows) => {
    await rows.insertOne(row);
    expect(await rows.find({}, { sort: { _id: 1 } }).toArray()).toEqual([FULL, row]);
  });
  // The row of the new declaration is packed, and the columns that it lacks are gone with what they held.
  expect(stored(`SELECT _id FROM d_${name} WHERE doc = ''`)).toEqual([{ _id: "2" }]);
  const columns = stored(`SELECT name FROM pragma_table_info('d_${name}')`).map((column) => column.name);
  expect(columns).not.toEqual(expect.arrayContaining(["j_long"]));
  expect(columns).not.toEqual(expect.arrayContaining(["k_count"]));
  await opened(more, (rows) => rows.createIndex({ new: 1, count: 1 }));
  await opened(undefined, async (rows) => {
    expect(await rows.find({ count: 3 }).toArray()).toEqual([FULL]);
    await rows.insertOne({ _id: "3", name: "text" });
    expect(await rows.countDocuments({ name: { $gte: "b" } })).toBe(3);
  });
});

test("rows with a text out of line are read once others are packed", async () => {
  await opened({ outOfLine: "long" }, (rows) => rows.insertMany([FULL, { _id: "2", name: "b", note: null }]));
  await opened(FIELDS, async (rows) => {
    await rows.insertOne({ ...FULL, _id: "3" });
    await rows.updateMany({ name: FULL.name }, { $set: { long: "new" } });
    expect(await rows.find({}, { sort: { _id: 1 } }).toArray()).toEqual([
      { ...FULL, long: "new" },
      { _id: "2", name: "b", note: null },
      { ...FULL, _id: "3", long: "new" },
    ]);
    expect(await rows.countDocuments({ count: 3 })).toBe(2);
  });
});

test("an index on a path within a field finds rows from before and after it", () =>
  opened(FIELDS, async (rows) => {
    await rows.insertOne({ ...FULL, list: { a: 1 } });
    await rows.createIndex({ "list.a": 1 });
    await rows.insertOne({ ...FULL, _id: "2", list: { a: 1 } });
    await rows.insertOne({ ...FULL, _id: "3", list: { a: [1, 2] } });
    const found = await rows.find({ "list.a": 1 }, { sort: { _id: 1 } }).toArray();
    expect(found.map(idOf)).toEqual(["1", "2", "3"]);
  }));
