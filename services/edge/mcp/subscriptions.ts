import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import {
  type McpHandlerRequestOptions,
  type McpHttpHandler,
  ProtocolError,
  ResourceNotFoundError,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import type { LiveChange } from "../../../middlewares/live-changes.ts";
import { WATCHED_MS } from "../../sense/events/arrivals.ts";
import type { Output } from "../gateway/answer/output.ts";
import type { Host, HttpExchange, Link } from "../gateway/http-exchange.ts";
import { emitted, endingOf } from "../gateway/streams/sse.ts";
import { find, INBOX, LISTED } from "./resources.ts";
import { readResource } from "./server.ts";
import { invalid, type Session } from "./session.ts";
import { sendResponse, webRequest } from "./streamable-http.ts";

/** Each is read again when it may have changed. */
const MOST_URIS = 20;
/** Between two looks, in milliseconds: changes in between are found together. */
const REST_MS = 1000;
/** Looks at the inbox although nothing arrived: retries become due by themselves. */
const INBOX_MS = WATCHED_MS / 3;
const LISTED_RESOURCES = new Set(LISTED.map(({ action }) => action.split(".")[0]?.replace(/s$/, "")));

/** Instead of a digest. */
const GONE = "gone";
/** Instead of the URI of a resource. */
const LIST = "list";

/** Notifications that a `subscriptions/listen` requests (MCP 2026-07-28: Subscriptions). */
interface Wanted {
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
}

interface Params {
  notifications?: Wanted;
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
  readonly #notes = new EventEmitter();

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
    for (const uri of this.#uris) {
      const digest = await this.#digest(uri);
      if (digest === GONE) throw new ResourceNotFoundError(uri);
      this.#known.set(uri, digest);
    }
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
        if (this.#stale.size === 0)
          await emitted(this.#notes, "stale", ended, hasInbox ? INBOX_MS : undefined);
        if (hasInbox) this.#stale.add(INBOX);
        await pause(REST_MS, undefined, { signal: ended }).catch(() => {});
        if (!ended.aborted) yield await this.#look();
      }
    } finally {
      changes.off(tenant_id, heed);
      arrivals.off(tenant_id, arrived);
    }
  }

  #heed({ resource, ids }: LiveChange): void {
    for (const uri of this.#known.keys()) {
      const target = find(this.#session.offer.kinds, uri);
      if (target?.kind.template.name !== resource) continue;
      if (ids.length === 0 || ids.includes(target.id)) this.#note(uri);
    }
    if (this.#isListWanted && LISTED_RESOURCES.has(resource)) this.#note(LIST);
  }

  #note(uri: string): void {
    this.#stale.add(uri);
    this.#notes.emit("stale");
  }

  async #look(): Promise<ServerEvent[]> {
    const events: ServerEvent[] = this.#stale.delete(LIST) ? [{ kind: "resources_list_changed" }] : [];
    const stale = [...this.#stale];
    this.#stale.clear();
    for (const uri of stale) {
      const digest = await this.#digest(uri).catch(() => null);
      // A limit is reached, or a service does not answer.
      if (digest === null) this.#note(uri);
      else if (digest !== this.#known.get(uri)) {
        events.push({ kind: "resource_updated", uri });
        this.#known.set(uri, digest);
      }
    }
    return events;
  }

  async #digest(uri: string): Promise<string> {
    try {
      const { contents } = await readResource(this.#session, uri);
      return createHash("sha256").update(JSON.stringify(contents)).digest("base64url");
    } catch (err) {
      if (err instanceof ResourceNotFoundError) return GONE;
      throw err;
    }
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
    await subscription.open();
  } catch (err) {
    if (!(err instanceof ProtocolError)) throw err;
    const { id } = options.parsedBody as { id?: unknown };
    const { code, message, data } = err;
    return sendResponse(res, output, Response.json({ jsonrpc: "2.0", id, error: { code, message, data } }));
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
