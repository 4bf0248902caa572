import { setTimeout } from "node:timers/promises";
import { type FaultCode, isFault, isRetryable } from "../lib/contract/faults.ts";

/**
 * MongoDB's driver has no connection, timed out waiting for one, or lost it during a request. Two
 * names have no prefix.
 */
const NAMES =
  /^(PoolClearedOnNetworkError)$|^Mongo(Network|ServerSelection|ServerClosed|PoolCleared|PoolClosed|WaitQueueTimeout|NotConnected|Topology|ClientClosed|StalePrimary|WriteConcern|OperationTimeout)/;

/**
 * Codes of MongoDB's server: it is not, or no longer, the primary; it is shutting down or cannot reach the others; a
 * majority did not answer in time; disk or quota is full.
 */
const CODES = new Set<unknown>([
  ...[6, 7, 89, 91, 189, 9001, 10058, 10107, 11600, 11602, 13435, 13436],
  ...[50, 64, 133, 202, 262, 384, 462],
  ...[8000, 14031],
]);

/**
 * File system errors: the disk or the user's quota is full, or it fails or is read-only. Process errors: too many open
 * files or threads.
 */
const NO_ROOM = new Set<unknown>([
  "ENOSPC",
  "EDQUOT",
  "EIO",
  "EROFS",
  "EMFILE",
  "ENFILE",
  "ERR_WORKER_INIT_FAILED",
]);
/** The same errors as reported by SQLite, those of a failing or read-only disk, and a lock of another process. */
const DISK = new Set([
  "database or disk is full",
  "database is locked",
  "disk I/O error",
  "attempt to write a readonly database",
  "unable to open database file",
]);

/**
 * Whether an error means that the record cannot be reached or written now, independent of the request. Includes errors
 * of other nodes, which keep their names and codes in transit.
 */
export function isStoreLost(err: unknown): boolean {
  const { name = "", code, message } = (err ?? {}) as { name?: string; code?: unknown; message?: string };
  if (NO_ROOM.has(code) || DISK.has(message ?? "")) return true;
  // A bulk write hides the cause of its failure; without a code it was not the server that refused.
  if (name === "MongoBulkWriteError" && code === undefined) return true;
  return NAMES.test(name) || (name.startsWith("Mongo") && CODES.has(code));
}

/** Whether an error means that pages of the embedded store are damaged. */
export function isStoreDamaged(err: unknown): boolean {
  const { message = "", cause } = (err ?? {}) as { message?: string; cause?: unknown };
  const isDamage = /^(database disk image is malformed|file is not a database|malformed database schema)/;
  // The thread of the store names what ended it as the cause.
  return isDamage.test(message) || (cause !== undefined && isStoreDamaged(cause));
}

/** Whether an error is no fault of what was tried: the store or a service is away, or busy. */
export function isSystemic(err: unknown): boolean {
  if (isFault(err)) return isRetryable(err.type as FaultCode) && err.type !== "internal_error";
  const { retryable, code } = err as { retryable?: boolean; code?: unknown };
  return retryable === true || isStoreLost(err) || String(code).includes("SQLITE");
}

const FIRST_MS = 100;
const LONGEST_MS = 2000;

/** Repeats a step until the store, or what else it needs, is neither away nor busy. Reports each failure. */
export async function untilAvailable<T>(
  step: () => Promise<T>,
  report: (err: Error) => void,
  isPassing: (err: unknown) => boolean = isStoreLost,
): Promise<T> {
  for (let pause = FIRST_MS; ; pause = Math.min(pause * 2, LONGEST_MS)) {
    try {
      return await step();
    } catch (err) {
      if (!isPassing(err)) throw err;
      report(err as Error);
    }
    await setTimeout(pause);
  }
}
