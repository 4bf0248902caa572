import { MongoInvalidArgumentError } from "mongodb";
import { NotImplemented } from "../errors.ts";

type Document = Record<string, unknown>;

/** Returns an update document; refuses pipelines by name, and, like the driver, anything without operators. */
export function updateOf(update: unknown): Document {
  if (Array.isArray(update)) throw new NotImplemented("updates by an aggregation pipeline");
  const names = Object.keys(update as Document);
  if (names.length === 0 || !names.every((name) => name[0] === "$")) {
    throw new MongoInvalidArgumentError("Update document requires atomic operators");
  }
  return update as Document;
}

/** Returns a replacement document; refuses operators as the driver does. */
export function replacementOf(replacement: unknown): Document {
  if (Object.keys(replacement as Document).some((name) => name[0] === "$")) {
    throw new MongoInvalidArgumentError("Replacement document must not contain atomic operators");
  }
  return replacement as Document;
}
