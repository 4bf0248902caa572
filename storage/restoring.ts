import { readdir } from "node:fs/promises";

/**
 * Prefix of the folder that a restore unpacks into, inside the data directory; an interrupted restore leaves it behind.
 */
export const RESTORING = ".restore-";

/**
 * @throws Error if a data directory without a database contains an interrupted or running restore: a first start would
 * hide its data
 */
export async function requireWhole(dataDir: string, database: string): Promise<void> {
  const held = await readdir(dataDir);
  const stage = held.find((name) => name.startsWith(RESTORING));
  // The database comes last: if it exists, the restore is complete.
  if (stage && !held.includes(database))
    throw new Error(`it contains an unfinished restore (${stage}). Empty it, and restore again`);
}
