import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Releases the data directory. */
export type Release = () => void;

/** The data directory is another process's. */
export class DirectoryInUse extends Error {}

/**
 * Takes the data directory for this process, by SQLite's exclusive lock on a file of its own: it is gone when the
 * process is, however that ended.
 * Nobody else in this process may open the lock file: closing any descriptor of it would drop the lock.
 *
 * @throws DirectoryInUse that names the other process
 */
export function lockDirectory(dataDir: string): Release {
  const holder = join(dataDir, "lock.pid");
  const db = new DatabaseSync(join(dataDir, "lock.db"));
  try {
    db.exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE",
    );
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error;
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
