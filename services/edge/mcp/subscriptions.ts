import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  type McpHandlerRequestOptions,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import type { LiveChange } from "../../../middlewares/live-changes.ts";
import { WATCHED_MS } from "../../sense/events/arrivals.ts";
import type { Output } from "../gateway/answer/output.ts";
import type { Host, HttpExchange, Link } from "../gateway/http-exchange.ts";
import { endingOf } from "../gateway/streams/sse.ts";
import { find, INBOX, LISTED } from "./resources.ts";
import { readResource } from "./server.ts";
import { invalid, type Session } from "./session.ts";
import { sendResponse, webRequest } from "./streamable-http.ts";
import { requireTasks } from "./tasks.ts";

/** Each is read again when it may have changed. */
const MOST_URIS = 20;
/** Between two looks, in milliseconds: changes in between are found together. */
const REST_MS = 1000;
/** Looks at the inbox although nothing arrived: retries become due by themselves. */
const INBOX_MS = WATCHED_MS / 3;
const LISTED_RESOURCES = new Set(LISTED.map(({ action }) => action.split(".")[0]?.replace(/s$/, "")));

/** The longest time of a timer. */
const LONGEST_MS = 2 ** 31 - 1;
/** Instead of a digest. */
const GONE = "gone";

/** What a `subscriptions/listen` asks for (MCP 2026-07-28: Subscriptions). */
interface Wanted {
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
  /** Tasks, whose changes are not reported: their clients look. */
  taskIds?: string[];
}

interface Params {
  notifications?: Wanted;
  _meta?: object;
}

interface Sources extends Pick<Host, "changes" | "arrivals"> {
  /** Has the tenant's new events announced for `WATCHED_MS`. */
  watch(): void;
}

/** Returns what the message subscribes to; null if it is no `subscriptions/listen`, or a malformed one. */
export function wantedBy(message: unknown): Wanted | null {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Params };
  return method === "subscriptions/listen" ? (params?.notifications ?? null) : null;
}

/** Finds changes of resources that the caller may read. */
export class Subscription {
  readonly #session: Session;
  readonly #sources: Sources;
  readonly #isListWanted: boolean;
  readonly #uris: string[];
  /** Digests of the resources as they were last read, by URI. */
  readonly #known = new Map<string, string>();
  readonly #stale = new Set<string>();
  #isListStale = false;
  #wake = Promise.withResolvers<void>();

  constructor(
    session: Session,
    { resourcesListChanged, resourceSubscriptions = [] }: Wanted,
    sources: Sources,
  ) {
    this.#session = session;
    this.#sources = sources;
    this.#isListWanted = resourcesListChanged === true;
    this.#uris = [...new Set(resourceSubscriptions)];
  }

  /** Reads the resources. @throws ProtocolError if there are too many, or one cannot be read */
  async open(): Promise<void> {
    if (this.#uris.length > MOST_URIS)
      throw invalid(`resourceSubscriptions: expected at most ${MOST_URIS} URIs, got ${this.#uris.length}.`);
    for (const uri of this.#uris) this.#known.set(uri, await this.#digest(uri));
  }

  /** Yields the changes that it finds with one look, until `ended`. */
  async *changes(ended: AbortSignal): AsyncGenerator<ServerEvent[], void> {
    const { tenant_id } = this.#session.caller;
    const { changes, arrivals, watch } = this.#sources;
    const heed = (change: LiveChange) => this.#heed(change);
    const arrived = () => this.#note(INBOX);
    const hasInbox = this.#known.has(INBOX);
    changes.on(tenant_id, heed);
    if (hasInbox) arrivals.on(tenant_id, arrived);
    try {
      while (!ended.aborted) {
        if (hasInbox) watch();
        await this.#woken(ended, hasInbox ? INBOX_MS : LONGEST_MS);
        if (hasInbox) this.#stale.add(INBOX);
        await pause(REST_MS, undefined, { signal: ended }).catch(() => {});
        if (!ended.aborted) yield await this.#look();
      }
    } finally {
      changes.off(tenant_id, heed);
      arrivals.off(tenant_id, arrived);
    }
  }

  async #woken(ended: AbortSignal, withinMs: number): Promise<void> {
    const woken = new AbortController();
    const signal = AbortSignal.any([ended, woken.signal]);
    const late = pause(withinMs, undefined, { signal }).catch(() => {});
    await Promise.race([this.#wake.promise, late]);
    woken.abort();
    this.#wake = Promise.withResolvers();
  }

  #heed({ resource, ids }: LiveChange): void {
    for (const uri of this.#known.keys()) {
      const found = find(this.#session.offer.kinds, uri);
      if (found?.kind.template.name !== resource) continue;
      if (ids.length === 0 || ids.includes(found.id)) this.#note(uri);
    }
    if (!this.#isListWanted || !LISTED_RESOURCES.has(resource)) return;
    this.#isListStale = true;
    this.#wake.resolve();
  }

  #note(uri: string): void {
    this.#stale.add(uri);
    this.#wake.resolve();
  }

  async #look(): Promise<ServerEvent[]> {
    const events: ServerEvent[] = this.#isListStale ? [{ kind: "resources_list_changed" }] : [];
    this.#isListStale = false;
    const stale = [...this.#stale];
    this.#stale.clear();
    for (const uri of stale) {
      try {
        const digest = await this.#digest(uri);
        if (digest !== this.#known.get(uri)) events.push({ kind: "resource_updated", uri });
        this.#known.set(uri, digest);
      } catch (err) {
        // A limit is reached, or a service does not answer.
        if (!(err instanceof ResourceNotFoundError)) this.#note(uri);
        else if (this.#known.get(uri) !== GONE) events.push({ kind: "resource_updated", uri });
        if (err instanceof ResourceNotFoundError) this.#known.set(uri, GONE);
      }
    }
    return events;
  }

  async #digest(uri: string): Promise<string> {
    const { contents } = await readResource(this.#session, uri);
    return createHash("sha256").update(JSON.stringify(contents)).digest("base64url");
  }
}

interface Connection {
  exchange: HttpExchange;
  link: Link;
  output: Output;
}

/** Answers `subscriptions/listen` until either side ends it. @param handler of this connection alone */
export async function listen(
  subscription: Subscription,
  handler: McpHttpHandler,
  options: McpHandlerRequestOptions,
  { exchange, link, output }: Connection,
): Promise<void> {
  const { req, res } = exchange;
  try {
    const { notifications, _meta } = (options.parsedBody as { params: Params }).params;
    if (notifications?.taskIds) requireTasks(_meta);
    await subscription.open();
  } catch (err) {
    if (!(err instanceof ProtocolError)) throw err;
    const { id } = options.parsedBody as { id?: unknown };
    const { code, message, data } = err;
    const status = code === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200;
    const refusal = { jsonrpc: "2.0", id, error: { code, message, data } };
    return sendResponse(res, output, Response.json(refusal, { status }));
  }
  const ended = endingOf(exchange, link);
  const end = () => void handler.close();
  ended.addEventListener("abort", end, { once: true });
  const response = await handler.fetch(webRequest(req, res), options);
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    // Otherwise a stopping node would wait for the connection to be reused.
    response.headers.set("Connection", "close");
    report(subscription, handler, { ended, link, output }).catch(end);
  }
  await sendResponse(res, output, response);
}

async function report(
  subscription: Subscription,
  { bus }: McpHttpHandler,
  { ended, link, output }: Omit<Connection, "exchange"> & { ended: AbortSignal },
): Promise<void> {
  for await (const events of subscription.changes(ended)) {
    output.release();
    await link.recheck();
    for (const event of events) bus.publish(event);
  }
}
