/** MongoDB's driver has no connection, waits for one in vain, or lost it in the middle. One has no prefix. */
const NAMES =
  /^PoolClearedOnNetworkError$|^Mongo(Network|ServerSelection|ServerClosed|PoolCleared|PoolClosed|WaitQueueTimeout|NotConnected|Topology|ClientClosed|StalePrimary|WriteConcern|OperationTimeout)/;

/**
 * Codes of MongoDB's server: it is not, or no longer, the primary; it is going down or cannot reach the others; a
 * majority did not answer in time; it has no room, of disk or of quota.
 */
const CODES = new Set<unknown>([
  ...[6, 7, 89, 91, 189, 9001, 10058, 10107, 11600, 11602, 13435, 13436],
  ...[50, 64, 133, 202, 262, 384, 462],
  ...[8000, 14031],
]);

/**
 * Of the file system: its disk, or what the user may have of it, is full, it fails or may only be read. Of this process: it
 * has as many files open as it may, or can have no thread more.
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
/** The same as SQLite says it, and that its disk fails or may only be read. */
const DISK = new Set([
  "database or disk is full",
  "disk I/O error",
  "attempt to write a readonly database",
  "unable to open database file",
]);

/**
 * Whether an error says that the record cannot be reached or written now, and nothing about what was asked of it. Errors
 * of other nodes count too: they keep their names and codes on the way.
 */
export function isStoreLost(err: unknown): boolean {
  const { name = "", code, message } = (err ?? {}) as { name?: string; code?: unknown; message?: string };
  if (NO_ROOM.has(code) || DISK.has(message ?? "")) return true;
  // A bulk write hides why it failed; without a code it was not the server that said no.
  if (name === "MongoBulkWriteError" && code === undefined) return true;
  return NAMES.test(name) || (name.startsWith("Mongo") && CODES.has(code));
}
