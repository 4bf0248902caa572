import { statfs } from "node:fs/promises";

const LOOK_EVERY_MS = 5000;
const MB = 1_000_000;

/** Keeps an eye on the space of the disk that a folder is on, so that writes are refused before one fails halfway. */
export class DiskWatch {
  readonly #folder: string;
  readonly #minFreeMb: number;
  #freeMb = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param minFreeMb Least free space in megabytes (10^6 bytes); 0 never refuses. */
  constructor(folder: string, minFreeMb: number) {
    this.#folder = folder;
    this.#minFreeMb = minFreeMb;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get low(): boolean {
    return this.#freeMb < this.#minFreeMb;
  }

  /** Why writes are refused, or null. */
  get reason(): string | null {
    return this.low ? `${Math.floor(this.#freeMb)} MB free, at least ${this.#minFreeMb} MB are needed` : null;
  }

  async #look(): Promise<void> {
    // A folder that cannot be looked at is the store's trouble, which has its own check.
    const disk = await statfs(this.#folder).catch(() => null);
    if (disk) this.#freeMb = (disk.bavail * disk.bsize) / MB;
  }
}
