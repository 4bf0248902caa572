import type { InUse } from "../../../storage/blobs/blobs.ts";

/**
 * Limits a sweep to blobs that were unused at the previous sweep too, so that a blob outlives its row for a while: a
 * backup that contains the row finds the blob.
 */
export class UnusedSinceLastSweep {
  readonly #inUse: InUse;
  #before = new Set<string>();
  #now = new Set<string>();

  constructor(inUse: InUse) {
    this.#inUse = inUse;
  }

  /** Begins a sweep. */
  begin(): void {
    this.#before = this.#now;
    this.#now = new Set();
  }

  /** Returns the hashes to keep. */
  readonly stay: InUse = async (tenant_id, hashes) => {
    const used = new Set(await this.#inUse(tenant_id, hashes));
    return hashes.filter((hash) => {
      const key = `${tenant_id} ${hash}`;
      if (!used.has(hash)) this.#now.add(key);
      return used.has(hash) || !this.#before.has(key);
    });
  };
}
