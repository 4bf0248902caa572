import type { EventEmitter } from "node:events";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Caller } from "../../../../lib/access/caller.ts";
import { type OfTenant, WATCHED_MS } from "../../../sense/events/arrivals.ts";
import type { EventText } from "../../../sense/events/list.ts";
import type { Output } from "../answer/output.ts";
import type { GatewayContext } from "../gateway-context.ts";
import type { HttpExchange, Link, StreamHandler } from "../http-exchange.ts";
import { NewEvents } from "./new-events.ts";
import { beginEvents, endOf } from "./sse.ts";

/** Two looks per watch: a lost `events.watched` or `events.arrived` delays events by at most this. */
const RENEW_MS = WATCHED_MS / 2;
/** A busy tenant's events are sent together, and a stream uses at most a fifth of the store's time for its looks. */
const SHORTEST_MS = 100;
const REST = 4;
/** Memory of a look: what it finds, and the first events that it loads. */
const LOOK_BYTES = 524_288;

/** `GET /events/stream`: new events that the caller may read, until either side ends it. */
export function streamEvents(edge: GatewayContext): StreamHandler {
  return async (exchange, params, link, output) => {
    const { req, res, ctx } = exchange;
    const events = new NewEvents(ctx, params);
    // Refuses a caller without a scope, and a malformed glob, before the answer begins.
    const at = await events.start();
    beginEvents(res);
    if (req.method === "HEAD") return output.end();
    const ended = endOf(exchange, link, output);
    try {
      await output.write(`retry: 1000\nevent: ready\ndata: ${JSON.stringify({ at })}\n\n`);
      await pump(edge, exchange, events, { ...link, ended, output });
    } finally {
      output.end();
    }
  };
}

async function pump(
  { broker, arrivals }: GatewayContext,
  { ctx, caller }: HttpExchange,
  events: NewEvents,
  { recheck, ended, output }: Pick<Link, "recheck"> & { ended: AbortSignal; output: Output },
): Promise<void> {
  const { tenant_id } = caller as Caller;
  while (!ended.aborted) {
    // Listen before looking, so that nothing arrives unnoticed in between.
    void broker.broadcast("events.watched", { tenant_id } satisfies OfTenant);
    const woken = arrived(arrivals, tenant_id, ended);
    await output.reserve(LOOK_BYTES);
    const began = performance.now();
    const batches = await events.next();
    const rest = Math.max(SHORTEST_MS, (performance.now() - began) * REST);
    for (const { event_ids, bytes } of batches) {
      if (ended.aborted) return;
      await output.reserve(bytes);
      const loaded = await ctx.call<EventText[]>("events.load_found", { tenant_id, event_ids });
      await recheck();
      await output.write(loaded.map(textOf).join(""));
    }
    output.release();
    await Promise.all([woken, pause(rest, undefined, { signal: ended }).catch(() => {})]);
  }
}

const textOf = ({ event_id, json }: EventText) => `event: event\nid: ${event_id}\ndata: ${json}\n\n`;

/** Resolves when events of the tenant arrive, the watch needs renewal, or the stream ends. */
async function arrived(arrivals: EventEmitter, tenant_id: string, ended: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(RENEW_MS)]);
  await once(arrivals, tenant_id, { signal }).catch(() => {});
}
