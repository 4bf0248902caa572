import { readdir } from "node:fs/promises";

/**
 * Prefix of the folder that a restore unpacks into, inside the data directory; an interrupted restore leaves it behind.
 */
export const RESTORING = ".restore-";

/** Databases next to the record: they hold nothing of their own. */
const REBUILT = ["search.db", "lock.db"];

/**
 * @throws Error if a data directory without a database contains an interrupted or running restore, or the database of a
 * build that named it otherwise: a first start would hide its data
 */
export async function requireWhole(dataDir: string, database: string): Promise<void> {
  const held = await readdir(dataDir);
  const stage = held.find((name) => name.startsWith(RESTORING));
  // The database comes last: if it exists, the restore is complete.
  if (stage && !held.includes(database))
    throw new Error(`it contains an unfinished restore (${stage}). Empty it, and restore again`);
  const other = held.find((name) => name.endsWith(".db") && !REBUILT.includes(name));
  if (other && !held.includes(database))
    throw new Error(
      `it contains ${other}, but no ${database}: the data of a build that named its database otherwise. To use it, back it ` +
        `up and rename ${other} to ${database}, and files beginning with ${other}- alike. To begin without it, set ` +
        "DATA_DIR to an empty folder",
    );
}
