import { setTimeout as pause } from "node:timers/promises";
import type { UserCaller } from "../../../../lib/access/caller.ts";
import type { LiveChange } from "../../live/live-change.ts";
import type { StreamHandler } from "../exchange.ts";
import { ChangeBuffer } from "./change-buffer.ts";
import { beginEvents, endOf } from "./sse.ts";

const EVERY_MS = 2000;

type Watcher = (change: LiveChange) => void;

/** This node's streams by the tenant that they watch. */
export class LiveWatchers {
  readonly #watchers = new Map<string, Set<Watcher>>();

  tell(change: LiveChange): void {
    for (const watcher of this.#watchers.get(change.tenant_id) ?? []) watcher(change);
  }

  /** @returns a function that removes it */
  add(tenant_id: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(tenant_id) ?? new Set();
    this.#watchers.set(tenant_id, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(tenant_id);
    };
  }
}

/** `GET /live`: repeats the answer of `GET /stats`, with changes in between, until either side ends it. */
export function streamLive(watchers: LiveWatchers): StreamHandler {
  return async (exchange, _params, link, output) => {
    const { req, res, ctx, caller } = exchange;
    beginEvents(res);
    if (req.method === "HEAD") return output.end();
    const ended = endOf(exchange, link, output);
    const changes = new ChangeBuffer((text) => output.write(text));
    const leave = watchers.add((caller as UserCaller).tenant_id, (change) => changes.add(change));
    try {
      while (!ended.aborted) {
        const stats = await ctx.call("live.stats", {}, { timeout: 5 * EVERY_MS });
        await link.recheck();
        await output.write(`event: stats\ndata: ${JSON.stringify(stats)}\n\n`);
        await pause(EVERY_MS, undefined, { signal: ended }).catch(() => {});
      }
    } finally {
      leave();
      changes.end();
      output.end();
    }
  };
}
