import { statfs } from "node:fs/promises";
import { unavailable } from "../../../lib/contract/faults.ts";
import type { Claim } from "../../../storage/blobs/guarded.ts";

const CHECK_EVERY_MS = 5000;
const MB = 1_000_000;
const RETRY_AFTER_SECONDS = 30;
const TOO_LITTLE = "The disk has too little space for this upload. Send a smaller one, or retry later.";
/** Large writes leave this many times the minimum free space, so that they alone never stop the small ones. */
const LARGE_WRITE_FACTOR = 2;

/**
 * Watches the free space of a folder's disk. Writes to a record on it are refused before one fails halfway; next to one
 * elsewhere the folder holds only the search index, whose writes may fail (services/remember/search).
 */
export class DiskWatch {
  readonly #folder: string;
  readonly #minFreeMb: number;
  readonly #holdsRecord: boolean;
  /** Undefined until the folder could be read. */
  #read: { free_bytes: number; total_bytes: number } | undefined;
  #claimed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param minFreeMb Minimum free space in megabytes (10^6 bytes); 0 never refuses. */
  constructor(folder: string, minFreeMb: number, holdsRecord = true) {
    this.#folder = folder;
    this.#minFreeMb = minFreeMb;
    this.#holdsRecord = holdsRecord;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#timer = setInterval(() => this.#look(), CHECK_EVERY_MS).unref();
  }

  get freeBytes(): number {
    return this.#read?.free_bytes ?? Number.POSITIVE_INFINITY;
  }

  /** Free space and size of the disk, as read in the last seconds; null if they are not known. */
  get size(): { free_bytes: number; total_bytes: number } | null {
    return this.#read ?? null;
  }

  /** Below this, writes to a record on the disk are refused. */
  get minFreeBytes(): number {
    return this.#minFreeMb * MB;
  }

  get refusesWrites(): boolean {
    return this.#holdsRecord && this.reason !== null;
  }

  /** The problem, or null. */
  get reason(): string | null {
    const freeMb = this.freeBytes / MB;
    if (freeMb >= this.#minFreeMb) return null;
    return `${Math.floor(freeMb)} MB free; the minimum is ${this.#minFreeMb} MB`;
  }

  /**
   * Starts a large write, such as an upload, which claims space as it proceeds and must end its claim in any case. Space that is
   * claimed and not written counts as used.
   */
  claim(): Required<Claim> {
    let open = 0;
    const release = (bytes: number) => {
      const released = Math.min(bytes, open);
      open -= released;
      this.#claimed -= released;
    };
    return {
      extend: async (bytes) => {
        if (!this.#holdsRecord) return;
        if (this.#timer && this.#minFreeMb > 0) await this.#look();
        const left = this.freeBytes - this.#claimed - bytes;
        if (left < LARGE_WRITE_FACTOR * this.minFreeBytes) throw unavailable(TOO_LITTLE, RETRY_AFTER_SECONDS);
        open += bytes;
        this.#claimed += bytes;
      },
      wrote: release,
      end: () => release(open),
    };
  }

  async #look(): Promise<void> {
    // The store's own check reports a folder that cannot be read.
    const disk = await statfs(this.#folder).catch(() => null);
    if (disk) this.#read = { free_bytes: disk.bavail * disk.bsize, total_bytes: disk.blocks * disk.bsize };
  }
}
