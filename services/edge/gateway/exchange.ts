import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallingOptions, ServiceBroker } from "moleculer";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { Release } from "../../../lib/queue/fair-queue.ts";
import type { Answer } from "./answer/respond.ts";
import type { Allowance } from "./limits/limits.ts";

/** What a request asks for. */
export interface Target {
  op: Operation;
  /** Values of the path's placeholders. */
  path: Record<string, string>;
  /** The query string as text values, an array where a name is repeated. */
  query: Record<string, unknown>;
}

/** A list that is too long to be done at once. */
export interface Pieces {
  /** The action's param that takes it. */
  name: string;
  /** JSON texts of lists, in order; at least one. */
  texts: string[];
}

/** A request of which only the connection is known. */
export interface Arrival {
  req: IncomingMessage;
  res: ServerResponse;
  request_id: string;
  /** Null on public operations. */
  caller: Caller | null;
  /** What is left of the caller's rate limit; null where none is on. */
  allowance: Allowance | null;
}

/** One HTTP request on its way through the gateway. */
export interface Exchange extends Arrival, Target {
  ctx: ActionCaller;
  /** A body with references, once it was read (by-reference.ts). */
  body?: Record<string, unknown>;
  /** Gives back the memory that was reserved for the body (body-memory.ts). */
  releaseBody?: Release;
  /** A body whose list is done in pieces, once it was read (pieces.ts). */
  pieces?: Pieces;
}

/** A request as moleculer-web passes it on, with what is known of it so far. */
export interface GatewayRequest extends IncomingMessage {
  $exchange: Arrival & Partial<Exchange>;
  /** As it came: moleculer-web takes the path of the route from `url`. */
  originalUrl: string;
}

/** What calls actions for a request: Moleculer's context of it, or a RootCall. */
export interface ActionCaller {
  readonly meta: Meta;
  call<T = unknown>(action: string, params: unknown, options?: CallingOptions): Promise<T>;
}

/** An operation that writes its own answer over a connection that stays open (SSE). */
export type StreamHandler = (
  exchange: Exchange,
  params: Record<string, unknown>,
  link: Link,
  perform: Perform,
) => Promise<void>;

/** What ends a stream from this side. */
export interface Link {
  /** Aborts when the node is about to stop. */
  ending: AbortSignal;
  /** Rejects once the caller's token is refused. */
  recheck(): Promise<unknown>;
}

/** A request that is made of another one, such as the operation that an MCP tool stands for. */
export interface Asked extends Target {
  headers: Record<string, string>;
  /** Path and query: what an Idempotency-Key is bound to, with the body. */
  url: string;
  body?: string;
}

/** Carries out what is asked for the caller of a request, as if it had come by itself. Never throws: a fault is an answer. */
export type Perform = (asked: Asked) => Promise<Answer>;

/**
 * What a request within a request calls actions with: `meta` is its own, and what an action sets there is seen in it.
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
