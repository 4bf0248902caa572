import type { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { UserCaller } from "../../../../lib/access/caller.ts";
import type { LiveChange } from "../../../../middlewares/live-changes.ts";
import type { StreamHandler } from "../http-exchange.ts";
import { beginEvents, endOf } from "./sse.ts";

const EVERY_MS = 2000;
/** Changes within this time are sent together: most of them belong together. */
const GATHER_MS = 200;
/** Limit of ids per resource; without ids the change means "some, or all". */
const MOST_IDS = 200;

/**
 * `GET /live`: repeats the answer of `GET /stats`, with changes in between, until either side ends it.
 * @param changes emits each change under its tenant's id
 */
export function streamLive(changes: EventEmitter): StreamHandler {
  return async (exchange, _params, link, output) => {
    const { req, res, ctx, caller } = exchange;
    beginEvents(res);
    if (req.method === "HEAD") return output.end();
    const ended = endOf(exchange, link, output);
    const buffer = new ChangeBuffer((text) => output.write(text));
    const { tenant_id } = caller as UserCaller;
    const add = (change: LiveChange) => buffer.add(change);
    changes.on(tenant_id, add);
    try {
      while (!ended.aborted) {
        const stats = await ctx.call("live.stats", {}, { timeout: 5 * EVERY_MS });
        await link.recheck();
        await output.write(`event: stats\ndata: ${JSON.stringify(stats)}\n\n`);
        await pause(EVERY_MS, undefined, { signal: ended }).catch(() => {});
      }
    } finally {
      changes.off(tenant_id, add);
      buffer.end();
      output.end();
    }
  };
}

/**
 * Groups changes into one message per resource. While a reader has not taken the last message, changes are collected
 * within bounds: an unread stream costs no more for the changes it misses.
 */
export class ChangeBuffer {
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
    // A slow reader may return here after the stream's end, when nothing can be written any more.
    if (this.#ids.size && !this.#ended) this.#timer = setTimeout(() => this.#flush(), GATHER_MS);
  }
}
