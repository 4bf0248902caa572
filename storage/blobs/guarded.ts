import type { Blobs } from "./blobs.ts";

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
export function guardBlobs(blobs: Blobs, guards: readonly Guard[]): Blobs {
  const put: Blobs["put"] = async (write, content, expected = 0) => {
    const bounds = guards.map((guard) => new Bound(guard(write.tenant_id)));
    try {
      const isWhole = content instanceof Uint8Array;
      for (const bound of bounds) await bound.extend(isWhole ? content.length : expected);
      return await blobs.put(write, isWhole ? content : within(bounds, content));
    } finally {
      for (const bound of bounds) bound.end();
    }
  };
  return new Proxy(blobs, {
    get(target, name) {
      if (name === "put") return put;
      const member = target[name as keyof Blobs];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
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
