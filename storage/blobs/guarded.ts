import type { Readable } from "node:stream";
import type { BlobRef, Blobs, InUse } from "./blobs.ts";

/** What a write has claimed and not yet written. */
export interface Claim {
  /** Claims more before it is written. @throws Fault when it may not be written */
  extend(bytes: number): Promise<void>;
  /** Says that so much of the claim is written. */
  wrote?(bytes: number): void;
  end(): void;
}

/** What bounds blobs: each gives the claim of one that a tenant is about to put. */
export type Guard = (tenant_id: string) => Claim;

/** Bytes that a stream claims at once: asking for every piece would cost more than it saves. */
const STEP = 4_194_304;

/** Blobs that are put only as far as all guards allow: one that goes beyond is cut off, and leaves nothing behind. */
export class GuardedBlobs implements Blobs {
  readonly #blobs: Blobs;
  readonly #guards: readonly Guard[];

  constructor(blobs: Blobs, guards: readonly Guard[]) {
    this.#blobs = blobs;
    this.#guards = guards;
  }

  async put(
    tenant_id: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expected = 0,
  ): Promise<BlobRef> {
    const bounds = this.#guards.map((guard) => new Bound(guard(tenant_id)));
    try {
      const isWhole = content instanceof Uint8Array;
      for (const bound of bounds) await bound.extend(isWhole ? content.length : expected);
      return await this.#blobs.put(tenant_id, isWhole ? content : within(bounds, content));
    } finally {
      for (const bound of bounds) bound.end();
    }
  }

  get(tenant_id: string, hash: string): Promise<Buffer> {
    return this.#blobs.get(tenant_id, hash);
  }

  stream(tenant_id: string, hash: string): Promise<Readable> {
    return this.#blobs.stream(tenant_id, hash);
  }

  sweep(before: number, inUse: InUse): Promise<number> {
    return this.#blobs.sweep(before, inUse);
  }

  delete(tenant_id: string, hashes: readonly string[]): Promise<void> {
    return this.#blobs.delete(tenant_id, hashes);
  }

  erase(tenant_id: string): Promise<number> {
    return this.#blobs.erase(tenant_id);
  }

  bytesOf(tenant_id: string): Promise<number> {
    return this.#blobs.bytesOf(tenant_id);
  }
}

/** How far one guard lets a blob grow. */
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

  /** Claims a piece where it is not claimed yet: with what follows, or alone where there is only so much left. */
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

/** Passes on what the bounds admit. */
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
