import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallingOptions, ServiceBroker } from "moleculer";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { Release } from "../../../lib/queue/fair-queue.ts";
import type { Answer } from "./answer/respond.ts";
import type { Allowance } from "./limits/limits.ts";

/** The operation and parameters of a request. */
export interface Target {
  op: Operation;
  /** Values of the path's placeholders. */
  path: Record<string, string>;
  /** The query string as text values; an array for repeated names. */
  query: Record<string, unknown>;
}

/** A list that is too long to be processed at once. */
export interface Pieces {
  /** The action's param for the list. */
  name: string;
  /** JSON texts of lists, in order; at least one. */
  texts: string[];
}

/** A request before its operation is known. */
export interface Arrival {
  req: IncomingMessage;
  res: ServerResponse;
  request_id: string;
  /** Null on public operations. */
  caller: Caller | null;
  /** The rest of the caller's rate limit; null without one. */
  allowance: Allowance | null;
}

/** One HTTP request in the gateway. */
export interface Exchange extends Arrival, Target {
  ctx: ActionCaller;
  /** The body with references, once read (by-reference.ts). */
  body?: Record<string, unknown>;
  /** Releases the memory reserved for the body (body-memory.ts). */
  releaseBody?: Release;
  /** The chunks of a body's list, once read (pieces.ts). */
  pieces?: Pieces;
}

/** A request as moleculer-web passes it on, with the gateway's state. */
export interface GatewayRequest extends IncomingMessage {
  $exchange: Arrival & Partial<Exchange>;
  /** The unchanged URL: moleculer-web removes the path of the route from `url`. */
  originalUrl: string;
}

/** Calls actions for a request. */
export interface ActionCaller {
  readonly meta: Meta;
  call<T = unknown>(action: string, params: unknown, options?: CallingOptions): Promise<T>;
}

/** An operation that writes its own answer to an open connection (SSE). */
export type StreamHandler = (
  exchange: Exchange,
  params: Record<string, unknown>,
  link: Link,
  perform: Perform,
) => Promise<void>;

/** The signals by which this side ends a stream. */
export interface Link {
  /** Aborts when the node is about to stop. */
  ending: AbortSignal;
  /** Rejects once the caller's token is refused. */
  recheck(): Promise<unknown>;
}

/** A request within another one, such as the operation of an MCP tool. */
export interface Asked extends Target {
  headers: Record<string, string>;
  /** Path and query, which an Idempotency-Key is bound to, with the body. */
  url: string;
  body?: string;
}

/**
 * Executes an inner request for the caller of an outer one, as if it had arrived on its own. Never throws: a fault is
 * an answer.
 */
export type Perform = (asked: Asked) => Promise<Answer>;

/**
 * Calls actions for a request with the request's own `meta`, where an action's changes to it are visible. `Context.call`
 * copies `meta` to each call and merges it back, for 2 µs (docs/decisions/0010-edge.md).
 */
export class RootCall implements ActionCaller {
  readonly meta: Meta;
  readonly #broker: ServiceBroker;

  constructor(broker: ServiceBroker, meta: Meta) {
    this.#broker = broker;
    this.meta = meta;
  }

  call<T = unknown>(action: string, params: unknown, options?: CallingOptions): Promise<T> {
    const { meta } = this;
    // Not tracked: the gateway itself waits for its requests before the services stop.
    const own: CallingOptions = { meta: meta as never, requestID: meta.request_id, tracking: false };
    return this.#broker.call(action, params, options ? { ...own, ...options } : own) as Promise<T>;
  }
}
