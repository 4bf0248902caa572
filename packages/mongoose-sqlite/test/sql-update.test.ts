import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { encode } from "../query/codec.ts";
import { compileFilter } from "../query/filter.ts";
import type { Sort } from "../query/sort.ts";
import type { RawObject } from "../query/values.ts";
import type { Table } from "../tables/catalog.ts";
import { sqlUpdate } from "../update/sql-update.ts";
import { compileUpdate } from "../update/update.ts";
import { ownFile } from "./own-file.ts";

const { statements, catalog, schema, writes } = await ownFile();

const INDEXES: { key: Sort; unique?: boolean; sparse?: boolean }[] = [
  { key: [["s", 1]] },
  {
    key: [
      ["t", 1],
      ["s", -1],
    ],
  },
  { key: [["due", 1]], sparse: true },
  { key: [["u", 1]], unique: true, sparse: true },
  { key: [["o.x", 1]] },
];

/** Creates an empty collection with all indexes. */
function collection(name: string): Table {
  for (const { key, unique = false, sparse = false } of INDEXES)
    schema.createIndexes(name, [{ name: JSON.stringify(key), key, unique, sparse }]);
  return catalog.tables.get(name) as Table;
}

function fill(table: Table, documents: RawObject[]): void {
  writes.delete(table.name, {}, true);
  const texts = documents.map((document) => JSON.stringify(document));
  expect(writes.insert({ collection: table.name, documents: texts, ordered: true })).toEqual([]);
}

/** Returns every row: its document and all columns. */
function rowsOf(table: Table): unknown[] {
  return statements.rows(`SELECT * FROM ${table.sql} ORDER BY rid`).map((row) => row.slice(1));
}

const text = fc.constantFrom("", "a", 'q"\\', "é", "\u2028", "\x00\x1f\x7f", "💡", "\ud800", "/");
const scalar = fc.oneof(
  text,
  fc.constantFrom<unknown>(null, true, 0, 1, -3, 2.5, 1e21, 1e-7, 2 ** 53, new Date(0), new Date(1.7e12)),
);
const embedded = fc.record({ x: scalar, 1: scalar }, { requiredKeys: [] });
const deep = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), embedded);
const list = fc.array(fc.oneof(scalar, fc.record({ x: scalar })), { maxLength: 4 });
const fields = {
  ...{ s: scalar, t: scalar, due: scalar, o: embedded, free: deep },
  ...{ part: fc.oneof({ weight: 4, arbitrary: embedded }, deep), n: fc.integer(), list, "k-1": scalar },
};

const documents = fc
  .array(fc.record(fields, { requiredKeys: [] }), { minLength: 1, maxLength: 6 })
  .map((given) => given.map((document, _id) => ({ _id, ...document })));

const some = (shape: Record<string, fc.Arbitrary<unknown>>) => fc.record(shape, { requiredKeys: [] });
const pushed = fc.oneof(
  scalar,
  fc.record({ $each: list, $slice: fc.integer({ min: -6, max: -1 }) }),
  fc.record({ $each: list }),
);
/** Each path has one operator, so that none conflicts with another. */
const update = fc.record(
  {
    $set: fc.oneof(
      some({ s: scalar, free: deep, made: deep, "k-1": scalar }),
      some({ "free.0": deep, "free.2": deep, "made.0": deep, s: scalar }),
      some({ "free.x": deep, "part.y": deep, s: fc.constant("b") }),
    ),
    $unset: some({
      ...{ due: fc.constant(1), t: fc.constant(1), gone: fc.constant(1), u: fc.constant(1) },
      ...{ "part.x": fc.constant(1), "part.z": fc.constant(1) },
    }),
    $inc: some({ n: fc.constantFrom(1, -1, 0), m: fc.constant(1) }),
    $push: some({ list: pushed }),
  },
  { requiredKeys: [] },
);
const filter = fc.constantFrom<RawObject>(
  {},
  { _id: { $in: [0, 2, 4] } },
  { _id: 1 },
  { s: "a" },
  { t: null },
);

const raw = (value: unknown) => JSON.parse(encode(value)) as RawObject;

/** Returns the documents after the update in JavaScript; `undefined` if it is refused. */
function expected(before: RawObject[], where: RawObject, changes: RawObject) {
  const [matches, change] = [compileFilter(where), compileUpdate(changes)];
  let [matched, modified] = [0, 0];
  const after = before.map((document) => {
    if (!matches(document)) return document;
    const changed = structuredClone(document);
    change.apply(changed, false);
    matched++;
    if (JSON.stringify(changed) !== JSON.stringify(document)) modified++;
    return changed;
  });
  return { after, matched, modified };
}

