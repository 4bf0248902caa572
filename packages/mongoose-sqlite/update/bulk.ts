import { MongoInvalidArgumentError, ObjectId } from "mongodb";
import { checkOptions, sortOf } from "../driver/options.ts";
import { replacementOf, updateOf } from "./change.ts";

type Document = Record<string, unknown>;

type Bulk = { requests: object[]; insertedIds: { index: number; _id: unknown }[] };

/** Returns the operations of `bulkWrite` in the writer's form. */
export function bulkOf(operations: Document[]): Bulk {
  const insertedIds: Bulk["insertedIds"] = [];
  const requests = operations.map((operation, index) => {
    const [kind] = Object.keys(operation) as [string];
    const make = KINDS[kind];
    if (!make)
      throw new MongoInvalidArgumentError(`bulkWrite knows ${Object.keys(KINDS).join(", ")}, not ${kind}`);
    const request = make(operation[kind] as Document);
    if ("document" in request) insertedIds.push({ index, _id: (request.document as Document)._id });
    return request;
  });
  return { requests, insertedIds };
}

const KINDS: Record<string, ((operation: Document) => object) | undefined> = {
  insertOne: (operation) => ({
    kind: "insert",
    document: withId((operation.document ?? operation) as Document),
  }),
  updateOne: (operation) => update(operation, { update: updateOf(operation.update) }, false),
  updateMany: (operation) => update(operation, { update: updateOf(operation.update) }, true),
  replaceOne: (operation) => update(operation, { replacement: replacementOf(operation.replacement) }, false),
  deleteOne: (operation) => remove(operation, false),
  deleteMany: (operation) => remove(operation, true),
};

function update(operation: Document, change: object, many: boolean): object {
  const { filter = {}, upsert = false, sort } = checkOptions(operation);
  const newId = upsert ? new ObjectId().toHexString() : "";
  return { kind: "update", ...change, filter, many, upsert, sort: sortOf(sort), newId };
}

function remove(operation: Document, many: boolean): object {
  const { filter = {} } = checkOptions(operation);
  return { kind: "delete", filter, many };
}

/** Returns a document with `_id` first, as MongoDB's server stores it; adds a missing `_id` to the document. */
export function withId(document: Document): Document {
  if (document._id === undefined) document._id = new ObjectId();
  for (const key in document) return key === "_id" ? document : { _id: document._id, ...document };
  return document;
}
