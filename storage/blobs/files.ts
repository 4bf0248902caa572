import { randomUUID } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { syncDirectory } from "../../lib/files.ts";
import type { Growth } from "../growth.ts";
import { ifAbsent, isAbsent, isBackingUp, keepForBackup } from "./backup.ts";
import {
  BlobMissing,
  type BlobRef,
  type Blobs,
  type BlobWrite,
  computeHash,
  type InUse,
  Measure,
  WRITE_MS,
} from "./blobs.ts";

const FOLDER = "blobs";
/** Outside of the blobs, so that a backup never contains half a file. */
const DRAFTS = "blobs.new";
const BATCH = 500;
const TENANT = /^[A-Za-z0-9_-]{1,80}$/;
const HASH = /^[0-9a-f]{64}$/;

/** Blobs as files: `blobs/<tenant>/<two digits>/<hash>`; the modification time is that of the last put. */
export class FileBlobs implements Blobs {
  readonly #dataDir: string;
  readonly #root: string;
  readonly #drafts: string;
  /** Operations on a file are serialised: a sweep must not delete a blob that is being put again. */
  readonly #locks = new Map<string, Promise<unknown>>();
  /** Writes in progress by the file that they keep, each until it ends or must be over. */
  readonly #writes = new Map<string, Map<string, number>>();
  readonly inUse: InUse;
  readonly #growth: Growth | undefined;

  private constructor(dataDir: string, inUse: InUse, growth?: Growth) {
    this.inUse = inUse;
    this.#growth = growth;
    this.#dataDir = dataDir;
    this.#root = join(dataDir, FOLDER);
    this.#drafts = join(dataDir, DRAFTS);
  }

  /** The data directory belongs to this process: existing drafts are remains of a crash. */
  static async open(dataDir: string, inUse: InUse, growth?: Growth): Promise<FileBlobs> {
    const blobs = new FileBlobs(dataDir, inUse, growth);
    await rm(blobs.#drafts, { recursive: true, force: true });
    await isBackingUp(dataDir);
    return blobs;
  }

  async put(write: BlobWrite, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobRef> {
    const { tenant_id } = write;
    if (!(content instanceof Uint8Array)) return this.#putStream(write, content);
    const hash = await computeHash(content);
    const path = this.#path(tenant_id, hash);
    const isKnown = await this.#withLock(path, () => {
      this.#keepFor(write, hash, path);
      return touch(path);
    });
    if (!isKnown) await this.#keep(write, hash, await this.#draft([content]), content.length);
    return { hash, size: content.length };
  }

  async end({ tenant_id, id, hashes }: BlobWrite): Promise<void> {
    for (const hash of hashes) {
      const path = this.#path(tenant_id, hash);
      const writes = this.#writes.get(path);
      writes?.delete(id);
      if (writes?.size === 0) this.#writes.delete(path);
    }
  }

