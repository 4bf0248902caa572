import { chmod, mkdtemp, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { exists, makeDirectory, syncDirectory } from "../lib/files.ts";

/** Name of the embedded store in the data directory. */
export const DATABASE = "sensorium.db";
export const BLOBS = "blobs";
const CREDENTIALS = "credentials.json";
/** Files that belong to the database; a copy of the directory includes those that exist. */
export const BESIDES = ["secret.key", CREDENTIALS];

/** Prefix of the folder that the directory is filled from; an interrupted restore or salvage leaves it behind. */
const STAGE = ".restore-";

/** Databases next to the record, with derived data only. */
const REBUILT = ["search.db", "lock.db"];

/** How to get data back; ends a sentence about its loss. */
export const RECOVERY =
  "Restore a backup into an empty folder (`sensorium-server restore FILE`), or see what is readable " +
  "(`sensorium-server check`) and copy it into a new one (`sensorium-server salvage NEW_DIR`)";

/** A data directory or a copy of it that cannot be used; its message is for the operator. */
export class DirectoryError extends Error {}

/**
 * @throws Error if a data directory without a database contains an interrupted or running restore, the database of a
 * build that named it otherwise, or the credentials of a first start: another first start would hide its data
 */
export async function requireWhole(dataDir: string): Promise<void> {
  const held = await readdir(dataDir);
  const stage = held.find((name) => name.startsWith(STAGE));
  // The database comes last: if it exists, the restore is complete.
  if (stage && !held.includes(DATABASE))
    throw new Error(`it contains an unfinished restore (${stage}). Empty it, and restore again`);
  const other = held.find((name) => name.endsWith(".db") && !REBUILT.includes(name));
  if (other && !held.includes(DATABASE))
    throw new Error(
      `it contains ${other}, but no ${DATABASE}: the data of a build that named its database otherwise. To use it, back it ` +
        `up and rename ${other} to ${DATABASE}, and files beginning with ${other}- alike. To begin without it, set ` +
        "DATA_DIR to an empty folder",
    );
  const size = await stat(join(dataDir, DATABASE)).then(
    (stats) => stats.size,
    () => null,
  );
  if (!size && held.includes(CREDENTIALS))
    throw new Error(
      `it contains ${CREDENTIALS} of a first start, but ${size === 0 ? `${DATABASE} is empty` : `no ${DATABASE}`}: its ` +
        `data is lost. ${RECOVERY}. To begin without data, delete ${CREDENTIALS}`,
    );
}

/** Returns the path of the database that a command reads. @throws DirectoryError if there is none, or it has lost its data */
export async function requireDatabase(dataDir: string): Promise<string> {
  const file = join(dataDir, DATABASE);
  if (!(await exists(file)))
    throw new DirectoryError(
      `${dataDir} contains no embedded store. Set DATA_DIR to the server's data directory.`,
    );
  await requireWhole(dataDir).catch(({ message }: Error) => {
    throw new DirectoryError(`DATA_DIR ${dataDir} cannot be used: ${message}`);
  });
  return file;
}

/**
 * Fills an empty data directory. Nothing gets its final name before `fill` has written everything to the folder that it
 * is given.
 */
export async function fillDirectory<T>(dataDir: string, fill: (stage: string) => Promise<T>): Promise<T> {
  const isNew = !(await exists(dataDir));
  await makeDirectory(dataDir);
  const [first] = await readdir(dataDir);
  if (first)
    throw new DirectoryError(`DATA_DIR ${dataDir} is not empty (it contains ${first}). Give an empty one.`);
  const stage = await mkdtemp(join(dataDir, STAGE));
  try {
    const result = await fill(stage);
    await moveInto(stage, dataDir);
    return result;
  } finally {
    // A refused archive may still be writing its last file.
    await rm(stage, { recursive: true, maxRetries: 10 });
    // Remove a directory that was created but not filled.
    if (isNew) await rmdir(dataDir).catch(() => {});
  }
}

/** Moves the database last: without it a directory is no store, and a retry must empty it first. */
async function moveInto(stage: string, dataDir: string): Promise<void> {
  const names = (await readdir(stage)).filter((name) => name !== DATABASE);
  for (const name of [...names, DATABASE]) {
    if (name !== BLOBS) await makePrivate(join(stage, name));
    await rename(join(stage, name), join(dataDir, name));
  }
  await syncDirectory(dataDir);
}

async function makePrivate(path: string): Promise<void> {
  await chmod(path, 0o600);
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
