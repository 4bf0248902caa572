import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Header } from "tar";
import { syncDirectory } from "../../lib/files.ts";
import { AdminError } from "./typed.ts";

/** A tar consists of blocks; two empty ones end it. */
const BLOCK = 512;
/** No entry of an export is larger: it is a page of rows, or a part of a content. */
const MOST_BYTES = 134_217_728;

export interface Entry {
  path: string;
  content: Buffer;
}

/** Writes a tar, entry by entry, that only its owner may read. It gets its name when it is complete. */
export class ArchiveWriter {
  readonly #file: FileHandle;
  readonly #path: string;
  bytes = 0;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  static async create(path: string): Promise<ArchiveWriter> {
    try {
      // A new file: one that is there may be a link, or readable by others.
      await rm(`${path}.new`, { force: true });
      return new ArchiveWriter(await open(`${path}.new`, "wx", 0o600), path);
    } catch (err) {
      throw new AdminError(`${path} cannot be created: ${(err as Error).message}`);
    }
  }

  async add(path: string, content: Buffer): Promise<void> {
    const header = new Header({ path, size: content.length, mode: 0o600, type: "File", mtime: new Date(0) });
    header.encode();
    await this.#write(Buffer.concat([header.block as Buffer, content, padding(content.length)]));
  }

  async end(): Promise<void> {
    await this.#write(Buffer.alloc(2 * BLOCK));
    await this.#file.sync();
    await this.#file.close();
    await rename(`${this.#path}.new`, this.#path);
    await syncDirectory(dirname(this.#path));
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(`${this.#path}.new`, { force: true });
  }

  async #write(bytes: Buffer): Promise<void> {
    await this.#file.writeFile(bytes);
    this.bytes += bytes.length;
  }
}

const padding = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** Yields the entries of a tar, one in memory at a time. @throws AdminError if it is not whole */
export async function* readArchive(path: string): AsyncGenerator<Entry> {
  const file = await open(path).catch((err: Error) => {
    throw new AdminError(`${path} cannot be read: ${err.message}`);
  });
  try {
    for (;;) {
      const header = new Header(await read(file, path, BLOCK));
      if (header.nullBlock) return;
      const { size = 0, path: name = "", cksumValid, type } = header;
      if (!cksumValid || type !== "File" || size > MOST_BYTES) throw notWhole(path);
      const content = await read(file, path, size + padding(size).length);
      yield { path: name, content: content.subarray(0, size) };
    }
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, path: string, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(bytes, at, size - at);
    if (bytesRead === 0) throw notWhole(path);
    at += bytesRead;
  }
  return bytes;
}

const notWhole = (path: string) =>
  new AdminError(`${path} is not a whole export of a tenant. Export it again.`);
