import type { EventEmitter } from "node:events";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Caller } from "../../../../lib/access/caller.ts";
import { type OfTenant, WATCHED_MS } from "../../../sense/events/arrivals.ts";
import type { Edge } from "../edge.ts";
import type { Exchange, Link, StreamHandler } from "../exchange.ts";
import { NewEvents } from "./new-events.ts";
import { beginEvents, endOf, write } from "./sse.ts";

/** Two looks per watch: a lost `events.watched` or `events.arrived` delays events by at most this. */
const RENEW_MS = WATCHED_MS / 2;
/** A busy tenant's events are sent together, and a stream uses at most a fifth of the store's time for its looks. */
const SHORTEST_MS = 100;
const REST = 4;

/** `GET /events/stream`: new events that the caller may read, until either side ends it. */
export function streamEvents(edge: Edge): StreamHandler {
  return async (exchange, params, link) => {
    const { req, res, ctx } = exchange;
    const events = new NewEvents(ctx, params);
    // Refuses a caller without a scope, and a malformed glob, before the answer begins.
    const at = await events.start();
    beginEvents(res);
    if (req.method === "HEAD") return void res.end();
    const ended = endOf(exchange, link);
    try {
      await write(res, `retry: 1000\nevent: ready\ndata: ${JSON.stringify({ at })}\n\n`, ended);
      await pump(edge, exchange, events, link, ended);
    } finally {
      res.end();
    }
  };
}

async function pump(
  { broker, arrivals }: Edge,
  { res, caller }: Exchange,
  events: NewEvents,
  { recheck }: Link,
  ended: AbortSignal,
): Promise<void> {
  const { tenant_id } = caller as Caller;
  while (!ended.aborted) {
    // Listen before looking, so that nothing arrives unnoticed in between.
    void broker.broadcast("events.watched", { tenant_id } satisfies OfTenant);
    const woken = arrived(arrivals, tenant_id, ended);
    const began = performance.now();
    const found = await events.next();
    const rest = Math.max(SHORTEST_MS, (performance.now() - began) * REST);
    if (found.length) await recheck();
    for (const event of found) {
      if (ended.aborted) return;
      await write(res, `event: event\nid: ${event.event_id}\ndata: ${JSON.stringify(event)}\n\n`, ended);
    }
    await Promise.all([woken, pause(rest, undefined, { signal: ended }).catch(() => {})]);
  }
}

/** Resolves when events of the tenant arrive, the watch needs renewal, or the stream ends. */
async function arrived(arrivals: EventEmitter, tenant_id: string, ended: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(RENEW_MS)]);
  await once(arrivals, tenant_id, { signal }).catch(() => {});
}
