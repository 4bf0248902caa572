import { beforeAll, describe, expect, test } from "@jest/globals";
import { Binary, ObjectId } from "mongodb";
import type { AnyCollection, Workbench } from "../store.ts";

const AT = new Date("2026-01-02T03:04:05.678Z");
const LATER = new Date("2026-02-02T03:04:05.678Z");
const ID = new ObjectId("65f000000000000000000001");
const BYTES = new Binary(Buffer.from([1, 2, 250]));

const DOCUMENTS = [
  { _id: "one", a: 1 },
  { _id: "two", a: 2, b: "x" },
  { _id: "big", a: 1e12, b: "X" },
  { _id: "text", a: "1", b: "xyz" },
  { _id: "null", a: null },
  { _id: "none", b: "été" },
  { _id: "yes", a: true },
  { _id: "no", a: false },
  { _id: "at", a: AT },
  { _id: "later", a: LATER },
  { _id: "id", a: ID },
  { _id: "bytes", a: BYTES },
  { _id: "list", a: [1, 2, 3], b: ["x", null] },
  { _id: "empty", a: [] },
  { _id: "nested", a: { b: 1, c: "x" } },
  { _id: "deep", a: [{ b: 1, c: 1 }, { b: 2, c: 2 }, { c: 3 }] },
  { _id: "words", a: ["x", "y"], b: "y" },
  { _id: "signs", c: 'Say "50%_\\" [Été] \n(now)', d: { e: ["Left", "RIGHT"] } },
];

/** Each filter with the ids it finds, in the order of DOCUMENTS. */
const CASES: [name: string, filter: object, ids: string[]][] = [
  ["a number, also inside an array", { a: 1 }, ["one", "list"]],
  ["a string is not a number", { a: "1" }, ["text"]],
  ["null, missing or explicit", { a: null }, ["null", "none", "signs"]],
  [
    "null inside an array",
    { b: null },
    ["one", "null", "yes", "no", "at", "later", "id", "bytes", "list", "empty", "nested", "deep", "signs"],
  ],
  ["true", { a: true }, ["yes"]],
  ["a date", { a: AT }, ["at"]],
  ["an ObjectId", { a: ID }, ["id"]],
  ["binary data", { a: BYTES }, ["bytes"]],
  ["a whole array", { a: [1, 2, 3] }, ["list"]],
  ["an array in another order", { a: [3, 2, 1] }, []],
  ["an empty array", { a: [] }, ["empty"]],
  ["an embedded document", { a: { b: 1, c: "x" } }, ["nested"]],
  ["an embedded document with its keys in another order", { a: { c: "x", b: 1 } }, []],
  ["a dotted path", { "a.b": 1 }, ["nested", "deep"]],
  ["a position", { "a.1": 2 }, ["list"]],
  ["a path through a position", { "a.1.b": 2 }, ["deep"]],
  ["$eq", { a: { $eq: 2 } }, ["two", "list"]],
  ["$ne", { a: { $ne: 1 }, b: { $ne: null } }, ["two", "big", "text", "none", "words"]],
  ["$gt stays in its type", { a: { $gt: 1 } }, ["two", "big", "list"]],
  ["$gte", { a: { $gte: 2 } }, ["two", "big", "list"]],
  ["$lt", { a: { $lt: 2 } }, ["one", "list"]],
  ["$lte", { a: { $lte: 1 } }, ["one", "list"]],
  ["$gt and $lt, each by any element", { a: { $gt: 2, $lt: 2 } }, ["list"]],
  ["$gt of a string", { b: { $gt: "x" } }, ["text", "none", "words"]],
  ["$lt of a string", { b: { $lt: "x" } }, ["big"]],
  ["$gt of a date", { a: { $gt: AT } }, ["later"]],
  ["$lte of a date", { a: { $lte: AT } }, ["at"]],
  ["$gte of null", { a: { $gte: null } }, ["null", "none", "signs"]],
  ["$gt of false", { a: { $gt: false } }, ["yes"]],
  ["$in", { a: { $in: [1, "1", true] } }, ["one", "text", "yes", "list"]],
  ["$in with null", { a: { $in: [2, null] } }, ["two", "null", "none", "list", "signs"]],
  ["$in of nothing", { a: { $in: [] } }, []],
  ["$nin", { a: { $nin: [1, 2, null] }, b: { $nin: [null] } }, ["big", "text", "words"]],
  ["$exists", { a: { $exists: true }, b: { $exists: true } }, ["two", "big", "text", "list", "words"]],
  ["$exists false", { a: { $exists: false } }, ["none", "signs"]],
  ["$exists of a dotted path", { "a.c": { $exists: true } }, ["nested", "deep"]],
  ["$and", { $and: [{ a: { $gte: 1 } }, { a: { $lte: 1 } }] }, ["one", "list"]],
  ["$or", { $or: [{ a: 1 }, { b: "y" }] }, ["one", "list", "words"]],
  ["$elemMatch of documents", { a: { $elemMatch: { b: 2, c: 2 } } }, ["deep"]],
  ["$elemMatch needs one element for all", { a: { $elemMatch: { b: 1, c: 2 } } }, []],
  ["dotted paths may match different elements", { "a.b": 1, "a.c": 2 }, ["deep"]],
  ["$regex", { b: { $regex: "^xy" } }, ["text"]],
  ["$regex with options", { b: { $regex: "^x$", $options: "i" } }, ["two", "big", "list"]],
  ["$regex with a literal part and a quantifier", { b: { $regex: "^xyz*$" } }, ["text"]],
  ["a text anywhere", { b: { $regex: "y" } }, ["text", "words"]],
  ["a text anywhere without case", { b: { $regex: "X", $options: "i" } }, ["two", "big", "text", "list"]],
  [
    "text anywhere, in either",
    { $or: [{ b: { $regex: "yz" } }, { c: { $regex: "50" } }] },
    ["text", "signs"],
  ],
  ["signs that mean nothing in a text", { c: { $regex: 'say "50%_\\\\" \\[', $options: "i" } }, ["signs"]],
  ["missing signs", { c: { $regex: "50__" } }, []],
  ["letters beyond ASCII without case", { c: { $regex: "\\[éTÉ\\]", $options: "i" } }, ["signs"]],
  ["letters beyond ASCII with case", { c: { $regex: "été" } }, []],
  ["a line's end", { c: { $regex: "\\n\\(" } }, ["signs"]],
  ["a text in a list, by a path", { "d.e": { $regex: "ight", $options: "i" } }, ["signs"]],
  ["a text that another field has", { c: { $regex: "RIGHT" } }, []],
  ["$in by _id", { _id: { $in: ["two", "one", "nobody"] } }, ["one", "two"]],
  ["a range of _id", { _id: { $gt: "l", $lt: "no" } }, ["later", "list", "nested"]],
  ["nothing asked", {}, DOCUMENTS.map(({ _id }) => _id)],
];

