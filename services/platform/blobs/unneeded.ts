import type { InUse } from "../../../storage/blobs/blobs.ts";

/**
 * Lets a sweep delete only what was unneeded at the sweep before as well, so that there is time between the end of a
 * row and that of its blob: a backup that began with the row finds the blob.
 */
export class Unneeded {
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

  /** Those of the hashes that must stay. */
  readonly stay: InUse = async (tenant_id, hashes) => {
    const used = new Set(await this.#inUse(tenant_id, hashes));
    return hashes.filter((hash) => {
      const key = `${tenant_id} ${hash}`;
      if (!used.has(hash)) this.#now.add(key);
      return used.has(hash) || !this.#before.has(key);
    });
  };
}
