import { MongoInvalidArgumentError, ObjectId } from "mongodb";
import { NotImplemented } from "../errors.ts";
import { checkOptions, type Document } from "./options.ts";

export type Bulk = { requests: object[]; insertedIds: { index: number; _id: unknown }[] };

/** Returns the operations of `bulkWrite` in the writer's form. */
export function toBulk(operations: Document[]): Bulk {
  const insertedIds: Bulk["insertedIds"] = [];
  const requests = operations.map((operation, index) => {
    const [kind] = Object.keys(operation) as [string];
    const convert = KINDS[kind];
    if (!convert) throw new NotImplemented(`bulkWrite of ${kind}`);
    const request = convert(operation[kind] as Document);
    if ("document" in request) insertedIds.push({ index, _id: (request.document as Document)._id });
    return request;
  });
  return { requests, insertedIds };
}

const KINDS: Record<string, ((operation: Document) => object) | undefined> = {
  insertOne: ({ document }) => ({ kind: "insert", document: withId(document as Document) }),
  updateOne: (operation) => ({ kind: "update", ...toUpdate(operation, false) }),
  updateMany: (operation) => ({ kind: "update", ...toUpdate(operation, true) }),
  deleteOne: (operation) => ({ kind: "delete", filter: checkOptions(operation).filter, many: false }),
  deleteMany: (operation) => ({ kind: "delete", filter: checkOptions(operation).filter, many: true }),
};

/** Returns an update in the writer's form; refuses, like MongoDB's driver, anything without operators. */
export function toUpdate(operation: Document, many: boolean): object {
  const { filter = {}, update, upsert = false } = checkOptions(operation, ["sort"]);
  if (Array.isArray(update)) throw new NotImplemented("updates by an aggregation pipeline");
  const names = Object.keys(update as Document);
  if (names.length === 0 || !names.every((name) => name[0] === "$"))
    throw new MongoInvalidArgumentError("Update document requires atomic operators");
  return { filter, update, many, upsert, newId: upsert ? new ObjectId().toHexString() : "" };
}

/** Returns a document with `_id` first, as MongoDB's server stores it; adds a missing `_id` to the document. */
export function withId(document: Document): Document {
  if (document._id === undefined) document._id = new ObjectId();
  for (const key in document) return key === "_id" ? document : { _id: document._id, ...document };
  return document;
}
