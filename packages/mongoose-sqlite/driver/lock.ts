import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Releases the data directory. */
export type Release = () => void;

const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;

/** Another process holds the data directory. */
export class DirectoryInUse extends Error {}

/**
 * Locks the data directory for this process with an exclusive SQLite lock on a separate file, which ends with the
 * process, however it ends. Nothing else in this process may open the lock file: closing any descriptor of it drops the
 * lock.
 *
 * @throws DirectoryInUse with the id of the other process
 */
export function lockDirectory(dataDir: string): Release {
  const holder = join(dataDir, "lock.pid");
  const file = join(dataDir, "lock.db");
  const db = new DatabaseSync(file);
  try {
    db.exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE",
    );
  } catch (error) {
    db.close();
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode === SQLITE_NOTADB) throw new Error(`${file}: ${message}. It holds no data: delete it`);
    if (errcode !== SQLITE_BUSY) throw error;
    throw new DirectoryInUse(`DATA_DIR ${dataDir} is in use by another process (pid ${readPid(holder)})`);
  }
  writeFileSync(holder, `${process.pid}\n`);
  return () => db.close();
}

function readPid(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "unknown";
  }
}
