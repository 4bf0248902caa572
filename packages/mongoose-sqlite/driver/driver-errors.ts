import { createRequire } from "node:module";
import { type BulkWriteResult, type MongoBulkWriteError, MongoServerError, type WriteError } from "mongodb";
import { NotImplemented, type WireError } from "../errors.ts";
import { fromRaw } from "../query/codec.ts";
import type { BulkError, BulkOutcome } from "../update/writes.ts";

// The driver exports these classes as types only; callers of a bulk write rely on their shapes.
const bulkClasses = createRequire(import.meta.url)("mongodb/lib/bulk/common") as {
  BulkWriteResult: new (raw: object, ordered: boolean) => BulkWriteResult;
  WriteError: new (error: object) => WriteError;
  MongoBulkWriteError: new (error: object, result: BulkWriteResult) => MongoBulkWriteError;
};

/** Returns the caller's error for a worker's error, of MongoDB's own class where MongoDB would answer with one. */
export function driverError(error: WireError): Error {
  if (error.kind === "server") return new MongoServerError(serverResponse(error));
  const made = new Error(error.message);
  if (error.kind === "unsupported") made.name = NotImplemented.name;
  return made;
}

function serverResponse(error: WireError): Record<string, unknown> {
  const { code, codeName, message, keyPattern, keyValue } = error;
  const response: Record<string, unknown> = { ok: 0, errmsg: message, message, code, codeName };
  if (keyPattern) response.keyPattern = fromRaw(keyPattern);
  if (keyValue) response.keyValue = fromRaw(keyValue);
  return response;
}

/** Returns the result of a bulk write, or the error that MongoDB's driver throws when parts of it failed. */
export function bulkResult(
  outcome: BulkOutcome,
  ordered: boolean,
  operations: unknown[],
  insertedIds: { index: number; _id: unknown }[] = [],
): BulkWriteResult {
  const raw = {
    ok: 1,
    writeErrors: outcome.errors.map((error) => writeError(error, operations)),
    writeConcernErrors: [],
    insertedIds,
    nInserted: outcome.inserted,
    nUpserted: outcome.upserted.length,
    nMatched: outcome.matched,
    nModified: outcome.modified,
    nRemoved: outcome.deleted,
    upserted: outcome.upserted.map(({ index, _id }) => ({ index, _id: fromRaw(_id) })),
  };
  const result = new bulkClasses.BulkWriteResult(raw, ordered);
  const [first] = raw.writeErrors;
  if (!first) return result;
  throw new bulkClasses.MongoBulkWriteError(
    { message: first.errmsg, code: first.code, writeErrors: raw.writeErrors },
    result,
  );
}

function writeError({ index, code, message }: BulkError, operations: unknown[]): WriteError {
  return new bulkClasses.WriteError({
    index,
    code,
    errmsg: message,
    errInfo: undefined,
    op: operations[index],
  });
}
