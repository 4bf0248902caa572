import { statfs } from "node:fs/promises";
import { Fault } from "../lib/contract/faults.ts";

const LOOK_EVERY_MS = 5000;
const MB = 1_000_000;
const RETRY_AFTER_SECONDS = 30;
/** Large writes leave so many times the least free space, so that they alone never stop the small ones. */
const LEFT_BY_LARGE = 2;

/** What a large write has claimed of the disk and not yet written: it is counted as taken. */
interface DiskClaim {
  /** Claims more before it is written. @throws Fault service_unavailable */
  extend(bytes: number): Promise<void>;
  /** Says that so much of the claim is on the disk now. */
  wrote(bytes: number): void;
  /** Gives back what was claimed and not written. */
  end(): void;
}

/** Keeps an eye on the space of the disk that a folder is on, so that writes are refused before one fails halfway. */
export class DiskWatch {
  readonly #folder: string;
  readonly #minFreeMb: number;
  #freeMb = Number.POSITIVE_INFINITY;
  #claimed = 0;
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

  /** Begins a large write, such as an upload. It asks for space as it goes on, and ends its claim whatever happens. */
  claim(): DiskClaim {
    let open = 0;
    const release = (bytes: number) => {
      const released = Math.min(bytes, open);
      open -= released;
      this.#claimed -= released;
    };
    return {
      extend: async (bytes) => {
        if (this.#timer && this.#minFreeMb > 0) await this.#look();
        const left = this.#freeMb - (this.#claimed + bytes) / MB;
        if (left < LEFT_BY_LARGE * this.#minFreeMb) throw tooLittle();
        open += bytes;
        this.#claimed += bytes;
      },
      wrote: release,
      end: () => release(open),
    };
  }

  async #look(): Promise<void> {
    // A folder that cannot be looked at is the store's trouble, which has its own check.
    const disk = await statfs(this.#folder).catch(() => null);
    if (disk) this.#freeMb = (disk.bavail * disk.bsize) / MB;
  }
}

function tooLittle(): Fault {
  const message = "The disk has too little space for this upload; smaller requests go on. Try again later.";
  return new Fault("service_unavailable", message, { retry_after_seconds: RETRY_AFTER_SECONDS });
}
