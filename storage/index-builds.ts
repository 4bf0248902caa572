import { isStoreLost } from "./store-lost.ts";
import { untilAvailable } from "./until-available.ts";

/** More at once would wait for the connections and locks of each other, until these time out. */
const AT_ONCE = 8;

/**
 * Creates the indexes of the models, some at a time. A busy database is waited for: where another node, or the start
 * before, is creating the same ones, that takes as long as it takes there.
 */
export class IndexBuilds {
  readonly #all: Promise<void>[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #left = 0;
  #isClosed = false;
  #problem: string | null = null;

  add(build: () => Promise<unknown>): void {
    this.#left++;
    const built = this.#run(build);
    // Reported by `done`; until it is called it must not count as unhandled.
    built.catch(() => {});
    this.#all.push(built);
  }

  async #run(build: () => Promise<unknown>): Promise<void> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      const report = ({ message }: Error) => {
        this.#problem = message;
      };
      await untilAvailable(build, report, (err) => !this.#isClosed && isStoreLost(err));
      this.#left--;
      this.#problem = null;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /** Returns what is still to do, in words, with the last problem. */
  get progress(): string {
    return `the indexes of ${this.#left} collections are missing${this.#problem ? ` (${this.#problem})` : ""}`;
  }

  async done(): Promise<void> {
    await Promise.all(this.#all);
  }

  /** Tries none again. */
  close(): void {
    this.#isClosed = true;
  }
}
