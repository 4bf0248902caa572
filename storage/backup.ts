import { createWriteStream } from "node:fs";
import {
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { missingLog } from "mongoose-sqlite/data-file";
import { create, extract, type ReadEntry } from "tar";
import { exists, syncDirectory } from "../lib/files.ts";
import { ifAbsent, keepingDeleted } from "./blobs/backup.ts";
import {
  BESIDES,
  BLOBS,
  DATABASE,
  DirectoryError,
  fillDirectory,
  requireDatabase,
} from "./data-directory.ts";

const MANIFEST = "manifest.json";
const ALLOWED = /^(manifest\.json|sensorium\.db|secret\.key|credentials\.json|blobs\/(.*))$/;

/** The layout version of a backup. Newer ones are refused. */
const FORMAT = 1;

/** All pages in one step, for one consistent state: a stepwise copy restarts with every write in between. */
const ALL_PAGES = 0x7fffffff;

/**
 * Copies rows, blobs and keys of a data directory into one file (tar, gzip) that only its owner may read, even while
 * the service is running. The rows are a snapshot; blobs are copied afterwards, with those deleted meanwhile.
 */
export async function backUp(dataDir: string, file: string): Promise<void> {
  const lost = missingLog(await requireDatabase(dataDir));
  if (lost !== null) throw new DirectoryError(`${dataDir} is not backed up: ${lost}.`);
  if (await exists(file)) throw new DirectoryError(`${file} already exists. Give a new file name.`);
  const stage = await mkdtemp(`${file}.`).catch((err: Error) => {
    throw new DirectoryError(`${file} cannot be created: ${err.message}`);
  });
  try {
    await stageContents(resolve(dataDir), stage);
    const draft = join(stage, "archive");
    const names = (await readdir(stage)).sort();
    await pipeline(
      create({ cwd: stage, gzip: true, portable: true, follow: true }, names),
      createWriteStream(draft, { mode: 0o600, flags: "wx", flush: true }),
    );
    await rename(draft, file);
    await syncDirectory(dirname(file));
  } finally {
    await rm(stage, { recursive: true });
  }
}

async function stageContents(dataDir: string, stage: string): Promise<void> {
  const manifest = { format: FORMAT, created_at: new Date().toISOString() };
  await writeFile(join(stage, MANIFEST), JSON.stringify(manifest));
  const stageBlobs = async (from: string) => {
    if (await exists(from)) await stageFolder(from, join(stage, BLOBS));
  };
  await keepingDeleted(
    dataDir,
    async () => {
      await stageDatabase(dataDir, stage);
      await stageBlobs(join(dataDir, BLOBS));
    },
    stageBlobs,
  );
  for (const name of BESIDES) {
    if (await exists(join(dataDir, name))) await symlink(join(dataDir, name), join(stage, name));
  }
}

async function stageDatabase(dataDir: string, stage: string): Promise<void> {
  const source = new DatabaseSync(join(dataDir, DATABASE), { readOnly: true });
  try {
    await copyDatabase(source, join(stage, DATABASE), { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

/** Hard-links every file of a folder, so that none disappears while it is being archived. */
async function stageFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  // No row of the backup needs what was deleted meanwhile, except those of a tenant that is being erased.
  const entries = await readdir(from, { withFileTypes: true }).catch(ifAbsent([]));
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await stageFolder(source, target);
    else await stageFile(source, target).catch(ifAbsent(undefined));
  }
}

async function stageFile(source: string, target: string): Promise<void> {
  await link(source, target).catch(async ({ code }: NodeJS.ErrnoException) => {
    // A blob that was deleted and put again is staged twice. On another disk a backup temporarily needs the space twice.
    if (code !== "EEXIST") await copyFile(source, target);
  });
}

/** Restores a backup into an empty data directory, once everything was unpacked and the database was checked. */
export async function restore(file: string, dataDir: string): Promise<void> {
  if (!(await exists(file))) throw new DirectoryError(`There is no file ${file}. Give the path of a backup.`);
  await fillDirectory(dataDir, async (stage) => {
    await unpack(file, stage);
    await checkManifest(file, stage);
    await checkDatabase(file, join(stage, DATABASE));
    await rm(join(stage, MANIFEST));
  });
}

async function unpack(file: string, stage: string): Promise<void> {
  const foreign: string[] = [];
  const filter = (path: string, entry: unknown) => {
    const { type } = entry as ReadEntry;
    if (ALLOWED.test(path) && (type === "File" || type === "Directory")) return true;
    foreign.push(path);
    return false;
  };
  try {
    await extract({ file, cwd: stage, strict: true, filter });
  } catch (err) {
    throw new DirectoryError(`${file} is not a complete backup: ${(err as Error).message}. Use another.`);
  }
  if (foreign.length)
    throw new DirectoryError(`${file} is not a backup of Sensorium: it contains ${foreign[0]}.`);
}

async function checkManifest(file: string, stage: string): Promise<void> {
  const text = await readFile(join(stage, MANIFEST), "utf8").catch(() => {
    throw new DirectoryError(`${file} is not a backup of Sensorium: it lacks ${MANIFEST}.`);
  });
  const { format } = JSON.parse(text) as { format: number };
  if (format > FORMAT)
    throw new DirectoryError(
      `${file} was created by a newer Sensorium (format ${format}, this one reads up to ${FORMAT}). Update first.`,
    );
}

async function checkDatabase(file: string, path: string): Promise<void> {
  // SQLite would create an empty one.
  if (!(await exists(path)))
    throw new DirectoryError(
      `${file} is not a complete backup: it lacks the database (${DATABASE}). Use another.`,
    );
  try {
    const database = new DatabaseSync(path);
    const { quick_check } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    database.close();
    if (quick_check !== "ok") throw new Error(quick_check);
  } catch (err) {
    throw new DirectoryError(
      `The database in ${file} is damaged: ${(err as Error).message}. Use another backup.`,
    );
  }
}
