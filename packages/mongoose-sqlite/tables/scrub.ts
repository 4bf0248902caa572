import type { DatabaseSync } from "node:sqlite";

/**
 * Overwrites deleted content with zeros. SQLite still leaves copies of rows that it moved between pages, about one in a
 * thousand: only rewriting the file removes those.
 */
export const OVERWRITE_DELETED = "PRAGMA secure_delete = ON";

/** Rewrites the file if it has at most `mostBytes`; returns whether it did. Must not run in a transaction. */
export function rewrite(db: DatabaseSync, mostBytes: number): boolean {
  const { page_count } = db.prepare("PRAGMA page_count").get() as { page_count: number };
  const { page_size } = db.prepare("PRAGMA page_size").get() as { page_size: number };
  if (page_count * page_size > mostBytes) return false;
  db.exec("VACUUM");
  return true;
}

/** Empties the write-ahead log; returns false, without waiting, while a reader needs it. */
export function emptyLog(db: DatabaseSync, busyMs: number): boolean {
  db.exec("PRAGMA busy_timeout = 0");
  try {
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    return busy === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
  }
}
