import { access, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file readable only by its owner, and resolves when it is on the disk. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Atomically replaces a file by one readable only by its owner. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  await writeSynced(draft, text);
  await rename(draft, path);
  await syncDirectory(dirname(path));
}

/**
 * Creates a directory readable only by its owner, and missing parents. Not by `recursive` of `mkdir`, which retries forever on
 * a file system that has the parent and still answers ENOENT, as /proc does.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (err) {
    const above = dirname(path);
    const { code = "" } = err as NodeJS.ErrnoException;
    if (!["ENOENT", "ENOTDIR"].includes(code) || above === path) throw err;
    await makeDirectory(above);
    await makeOne(path);
  }
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== "EEXIST") throw err;
    if (!(await stat(path)).isDirectory()) throw new Error(`${path} is a file, not a folder`);
  }
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
