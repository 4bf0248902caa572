import { MongoInvalidArgumentError, ObjectId } from "mongodb";
import { NotImplemented } from "../errors.ts";
import { checkOptions, type Document } from "./options.ts";

/** Returns an operation of `bulkWrite` in the writer's form. */
export function toBulkRequest(operation: Document): object {
  const [[kind, given]] = Object.entries(operation) as [[string, Document]];
  if (kind === "updateOne" || kind === "updateMany")
    return { kind: "update", ...toUpdate(given, kind === "updateMany") };
  if (kind === "deleteMany") return { kind: "delete", filter: checkOptions(given).filter };
  throw new NotImplemented(`bulkWrite of ${kind}`);
}

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
