import type { LiveChange } from "../../live/live-change.ts";

/** What changes within so long is told at once: much of it is of one piece. */
const GATHER_MS = 200;
/** More ids of a resource are not kept for a reader: without any they are "some, or all". */
const MOST_IDS = 200;

/**
 * Changes that are told together, one message a resource. While a reader has not taken the last ones, those that come
 * are gathered, within bounds: a window that nobody reads costs no more for the changes it misses.
 */
export class Gathered {
  readonly #send: (text: string) => Promise<void>;
  #ids = new Map<LiveChange["resource"], Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #sending = false;
  #ended = false;

  /** @param send resolves when the reader takes more */
  constructor(send: (text: string) => Promise<void>) {
    this.#send = send;
  }

  add({ resource, ids }: LiveChange): void {
    const known = this.#ids.get(resource) ?? new Set();
    if (known.size <= MOST_IDS) for (const id of ids) known.add(id);
    this.#ids.set(resource, known);
    if (!this.#sending) this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    this.#sending = true;
    const told = [...this.#ids].map(([resource, known]) => {
      const ids = known.size > MOST_IDS ? [] : [...known];
      return `event: changed\ndata: ${JSON.stringify({ resource, ids })}\n\n`;
    });
    this.#ids = new Map();
    await this.#send(told.join(""));
    this.#sending = false;
    // What a slow reader kept waiting may come back here after the stream's end, where nothing can be written any more.
    if (this.#ids.size && !this.#ended) this.#timer = setTimeout(() => this.#flush(), GATHER_MS);
  }
}
