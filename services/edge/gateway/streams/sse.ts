import { randomBytes } from "node:crypto";
import { type EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import type { ServiceBroker } from "moleculer";
import type { AgentCaller, Caller } from "../../../../lib/access/caller.ts";
import { deliveryJson } from "../../../sense/deliveries/claim.ts";
import { STREAM_WAIT_SECONDS } from "../../../sense/deliveries/deliveries.contract.ts";
import { streamLease } from "../../../sense/deliveries/lease.ts";
import type { Received } from "../../../sense/deliveries/receive.ts";
import type { Output } from "../answer/output.ts";
import type { HttpExchange, Link, StreamHandler } from "../http-exchange.ts";

/** Deliveries per claim: a slow reader should not hold deliveries that another stream could take. */
const PIECE = 100;
/** Bytes per claim whose memory is not reserved: a claim waits too long to reserve for it. */
const PIECE_BYTES = 131_072;
const COMMENT_MS = 15_000;
const CANCEL_MS = 2000;
/** Proxies that compress would hold small events back. */
export const UNTOUCHED = "no-store, no-transform";
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `GET /delivery/stream`: an agent's deliveries as server-sent events, until either side ends it. */
export function streamDeliveries(broker: ServiceBroker): StreamHandler {
  return async (exchange, params, link, output) => {
    const { req, res, caller } = exchange;
    beginEvents(res);
    if (req.method === "HEAD") return output.end();
    const { tenant_id, agent_id } = caller as AgentCaller;
    const stream = { tenant_id, agent_id, lease: randomBytes(9).toString("base64url") };
    const ended = endOf(exchange, link, output);
    // Cancels a waiting claim; repeated, because the claim may still be on its way, and the event may be lost.
    const closed = () => broker.broadcast("deliveries.stream_closed", stream);
    let again: NodeJS.Timeout | undefined;
    const cancel = () => {
      again = setInterval(closed, CANCEL_MS);
      closed();
    };
    ended.addEventListener("abort", cancel, { once: true });
    try {
      await output.write("retry: 1000\n\n");
      await pump(
        exchange,
        { ...stream, max_in_flight: params.max_in_flight as number | undefined },
        { ...link, ended, output },
      );
    } finally {
      ended.removeEventListener("abort", cancel);
      clearInterval(again);
      await closed();
      output.end();
    }
  };
}

/** Sets the headers of a stream of server-sent events. */
export function beginEvents(res: ServerResponse): void {
  res.setHeader("Content-Type", "text/event-stream; charset=utf-8");
  res.setHeader("Cache-Control", UNTOUCHED);
  // Proxies such as nginx would buffer events.
  res.setHeader("X-Accel-Buffering", "no");
  // Otherwise a stopping node would wait for the connection to be reused.
  res.setHeader("Connection", "close");
}

interface Stream {
  tenant_id: string;
  agent_id: string;
  lease: string;
  max_in_flight: number | undefined;
}

async function pump(
  { ctx }: HttpExchange,
  stream: Stream,
  { recheck, ended, output }: Pick<Link, "recheck"> & { ended: AbortSignal; output: Output },
): Promise<void> {
  const { max_in_flight = 100, ...own } = stream;
  const wish = { ...own, max_in_flight, limit: PIECE };
  const waiting = { ...wish, wait_ms: STREAM_WAIT_SECONDS * 1000, max_bytes: PIECE_BYTES };
  for (let size = 0; !ended.aborted; ) {
    if (size) await output.reserve(size);
    const claim = size ? { ...wish, wait_ms: 0, max_bytes: size } : waiting;
    const { deliveries, larger, stopping } = await ctx.call<Received>("deliveries.claim", claim);
    for (const delivery of deliveries) {
      if (ended.aborted) return;
      await recheck();
      const data = deliveryJson(delivery, streamLease(delivery));
      await output.write(`event: delivery\nid: ${delivery.id}\ndata: ${data}\n\n`);
    }
    if (stopping) return;
    size = larger ?? 0;
  }
}

/** As `endingOf`, for a stream of server-sent events that begins now: until then it gets comments. */
export function endOf(exchange: HttpExchange, link: Link, output: Output): AbortSignal {
  const ended = endingOf(exchange, link);
  sendComments(output, ended);
  return ended;
}

/** Sends a comment every 15 s, so that nobody on the way takes the connection for dead. */
export function sendComments(output: Output, ended: AbortSignal): void {
  if (ended.aborted) return;
  const comment = setInterval(() => output.comment(), COMMENT_MS);
  ended.addEventListener("abort", () => clearInterval(comment), { once: true });
}

/**
 * Returns a signal that aborts when the connection closes, the node stops, the token expires or its caller is refused.
 */
export function endingOf({ res, caller }: HttpExchange, { ending, watch }: Link): AbortSignal {
  const end = new AbortController();
  const stop = () => end.abort();
  const { expires_at } = caller as Caller;
  const expiry = setTimeout(stop, Math.min(expires_at - Date.now(), LONGEST_TIMER_MS));
  const leave = watch(stop);
  res.once("close", stop);
  ending.addEventListener("abort", stop, { once: true });
  end.signal.addEventListener("abort", () => {
    clearTimeout(expiry);
    leave();
    ending.removeEventListener("abort", stop);
  });
  // Covers the normal end of the stream too, because the response closes then.
  if (ending.aborted || res.destroyed) stop();
  return end.signal;
}

/** Resolves when an event is emitted, when the stream ends, or after so many milliseconds, if given. */
export async function emitted(
  emitter: EventEmitter,
  name: string,
  ended: AbortSignal,
  ms?: number,
): Promise<void> {
  const signal = ms === undefined ? ended : AbortSignal.any([ended, AbortSignal.timeout(ms)]);
  await once(emitter, name, { signal }).catch(() => {});
}
