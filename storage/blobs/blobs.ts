import { createHash, randomUUID, webcrypto } from "node:crypto";
import type { Readable } from "node:stream";
import { HOUR_MS } from "../../lib/time.ts";

/** A row's reference to a blob. `hash`: SHA-256 of its bytes in hex. */
export interface BlobRef {
  hash: string;
  size: number;
}

/** Returns the hashes of a tenant that are in use. */
export type InUse = (tenant_id: string, hashes: string[]) => Promise<readonly string[]>;

/** A write is over by then, though its node has not ended it. */
export const WRITE_MS = HOUR_MS;

/** A write in progress: what it puts is kept until it ends, so that a row can be written that references it. */
export class BlobWrite {
  readonly tenant_id: string;
  readonly id: string;
  readonly hashes = new Set<string>();

  constructor(tenant_id: string, id: string = randomUUID()) {
    this.tenant_id = tenant_id;
    this.id = id;
  }
}

/** Bytes stored outside of rows, addressed by tenant and content: equal bytes are stored once. */
export interface Blobs {
  /** Returns which hashes rows reference. */
  readonly inUse: InUse;
  /**
   * Resolves when the bytes are durable. They are kept until the write ends: see `writingBlobs`.
   * @param expected minimum number of bytes of a stream
   */
  put(write: BlobWrite, content: Uint8Array | AsyncIterable<Uint8Array>, expected?: number): Promise<BlobRef>;
  /** Ends a write: what it put is kept only as long as a row references it. */
  end(write: BlobWrite): Promise<void>;
  /** Deletes those that no row references and no write in progress keeps; returns how many. */
  release(tenant_id: string, hashes: readonly string[]): Promise<number>;
  /** Does so with all of a tenant's, and deletes what a crash has left of others. */
  releaseAll(tenant_id: string): Promise<number>;
  /** Returns the tenants that have blobs. */
  tenants(): Promise<string[]>;
  /** @throws BlobMissing */
  get(tenant_id: string, hash: string): Promise<Buffer>;
  /** Streams blobs too large for memory. @param from its first byte @throws BlobMissing */
  stream(tenant_id: string, hash: string, from?: number): Promise<Readable>;
  /** Deletes all of a tenant's blobs; returns how many. */
  erase(tenant_id: string): Promise<number>;
  /** Returns the total size of a tenant's blobs in bytes. */
  bytesOf(tenant_id: string): Promise<number>;
}

/** Runs a task that puts blobs and writes the rows that reference them; afterwards deletes those without a row. */
export async function writingBlobs<T>(
  blobs: Blobs,
  tenant_id: string,
  task: (write: BlobWrite) => Promise<T>,
): Promise<T> {
  const write = new BlobWrite(tenant_id);
  try {
    return await task(write);
  } finally {
    await endWrite(blobs, write);
  }
}

/** Ends a write, and deletes what no row references. */
export async function endWrite(blobs: Blobs, write: BlobWrite): Promise<void> {
  if (write.hashes.size === 0) return;
  // Whatever the result of the task, it stands: the sweep deletes what is left.
  const released = blobs.end(write).then(() => blobs.release(write.tenant_id, [...write.hashes]));
  await released.catch(() => {});
}

/** The blob does not exist, or no longer. */
export class BlobMissing extends Error {}

/** Larger contents are hashed in another thread, to keep this one responsive. */
const LARGE = 1_048_576;

/** Returns the SHA-256 in hex. */
export async function computeHash(bytes: Uint8Array): Promise<string> {
  if (bytes.length < LARGE) return createHash("sha256").update(bytes).digest("hex");
  const digest = await webcrypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString("hex");
}

/** Passes bytes on and computes their hash and size. */
export class Measure {
  size = 0;
  readonly #hash = createHash("sha256");

  async *through(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of content) {
      this.#hash.update(bytes);
      this.size += bytes.length;
      yield bytes;
    }
  }

  /** Call once, at the end. */
  hash(): string {
    return this.#hash.digest("hex");
  }
}
