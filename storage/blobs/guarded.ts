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
    const claims = this.#guards.map((guard) => guard(tenant_id));
    try {
      const isWhole = content instanceof Uint8Array;
      const size = isWhole ? content.length : expected;
      await extendAll(claims, size);
      return await this.#blobs.put(tenant_id, isWhole ? content : within(claims, content, size));
    } finally {
      for (const claim of claims) claim.end();
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
}

/** Passes on what the claims allow, asking for more as it grows. */
async function* within(
  claims: readonly Claim[],
  content: AsyncIterable<Uint8Array>,
  claimed: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of content) {
    if (size + bytes.length > claimed) {
      const more = Math.max(STEP, bytes.length);
      await extendAll(claims, more);
      claimed += more;
    }
    yield bytes;
    size += bytes.length;
    for (const claim of claims) claim.wrote?.(bytes.length);
  }
}

async function extendAll(claims: readonly Claim[], bytes: number): Promise<void> {
  for (const claim of claims) await claim.extend(bytes);
}