test("an update by SQL leaves the texts, columns and counts that one by JavaScript leaves", () => {
  let bySql = 0;
  const [table, other] = [collection("updated"), collection("wanted")];
  const property = fc.property(documents, filter, update, (given, where, asked) => {
    const before = given.map(raw);
    const changes = raw(asked);
    fill(table, before);
    let wanted: ReturnType<typeof expected> | undefined;
    try {
      wanted = expected(before, where, changes);
    } catch {
      return;
    }
    if (sqlUpdate(table, changes)) bySql++;
    const request = { filter: where, many: true, upsert: false, newId: "", update: changes };
    const { matched, modified } = writes.update(table.name, request);
    expect({ matched, modified }).toEqual({ matched: wanted.matched, modified: wanted.modified });
    fill(other, wanted.after);
    expect(rowsOf(table)).toEqual(rowsOf(other));
  });
  statements.run("BEGIN");
  fc.assert(property, { numRuns: 1_500 });
  statements.run("COMMIT");
  // About three in ten use SQL: far fewer would hardly test it.
  expect(bySql).toBeGreaterThan(300);
});

test.each<[string, object, boolean]>([
  ["a date into an indexed path", { $set: { due: new Date(5) } }, true],
  ["a document into a path without index", { $set: { free: { x: 1 } } }, true],
  ["a claim", { $set: { s: "leased" }, $inc: { n: 1 }, $push: { list: { $each: [1], $slice: -20 } } }, true],
  ["an array into an indexed path", { $set: { s: [1] } }, false],
  ["a document into an indexed path", { $set: { s: { x: 1 } } }, false],
  ["a document over an indexed path", { $set: { o: 1 } }, false],
  ["a unique path that is sparse", { $set: { u: 1 } }, true],
  ["null into a unique path that is sparse", { $set: { u: null } }, false],
  ["the removal of a unique path that is sparse", { $unset: { u: 1 } }, true],
  ["an element of an array", { $set: { "list.3": { x: 1 }, "list.4": 1 } }, true],
  ["an element of what an index reaches", { $set: { "o.0": 1 } }, false],
  ["an element of an indexed path", { $set: { "s.0": 1 } }, false],
  ["an element that goes", { $unset: { "list.3": 1 } }, false],
  ["a part of an element", { $set: { "list.3.x": 1 } }, false],
  ["a field of a document", { $set: { "free.x": 1 }, $unset: { "free.y": 1 } }, true],
  ["a field further down", { $set: { "free.x.y": 1 } }, false],
  ["a key that JavaScript puts first, in a document", { $unset: { "free.7": 1 } }, false],
  ["a key that JavaScript puts first", { $set: { 7: 1 } }, false],
  ["a sum of fractions", { $inc: { n: 0.5 } }, false],
  ["another operator", { $max: { n: 1 } }, false],
])("%s", (_name, changes, bySql) =>
  expect(sqlUpdate(collection("asked"), raw(changes)) !== undefined).toBe(bySql),
);

test("a document that SQLite does not read is updated all the same", () => {
  let payload: RawObject = {};
  for (let depth = 0; depth < 1_500; depth++) payload = { payload };
  const table = collection("deep");
  fill(table, [
    { _id: 1, payload },
    { _id: 2, payload: 1 },
  ]);
  const request = { filter: {}, many: true, upsert: false, newId: "", update: { $set: { s: "x" } } };
  expect(writes.update(table.name, request)).toEqual({ matched: 2, modified: 2 });
  expect(statements.rows(`SELECT "k_s" FROM ${table.sql}`)).toEqual([["x"], ["x"]]);
});

test("of more paths than SQLite takes arguments each is set or unset", () => {
  const table = collection("wide");
  const paths = (of: string) => Array.from({ length: 1_200 }, (_, i) => [`${of}${i}`, i] as const);
  fill(table, [{ _id: 1, list: Array(1_200).fill(null), ...Object.fromEntries(paths("f")) }]);
  const update = { $set: Object.fromEntries(paths("list.")), $unset: Object.fromEntries(paths("f")) };
  const request = { filter: {}, many: true, upsert: false, newId: "" };
  expect(writes.update(table.name, { ...request, update })).toEqual({ matched: 1, modified: 1 });
  expect(statements.rows(`SELECT doc FROM ${table.sql}`)).toEqual([
    [JSON.stringify({ _id: 1, list: [...Array(1_200).keys()] })],
  ]);
});
