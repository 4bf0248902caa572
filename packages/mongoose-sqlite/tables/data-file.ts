import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { DamagedFile } from "../errors.ts";
import { OVERWRITE_DELETED } from "./scrub.ts";
import { GIVE_BACK } from "./spare-space.ts";

/** Identifies the file as this driver's ("Affe"). */
const APPLICATION_ID = 0x41666665;

/** Schema version of this code. */
const SCHEMA_VERSION = 2;

const TABLES = `
  CREATE TABLE _meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE _collections (name TEXT PRIMARY KEY, catalog TEXT NOT NULL);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};`;

const SQLITE_BUSY = 5;
export const BUSY_MS = 5_000;
const CACHE_KIB = 32_768;
/** Pages in the write-ahead log before a checkpoint: the default of 1,000 halves write speed. */
const CHECKPOINT_PAGES = 4_000;
/** A log this long is completed even if the writer has to copy many pages. */
const OVERLONG_PAGES = 20_000;
/** At this size the writer runs the checkpoint itself, at the price of a long commit. */
const LAST_RESORT_PAGES = 50_000;
/** The writer itself copies this few pages between two commits. */
const REMAINDER_PAGES = 1_000;

/** SQLite's write-ahead log. */
const logOf = (file: string) => `${file}-wal`;
/**
 * Exists while the log may hold what the file lacks. Contains the mark (in `_meta`) that was written to the log first. If there
 * is no log, and the file has another mark, then the log was removed; with the same one SQLite has copied it, as it does when a
 * process ends without closing the file.
 */
const markOf = (file: string) => `${file}-open`;
const MARK = "SELECT value FROM _meta WHERE key = 'mark'";

export function hasLog(file: string): boolean {
  return existsSync(logOf(file));
}

/** Opens a file without a trace. Otherwise SQLite would create an empty log, as if none was missing. */
export function openUntouched(file: string): DatabaseSync {
  const address = pathToFileURL(file);
  if (!hasLog(file)) address.searchParams.set("immutable", "1");
  return new DatabaseSync(address, { readOnly: true });
}

/** Why changes are lost: the log that held them is gone. Null if none are. */
export function missingLog(file: string): string | null {
  if (!existsSync(markOf(file)) || hasLog(file)) return null;
  const marks = readFileSync(markOf(file), "utf8").split(" ");
  if (marks.includes(readMark(file))) return null;
  const [log, name, mark] = [logOf(file), file, markOf(file)].map((path) => basename(path));
  return `${log} is missing, which held changes that ${name} lacks: put it back. To use ${name} without them, delete ${mark}`;
}

function readMark(file: string): string {
  const db = openUntouched(file);
  try {
    return (db.prepare(MARK).get() as { value: string } | undefined)?.value ?? "";
  } catch {
    return "";
  } finally {
    db.close();
  }
}

/** Marks what is written to the log from now on, unless the disk is full. Call it when all before is in the file. */
export function markLog(db: DatabaseSync, file: string): void {
  const write = (text: string) => writeFileSync(markOf(file), text, { mode: 0o600 });
  try {
    const { value: last = "" } = (db.prepare(MARK).get() ?? {}) as { value?: string };
    const mark = randomUUID();
    // Either one, until it is written.
    write(`${last} ${mark}`);
    db.prepare("INSERT OR REPLACE INTO _meta (key, value) VALUES ('mark', ?)").run(mark);
    write(mark);
  } catch {
    rmSync(markOf(file), { force: true });
  }
}

/**
 * Opens the data file for writing, with its tables. Throws an error with the reason, and leaves the file untouched, if it
 * is damaged, not a database, not this driver's or of a newer version.
 */
export function openForWriting(file: string): DatabaseSync {
  const lost = missingLog(file);
  if (lost !== null) throw new DamagedFile(lost);
  const db = new DatabaseSync(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const isNew = check(db, file);
    if (isNew) db.exec(GIVE_BACK);
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
    db.exec(OVERWRITE_DELETED);
    db.exec(
      `PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`,
    );
    if (isNew) db.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT`);
    markLog(db, file);
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** Checkpoints everything into the file and closes it; on a full disk it stays in the log, where the next start finds it. */
export function closeForWriting(db: DatabaseSync, file: string): void {
  try {
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    if (busy === 0) rmSync(markOf(file), { force: true });
  } catch {}
  db.close();
  // SQLite removes the log when it has copied all of it.
  if (!hasLog(file)) rmSync(markOf(file), { force: true });
}

/** Opens the data file for checkpoints that run concurrently with the writer. */
export function openForCheckpoints(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0`);
  return db;
}

/** The pages of the write-ahead log, and how many of them are not yet in the file. */
type LogState = { log: number; pending: number };

export function logState(db: DatabaseSync): LogState {
  const { log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(NOOP)").get() as {
    log: number;
    checkpointed: number;
  };
  return { log, pending: log - checkpointed };
}

/** True if the log is due for a checkpoint. */
export function isLong({ pending }: LogState): boolean {
  return pending >= CHECKPOINT_PAGES;
}

/** True if the writer may copy the rest itself: it is small, or the log has been growing for too long. */
export function isFinishable({ log, pending }: LogState): boolean {
  return pending <= REMAINDER_PAGES || log >= OVERLONG_PAGES;
}

/** Copies as much of the log into the file as readers and the writer allow, without blocking them. */
export function checkpoint(db: DatabaseSync): void {
  db.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

/** Opens the data file for reading concurrently with the writer. */
export function openForReading(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true });
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`);
  return db;
}

function pragma(db: DatabaseSync, name: string): number {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] as number;
}

/** Returns whether the file is empty. */
function check(db: DatabaseSync, file: string): boolean {
  let version: number;
  let tables: number;
  let application: number;
  try {
    version = pragma(db, "user_version");
    application = pragma(db, "application_id");
    tables = (db.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number }).n;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) throw error;
    throw new DamagedFile(`${file} is not a readable data file: ${(error as Error).message}`);
  }
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `${file} has data version ${version}; this version supports up to ${SCHEMA_VERSION}. Run a newer one`,
    );
  }
  if (tables > 0 && application !== APPLICATION_ID)
    throw new Error(`${file} is a database of another program. Choose another file`);
  return tables === 0;
}