  async release(tenant_id: string, hashes: readonly string[]): Promise<number> {
    const free = new Map<string, number>();
    for (const hash of new Set(hashes)) {
      const path = this.#path(tenant_id, hash);
      if (!this.#isKept(path)) free.set(hash, await touchedAt(path));
    }
    for (const [hash, at] of free) if (at === Number.POSITIVE_INFINITY) free.delete(hash);
    if (free.size === 0) return 0;
    const used = new Set(await this.inUse(tenant_id, [...free.keys()]));
    let released = 0;
    for (const [hash, at] of free) {
      if (used.has(hash)) continue;
      const path = this.#path(tenant_id, hash);
      // If it was put again meanwhile, its new owner releases it.
      const isFree = async () => !this.#isKept(path) && (await touchedAt(path)) === at;
      if (await this.#withLock(path, async () => (await isFree()) && this.#remove(tenant_id, path)))
        released++;
    }
    return released;
  }

  async releaseAll(tenant_id: string): Promise<number> {
    let released = 0;
    await isBackingUp(this.#dataDir);
    const all = await this.#all(tenant_id);
    for (let at = 0; at < all.length; at += BATCH)
      released += await this.release(tenant_id, all.slice(at, at + BATCH));
    return released;
  }

  tenants(): Promise<string[]> {
    return list(this.#root);
  }

  async get(tenant_id: string, hash: string): Promise<Buffer> {
    return readFile(this.#path(tenant_id, hash)).catch(missing(tenant_id, hash));
  }

  async stream(tenant_id: string, hash: string, from = 0): Promise<Readable> {
    const file = await open(this.#path(tenant_id, hash), "r").catch(missing(tenant_id, hash));
    return createReadStream("", { fd: file, start: from });
  }

  async erase(tenant_id: string): Promise<number> {
    const hashes = await this.#all(tenant_id);
    await rm(join(this.#root, requireMatch(TENANT, tenant_id)), { recursive: true, force: true });
    return hashes.length;
  }

  async bytesOf(tenant_id: string): Promise<number> {
    let bytes = 0;
    for (const hash of await this.#all(tenant_id))
      bytes += (await readSize(this.#path(tenant_id, hash))) ?? 0;
    return bytes;
  }

  async #putStream(write: BlobWrite, content: AsyncIterable<Uint8Array>): Promise<BlobRef> {
    const measure = new Measure();
    const draft = await this.#draft(measure.through(content));
    const hash = measure.hash();
    await this.#keep(write, hash, draft, measure.size);
    return { hash, size: measure.size };
  }

  /** Writes a complete, durable file under a temporary name. */
  async #draft(content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
    await mkdir(this.#drafts, { recursive: true, mode: 0o700 });
    const path = join(this.#drafts, randomUUID());
    const file = await open(path, "wx", 0o600);
    try {
      for await (const bytes of content) await file.writeFile(bytes);
      await file.sync();
    } catch (err) {
      await rm(path, { force: true });
      throw err;
    } finally {
      await file.close();
    }
    return path;
  }

  async #keep(write: BlobWrite, hash: string, draft: string, size: number): Promise<void> {
    const { tenant_id } = write;
    const path = this.#path(tenant_id, hash);
    const folder = dirname(path);
    await makeFolder(folder);
    await this.#withLock(path, async () => {
      this.#keepFor(write, hash, path);
      const isNew = (await readSize(path)) === null;
      await rename(draft, path);
      await syncDirectory(folder);
      if (isNew) this.#growth?.add(tenant_id, size);
    });
  }

  #keepFor(write: BlobWrite, hash: string, path: string): void {
    write.hashes.add(hash);
    const writes = this.#writes.get(path) ?? new Map();
    this.#writes.set(path, writes.set(write.id, Date.now() + WRITE_MS));
  }

  #isKept(path: string): boolean {
    const writes = this.#writes.get(path)?.values() ?? [];
    return [...writes].some((until) => until > Date.now());
  }

  /** Removes a file that exists, into a backup that is being made and may need it. */
  async #remove(tenant_id: string, path: string): Promise<boolean> {
    const size = await readSize(path);
    if (size === null) return false;
    await keepForBackup(this.#dataDir, path);
    await rm(path, { force: true });
    // Without its folder it does not exist.
    await syncDirectory(dirname(path)).catch(ifAbsent(undefined));
    this.#growth?.add(tenant_id, -size);
    return true;
  }

  /** Returns the hashes of all of a tenant's. */
  async #all(tenant_id: string): Promise<string[]> {
    const folder = join(this.#root, requireMatch(TENANT, tenant_id));
    const files: string[] = [];
    for (const prefix of await list(folder)) files.push(...(await list(join(folder, prefix))));
    return files;
  }

  async #withLock<T>(path: string, task: () => Promise<T>): Promise<T> {
    const done = (this.#locks.get(path) ?? Promise.resolve()).catch(() => undefined).then(task);
    this.#locks.set(path, done);
    try {
      return await done;
    } finally {
      if (this.#locks.get(path) === done) this.#locks.delete(path);
    }
  }

  #path(tenant_id: string, hash: string): string {
    const name = requireMatch(HASH, hash);
    return join(this.#root, requireMatch(TENANT, tenant_id), name.slice(0, 2), name);
  }
}

/** Returns a name that cannot lead out of its folder. */
function requireMatch(pattern: RegExp, name: string): string {
  if (pattern.test(name)) return name;
  throw new BlobMissing(`${JSON.stringify(name)} is not a valid blob name.`);
}

/** Returns whether the file exists, and raises its time. Syncs its name, whichever process created it. */
async function touch(path: string): Promise<boolean> {
  const raise = async ({ mtimeMs }: Stats) => {
    const at = new Date(Math.max(Date.now(), Math.ceil(mtimeMs) + 1));
    await utimes(path, at, at);
    return true;
  };
  const isThere = await stat(path).then(raise).catch(ifAbsent(false));
  if (isThere) await syncDirectory(dirname(path));
  return isThere;
}

const touchedAt = (path: string) =>
  stat(path).then(({ mtimeMs }) => mtimeMs, ifAbsent(Number.POSITIVE_INFINITY));

const readSize = (path: string) => stat(path).then(({ size }) => size, ifAbsent(null));

/** Creates a folder and its parents durably. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (!first) return;
  for (let made = path; ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === first) return;
  }
}

const list = (folder: string) => readdir(folder).catch(ifAbsent<string[]>([]));

function missing(tenant_id: string, hash: string) {
  return (err: unknown): never => {
    throw isAbsent(err) ? new BlobMissing(`${tenant_id} has no blob ${hash}.`) : err;
  };
}
