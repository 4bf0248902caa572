import { setTimeout as pause } from "node:timers/promises";
import { type Caller, callerId, type OfTenant } from "../../../../lib/access/caller.ts";
import { pagesBySize } from "../../../../lib/broker/between-nodes.ts";
import { oncePerTick } from "../../../../lib/once-per.ts";
import { WATCHED_MS } from "../../../sense/events/arrivals.ts";
import type { EventText, FoundEvent } from "../../../sense/events/list.ts";
import type { Output } from "../answer/output.ts";
import type { GatewayContext } from "../gateway-context.ts";
import type { HttpExchange, Link, RootCall, StreamHandler } from "../http-exchange.ts";
import { beginEvents, emitted, endOf } from "./sse.ts";

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
    const { req, res } = exchange;
    const events = new NewEvents(exchange, params);
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

/** Streams of a tenant share the text of its events, those of a caller also what they find. */
const load = oncePerTick<Buffer>();
const find = oncePerTick<Page>();

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
    const woken = emitted(arrivals, tenant_id, ended, RENEW_MS);
    await output.reserve(LOOK_BYTES);
    const began = performance.now();
    const batches = await events.next();
    const rest = Math.max(SHORTEST_MS, (performance.now() - began) * REST);
    for (const { event_ids, bytes } of batches) {
      if (ended.aborted) return;
      await output.reserve(bytes);
      const text = await load(`${tenant_id} ${event_ids}`, async () => {
        const loaded = await ctx.call<EventText[]>("events.load_found", { tenant_id, event_ids });
        return Buffer.from(loaded.map(textOf).join(""));
      });
      await recheck();
      await output.write(text);
    }
    output.release();
    await Promise.all([woken, pause(rest, undefined, { signal: ended }).catch(() => {})]);
  }
}

const textOf = ({ event_id, json }: EventText) => `event: event\nid: ${event_id}\ndata: ${json}\n\n`;

interface Page {
  found: FoundEvent[];
  next_cursor: string | null;
}

const PAGE = 200;
/** Of more events at a time only the latest are found. */
const MOST_PAGES = 10;
/** Bytes of events that are loaded together; a single one may have more. */
const BATCH_BYTES = 262_144;
/** Bytes of an event besides its content, as it is found or shown. */
const FRAME_BYTES = 1024;
/** An event may become visible after one accepted later, because of matching or another node's clock. */
const OVERLAP_MS = 10_000;

/** Events to load together. */
interface Batch {
  event_ids: string[];
  /** Of their texts. */
  bytes: number;
}

/** Finds what the caller's list of events gained since the last look, each event once. */
class NewEvents {
  readonly #ctx: Pick<RootCall, "call">;
  readonly #caller: Caller;
  readonly #wanted: { type?: string; limit: number };
  readonly #seen = new Map<string, string>();
  /** Begins with the events of this time, by the service's clock. */
  readonly #from: string | undefined;
  #latest = "";
  /** Whether everything from the given time on is still to be found. */
  #isFirst: boolean;

  constructor({ ctx, caller }: HttpExchange, { type, since }: { type?: string; since?: string }) {
    this.#ctx = ctx;
    this.#caller = caller as Caller;
    this.#wanted = { ...(type !== undefined && { type }), limit: PAGE };
    this.#from = since === undefined ? undefined : new Date(since).toISOString();
    this.#isFirst = since !== undefined;
  }

  /** Takes note of what is there; of what came at `since` or later only if it was not given. Returns the time after. */
  async start(): Promise<string> {
    const { found } = await this.#page({});
    this.#latest = found[0]?.accepted_at ?? "";
    if (this.#from === undefined) for (const event of found) this.#note(event);
    return this.#latest ? new Date(Date.parse(this.#latest) + 1).toISOString() : new Date().toISOString();
  }

  /** Finds the new events, oldest first. */
  async next(): Promise<Iterable<Batch>> {
    const overlap = before(this.#latest) ?? "";
    const since = this.#isFirst || overlap < (this.#from ?? "") ? this.#from : overlap;
    const events = await this.#list(since);
    this.#isFirst = false;
    const fresh = events.filter(({ _id }) => !this.#seen.has(_id)).reverse();
    for (const event of events) this.#note(event);
    this.#latest = events[0]?.accepted_at ?? this.#latest;
    const oldest = before(this.#latest) ?? "";
    for (const [id, at] of this.#seen) if (at < oldest) this.#seen.delete(id);
    return batchesOf(fresh);
  }

  async #list(since: string | undefined): Promise<FoundEvent[]> {
    const events: FoundEvent[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await this.#page({ ...(since && { since }), ...(cursor && { cursor }) });
      events.push(...page.found);
      // All new ones, and one page of those that may have become visible late.
      const isOlder = (page.found.at(-1)?.accepted_at ?? "") < this.#latest;
      if (page.next_cursor === null || (!this.#isFirst && isOlder && events.length >= PAGE)) return events;
      cursor = page.next_cursor;
    }
    return events;
  }

  #page(more: { since?: string; cursor?: string }): Promise<Page> {
    const query = { ...this.#wanted, ...more };
    const { tenant_id, scopes } = this.#caller;
    const key = JSON.stringify([tenant_id, callerId(this.#caller), scopes, query]);
    return find(key, () => this.#ctx.call<Page>("events.find", query));
  }

  #note({ _id, accepted_at }: FoundEvent): void {
    this.#seen.set(_id, accepted_at);
  }
}

function* batchesOf(events: FoundEvent[]): Generator<Batch> {
  const bytesOf = ({ size }: FoundEvent) => size + FRAME_BYTES;
  for (const batch of pagesBySize(events, bytesOf, BATCH_BYTES)) {
    const bytes = batch.reduce((sum, event) => sum + bytesOf(event), 0);
    yield { event_ids: batch.map(({ _id }) => _id), bytes };
  }
}

function before(time: string): string | undefined {
  return time ? new Date(Date.parse(time) - OVERLAP_MS).toISOString() : undefined;
}
