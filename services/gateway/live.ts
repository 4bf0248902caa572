import { setTimeout as pause } from "node:timers/promises";
import type { UserCaller } from "../../lib/caller.ts";
import type { LiveChange } from "../live/live-change.ts";
import type { StreamHandler } from "./exchange.ts";
import { beginEvents, endOf, write } from "./sse.ts";

const EVERY_MS = 2000;
/** What changes within so long is told at once: much of it is of one piece. */
const GATHER_MS = 200;

type Watcher = (change: LiveChange) => void;

/** Who of this node's streams watches which tenant. */
export class LiveWatchers {
  readonly #watchers = new Map<string, Set<Watcher>>();

  tell(change: LiveChange): void {
    for (const watcher of this.#watchers.get(change.tenant_id) ?? []) watcher(change);
  }

  /** @returns what ends it */
  add(tenant_id: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(tenant_id) ?? new Set();
    this.#watchers.set(tenant_id, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(tenant_id);
    };
  }
}

/**
 * `GET /live`: what `GET /stats` answers, again and again, and between that what has changed, until either side ends
 * it.
 */
export function streamLive(watchers: LiveWatchers): StreamHandler {
  return async (exchange, _params, link) => {
    const { req, res, ctx, caller } = exchange;
    beginEvents(res);
    if (req.method === "HEAD") return void res.end();
    const ended = endOf(exchange, link);
    const changes = new Gathered((text) => write(res, text, ended));
    const leave = watchers.add((caller as UserCaller).tenant_id, (change) => changes.add(change));
    try {
      while (!ended.aborted) {
        const stats = await ctx.call("live.stats", {}, { timeout: 5 * EVERY_MS });
        await write(res, `event: stats\ndata: ${JSON.stringify(stats)}\n\n`, ended);
        await pause(EVERY_MS, undefined, { signal: ended }).catch(() => {});
      }
    } finally {
      leave();
      changes.end();
      res.end();
    }
  };
}

/** Changes that are told together, one message a resource; a reader that is slow is told of them later and once. */
class Gathered {
  readonly #send: (text: string) => Promise<void>;
  #ids = new Map<LiveChange["resource"], Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #sending = false;
  #ended = false;

  constructor(send: (text: string) => Promise<void>) {
    this.#send = send;
  }

  add({ resource, ids }: LiveChange): void {
    const known = this.#ids.get(resource) ?? new Set();
    for (const id of ids) known.add(id);
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
    const told = [...this.#ids].map(([resource, ids]) => JSON.stringify({ resource, ids: [...ids] }));
    this.#ids = new Map();
    await this.#send(told.map((data) => `event: changed\ndata: ${data}\n\n`).join(""));
    this.#sending = false;
    // What a slow reader kept waiting may come back here after the stream's end, where nothing can be written any more.
    if (this.#ids.size && !this.#ended) this.#timer = setTimeout(() => this.#flush(), GATHER_MS);
  }
}
