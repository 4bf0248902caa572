import { createHash, webcrypto } from "node:crypto";

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
