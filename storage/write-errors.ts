import { MongoBulkWriteError, type WriteError } from "mongodb";

export const DUPLICATE_KEY = 11000;

/** Whether a write failed on an existing key: the only driver error that services distinguish. */
export function isDuplicateKey(err: unknown): boolean {
  return err instanceof Error && "code" in err && err.code === DUPLICATE_KEY;
}

/** Returns null for a duplicate-key error; rethrows others. */
export function nullIfTaken(err: unknown): null {
  if (isDuplicateKey(err)) return null;
  throw err;
}

/** Returns the refused rows of an upsert if all of them failed on existing keys; else throws the error. */
export function takenRows(err: unknown): WriteError[] {
  if (!(err instanceof MongoBulkWriteError) || err.result.getWriteConcernError()) throw err;
  const refused = [err.writeErrors].flat();
  if (refused.length === 0 || refused.some(({ code }) => code !== DUPLICATE_KEY)) throw err;
  return refused;
}

/**
 * Returns the refused rows of an `insertMany` from its error; all others are durable. A broken connection reports no
 * refusals either: rows count as written only if the server has counted them.
 * @throws the error itself if the outcome of some row is unknown, or the write concern was not met
 */
export function refusedRows(err: unknown, rows: number): WriteError[] {
  if (!(err instanceof MongoBulkWriteError)) throw err;
  const refused = [err.writeErrors].flat();
  if (err.result.getWriteConcernError() || err.insertedCount + refused.length < rows) throw err;
  return refused;
}
