import { setTimeout as pause } from "node:timers/promises";
import type { StreamHandler } from "./exchange.ts";
import { beginEvents, endOf, write } from "./sse.ts";

const EVERY_MS = 2000;

/** `GET /live`: what `GET /stats` answers, again and again, until either side ends it. */
export const streamStats: StreamHandler = async (exchange, _params, link) => {
  const { req, res, ctx } = exchange;
  beginEvents(res);
  if (req.method === "HEAD") return void res.end();
  const ended = endOf(exchange, link);
  try {
    while (!ended.aborted) {
      const stats = await ctx.call("live.stats", {}, { timeout: 5 * EVERY_MS });
      await write(res, `event: stats\ndata: ${JSON.stringify(stats)}\n\n`, ended);
      await pause(EVERY_MS, undefined, { signal: ended }).catch(() => {});
    }
  } finally {
    res.end();
  }
};