export function filterTests(bench: Workbench): void {
  describe.each([
    ["without an index", []],
    ["with indexes", [{ a: 1 }, { b: -1 }, { "a.b": 1 }]],
  ])("filters %s", (_, indexes) => {
    let things: AnyCollection;
    const order = DOCUMENTS.map(({ _id }) => _id);

    beforeAll(async () => {
      things = await bench.collection();
      for (const index of indexes) await things.createIndex(index as never);
      await things.insertMany(DOCUMENTS as object[]);
    });

    test.each(CASES.filter(([name]) => !bench.lacks(name)))("%s", async (_name, filter, ids) => {
      const found = await things.find(filter).toArray();
      expect(found.map(({ _id }) => _id).sort((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(ids);
      expect(await things.countDocuments(filter)).toBe(ids.length);
    });
  });

  bench.it("documents come back as they went in", async () => {
    const document = {
      ...{ _id: "all", text: 'é \u{1f600} " \\ \n', number: -1.5, big: 2 ** 53 - 1 },
      ...{ infinite: Number.POSITIVE_INFINITY, nothing: null, yes: true, at: AT, before: new Date(-5) },
      ...{ id: ID, bytes: BYTES, list: [1, [2, AT], { id: ID }] },
      embedded: { $: 1, $$: { at: AT }, a: { b: {} } },
    };
    const things = await bench.collection([document]);
    const found = await things.findOne({ _id: "all" });
    expect(found).toEqual(document);
    expect(Object.keys(found)).toEqual(Object.keys(document));
  });

  bench.it("an unknown operator is refused by name", async () => {
    const things = await bench.collection();
    await expect(things.find({ a: { $nonsense: 1 } }).toArray()).rejects.toThrow("$nonsense");
    await expect(things.find({ $nonsense: 1 }).toArray()).rejects.toThrow("$nonsense");
  });
}
