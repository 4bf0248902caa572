import { link, mkdir, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** Exists while a backup is made: blobs that are deleted meanwhile are kept here, because its rows may reference them. */
const FOLDER = "blobs.backup";
/** A backup renews the folder's time; without it for so long, its process has died. */
const LEASE_MS = 60_000;
const RENEW_MS = 10_000;

export const isAbsent = (err: unknown) => (err as NodeJS.ErrnoException).code === "ENOENT";

/** Returns a handler of errors that answers for a file or folder that does not exist, and rethrows others. */
export function ifAbsent<T>(answer: T): (err: unknown) => T {
  return (err) => {
    if (!isAbsent(err)) throw err;
    return answer;
  };
}

/** Whether a backup is being made; removes what one that died has kept. */
export async function isBackingUp(dataDir: string): Promise<boolean> {
  const folder = join(dataDir, FOLDER);
  const stats = await stat(folder).catch(() => null);
  if (!stats) return false;
  if (stats.mtimeMs >= Date.now() - LEASE_MS) return true;
  await rm(folder, { recursive: true, force: true });
  return false;
}

/** Keeps a blob's file for the backup that is being made, if any. */
export async function keepForBackup(dataDir: string, path: string): Promise<void> {
  if (!(await isBackingUp(dataDir))) return;
  const kept = join(dataDir, FOLDER, relative(dataDir, path));
  await mkdir(dirname(kept), { recursive: true, mode: 0o700 });
  // It is kept already if it was deleted before in this time.
  await link(path, kept).catch(() => {});
}

/**
 * Runs a task while blobs that are deleted are kept.
 * @param collect called at the end with the folder of those kept, which need not exist
 */
export async function keepingDeleted(
  dataDir: string,
  task: () => Promise<void>,
  collect: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const renew = () => utimes(folder, new Date(), new Date());
  await renew();
  const timer = setInterval(() => renew().catch(() => {}), RENEW_MS).unref();
  try {
    await task();
    await collect(join(folder, "blobs"));
  } finally {
    clearInterval(timer);
    await rm(folder, { recursive: true, force: true });
  }
}
