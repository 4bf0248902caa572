import { createHash, webcrypto } from "node:crypto";

/** No such blob, or no more. */
export class BlobMissing extends Error {}

/** More than this is hashed by another thread, so that nobody waits meanwhile. */
const LARGE = 1_048_576;

/** SHA-256 in hex. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  if (bytes.length < LARGE) return createHash("sha256").update(bytes).digest("hex");
  const digest = await webcrypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString("hex");
}

/** Passes bytes on, and knows their hash and number when all went by. */
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

  /** To be asked once. */
  hash(): string {
    return this.#hash.digest("hex");
  }
}
