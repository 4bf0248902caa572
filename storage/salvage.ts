import { createReadStream } from "node:fs";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { type Condition, check as checkDatabase, salvage as salvageDatabase } from "mongoose-sqlite";
import { exists } from "../lib/files.ts";
import { Measure } from "./blobs/blobs.ts";
import {
  BESIDES,
  BLOBS,
  DATABASE,
  DirectoryError,
  fillDirectory,
  requireDatabase,
} from "./data-directory.ts";
import { type AnyModel, packedFields } from "./model.ts";

/** The readable content of a data directory. */
export interface Report extends Condition {
  blobs: { read: number; lost: number };
}

const HASH = /^[0-9a-f]{64}$/;

/** Reads every row and blob of a data directory, which stays as it is; a server may be running on it. */
export async function check(dataDir: string, models: readonly AnyModel[]): Promise<Report> {
  const file = await requireDatabase(dataDir);
  return { ...checkDatabase(file, storageOf(models)), blobs: await readBlobs(dataDir) };
}

/** Copies every row and blob that can be read, and the keys, into an empty directory. @throws DirectoryError */
export async function salvage(dataDir: string, to: string, models: readonly AnyModel[]): Promise<Report> {
  const file = await requireDatabase(dataDir);
  return fillDirectory(to, async (directory) => {
    const options = { directory, name: DATABASE, storageOf: storageOf(models) };
    const salvaged = await salvageDatabase(file, options);
    if (!salvaged.collections.length)
      throw new DirectoryError(`Nothing of ${file} can be read: ${salvaged.problems[0]}. Restore a backup.`);
    for (const name of BESIDES)
      if (await exists(join(dataDir, name))) await copyFile(join(dataDir, name), join(directory, name));
    const blobs = await readBlobs(dataDir, async (path) => {
      const copy = join(directory, relative(dataDir, path));
      await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
      await copyFile(path, copy);
    });
    return { ...salvaged, blobs };
  });
}

function storageOf(models: readonly AnyModel[]) {
  const byName = new Map(models.map((model) => [model.name, model]));
  return (name: string) => {
    const model = byName.get(name);
    return { outOfLine: model?.outOfLine, packed: model?.packed && packedFields(model.schema) };
  };
}

async function readBlobs(dataDir: string, copy: (path: string) => Promise<void> = async () => {}) {
  const blobs = { read: 0, lost: 0 };
  const root = join(dataDir, BLOBS);
  if (!(await exists(root))) return blobs;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !HASH.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    if (!(await isWhole(path))) blobs.lost++;
    else {
      await copy(path);
      blobs.read++;
    }
  }
  return blobs;
}

/** Whether a blob's file can be read and has the content that its name says. */
async function isWhole(path: string): Promise<boolean> {
  const measure = new Measure();
  try {
    for await (const _ of measure.through(createReadStream(path)));
    return measure.hash() === basename(path);
  } catch {
    return false;
  }
}
