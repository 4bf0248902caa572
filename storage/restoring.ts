import { readdir } from "node:fs/promises";

/** What a restore calls the folder that it unpacks into, inside the data directory; whoever ends it early leaves that. */
export const RESTORING = ".restore-";

/** @throws Error when a data directory without a database has the remains of a restore, or one is under way */
export async function requireWhole(dataDir: string, database: string): Promise<void> {
  const held = await readdir(dataDir);
  const stage = held.find((name) => name.startsWith(RESTORING));
  // The database comes last: where it is, all is.
  if (stage && !held.includes(database))
    throw new Error(`it holds a restore that is not finished (${stage}); empty it, and restore again`);
}
