/** @needs mongodb: random filters and updates answer alike with and without indexes, and as MongoDB answers. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Db } from "mongodb";
import type { PackedField, Storage } from "mongoose-sqlite";
import type { Store } from "../storage/connection.ts";
import { documents, filters, updates } from "./suites/store/arbitrary.ts";
import type { AnyCollection } from "./suites/store.ts";
import { ownStore } from "./support/own-store.ts";
import { useMongo } from "./support/use.ts";

const INDEXES = [{ a: 1 }, { s: 1, b: -1 }, { c: 1, s: 1 }, { "a.x": 1 }] as const;
const ROUNDS = 150;

const mongo = await useMongo();
const portable = !("url" in mongo) || mongo.kind === "mongo-java-server";

const embedded = await ownStore();
const reference = "url" in mongo ? await ownStore(mongo.url) : undefined;
let made = 0;

/** Documents that fit are packed; the others have no text in `c`, or a null. */
const PACKED: PackedField[] = [
  { path: "_id", kind: "number", empty: "never" },
  { path: "c", kind: "string", empty: "absent" },
  { path: "s", kind: "json", empty: "null" },
  ...["a", "b", "list", "n"].map((path) => ({ path, kind: "json" as const, empty: "absent" as const })),
  { path: "m", kind: "number", empty: "absent" },
  { path: "d", kind: "text", empty: "absent" },
];

async function collection(
  store: Store,
  list: object[],
  indexes: readonly object[],
  packed?: PackedField[],
): Promise<AnyCollection> {
  const name = `random_${++made}`;
  const db = store.connection.db as unknown as Db & { setStorage(name: string, storage: Storage): void };
  if (packed) db.setStorage(name, { packed });
  const things: AnyCollection = db.collection(name);
  for (const index of indexes as never[]) await things.createIndex(index);
  await things.insertMany(list);
  return things;
}

const ids = async (things: AnyCollection, filter: object) =>
  (await things.find(filter, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id);

const everything = (things: AnyCollection) => things.find({}, { sort: { _id: 1 } }).toArray();

/** Applies each update to all documents it fits, one at a time, leaving those it does not fit. */
async function applyAll(things: AnyCollection, list: { _id: number }[], changes: object[]): Promise<void> {
  for (const change of changes) {
    for (const { _id } of list) await things.updateOne({ _id }, change).catch(() => undefined);
  }
}

test("an index changes no answer, before and after updates", async () => {
  const property = fc.asyncProperty(
    documents,
    fc.array(filters(false), { minLength: 4, maxLength: 8 }),
    fc.array(updates(false), { maxLength: 3 }),
    async (list, asked, changes) => {
      const plain = await collection(embedded, list, []);
      const indexed = await collection(embedded, list, INDEXES);
      for (const filter of asked) expect(await ids(indexed, filter)).toEqual(await ids(plain, filter));
      await Promise.all([applyAll(plain, list, changes), applyAll(indexed, list, changes)]);
      expect(await everything(indexed)).toEqual(await everything(plain));
      for (const filter of asked) {
        expect(await ids(indexed, filter)).toEqual(await ids(plain, filter));
        expect(await indexed.countDocuments(filter)).toBe(await plain.countDocuments(filter));
      }
    },
  );
  await fc.assert(property, { numRuns: ROUNDS });
});

test("packed rows answer as others, before and after updates", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom([], [{ c: 1 }, { m: -1, c: 1 }], INDEXES),
    documents.map((list) => list.map((document) => ({ s: null, ...document }))),
    fc.array(filters(false), { minLength: 4, maxLength: 8 }),
    fc.array(updates(false), { maxLength: 4 }),
    async (indexes, list, asked, changes) => {
      const plain = await collection(embedded, list, []);
      const packed = await collection(embedded, list, indexes, PACKED);
      for (const filter of asked) expect(await ids(packed, filter)).toEqual(await ids(plain, filter));
      await Promise.all([applyAll(plain, list, changes), applyAll(packed, list, changes)]);
      expect(await everything(packed)).toEqual(await everything(plain));
      for (const filter of asked) expect(await ids(packed, filter)).toEqual(await ids(plain, filter));
    },
  );
  await fc.assert(property, { numRuns: 80 });
});

("url" in mongo ? test : test.skip)("answers are MongoDB's", async () => {
  const property = fc.asyncProperty(
    documents,
    fc.array(filters(portable), { minLength: 2, maxLength: 6 }),
    fc.array(updates(portable), { maxLength: 3 }),
    async (list, asked, changes) => {
      const ours = await collection(embedded, list, INDEXES);
      const theirs = await collection(reference as Store, list, []);
      for (const filter of asked) expect(await ids(ours, filter)).toEqual(await ids(theirs, filter));
      await Promise.all([applyAll(ours, list, changes), applyAll(theirs, list, changes)]);
      expect(await everything(ours)).toEqual(await everything(theirs));
    },
  );
  await fc.assert(property, { numRuns: ROUNDS });
});
