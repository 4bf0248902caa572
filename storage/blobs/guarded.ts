import type { Readable } from "node:stream";
import type { BlobRef, Blobs, BlobWrite, InUse } from "./blobs.ts";

/** Bytes claimed by a write but not yet written. */
export interface Claim {
  /** Extends the claim before writing. @throws Fault if the write is not allowed */
  extend(bytes: number): Promise<void>;
  /** Reports bytes of the claim as written. */
  wrote?(bytes: number): void;
  end(): void;
}

/** A limit on blobs: returns the claim for a put of a tenant. */
type Guard = (tenant_id: string) => Claim;

/** Bytes that a stream claims at once: a claim per chunk would cost more than it saves. */
const STEP = 4_194_304;

/** Limits puts to what all guards allow: an excessive one is cut off and leaves nothing behind. */
export class GuardedBlobs implements Blobs {
  readonly #blobs: Blobs;
  readonly #guards: readonly Guard[];

  constructor(blobs: Blobs, guards: readonly Guard[]) {
    this.#blobs = blobs;
    this.#guards = guards;
  }

  async put(
    write: BlobWrite,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expected = 0,
  ): Promise<BlobRef> {
    const bounds = this.#guards.map((guard) => new Bound(guard(write.tenant_id)));
    try {
      const isWhole = content instanceof Uint8Array;
      for (const bound of bounds) await bound.extend(isWhole ? content.length : expected);
      return await this.#blobs.put(write, isWhole ? content : within(bounds, content));
    } finally {
      for (const bound of bounds) bound.end();
    }
  }

  get(tenant_id: string, hash: string): Promise<Buffer> {
    return this.#blobs.get(tenant_id, hash);
  }

  stream(tenant_id: string, hash: string, from?: number): Promise<Readable> {
    return this.#blobs.stream(tenant_id, hash, from);
  }

  sweep(before: number, inUse: InUse): Promise<number> {
    return this.#blobs.sweep(before, inUse);
  }

  get inUse(): InUse {
    return this.#blobs.inUse;
  }

  end(write: BlobWrite): Promise<void> {
    return this.#blobs.end(write);
  }

  release(tenant_id: string, hashes: readonly string[]): Promise<number> {
    return this.#blobs.release(tenant_id, hashes);
  }

  releaseAll(tenant_id: string): Promise<number> {
    return this.#blobs.releaseAll(tenant_id);
  }

  erase(tenant_id: string): Promise<number> {
    return this.#blobs.erase(tenant_id);
  }

  bytesOf(tenant_id: string): Promise<number> {
    return this.#blobs.bytesOf(tenant_id);
  }
}

/** The limit of one guard on a blob. */
class Bound {
  readonly #claim: Claim;
  #claimed = 0;
  #written = 0;

  constructor(claim: Claim) {
    this.#claim = claim;
  }

  async extend(bytes: number): Promise<void> {
    await this.#claim.extend(bytes);
    this.#claimed += bytes;
  }

  /** Claims a chunk if necessary: with a reserve, or alone if little is left. */
  async admit(piece: number): Promise<void> {
    const missing = this.#written + piece - this.#claimed;
    if (missing <= 0) return;
    if (missing >= STEP) return this.extend(missing);
    await this.extend(STEP).catch(() => this.extend(missing));
  }

  wrote(piece: number): void {
    this.#written += piece;
    this.#claim.wrote?.(piece);
  }

  end(): void {
    this.#claim.end();
  }
}

/** Passes chunks on within the limits. */
async function* within(
  bounds: readonly Bound[],
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of content) {
    for (const bound of bounds) await bound.admit(bytes.length);
    yield bytes;
    for (const bound of bounds) bound.wrote(bytes.length);
  }
}
