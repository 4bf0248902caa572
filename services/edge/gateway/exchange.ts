import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallingOptions, ServiceBroker } from "moleculer";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Release } from "../../../lib/queue/fair-queue.ts";
import type { Answer } from "./answer/respond.ts";
import type { Allowance } from "./limits/limits.ts";
import type { Target } from "./paths.ts";

/** A list that is too long to be done at once. */
export interface Pieces {
  /** The action's param that takes it. */
  name: string;
  /** JSON texts of lists, in order; at least one. */
  texts: string[];
}

/** One HTTP request on its way through the gateway. */
export interface Exchange extends Target {
  req: IncomingMessage;
  res: ServerResponse;
  ctx: RootCall;
  request_id: string;
  /** Null on public operations. */
  caller: Caller | null;
  /** What is left of the caller's rate limit; null where none is on. */
  allowance: Allowance | null;
  /** A body with references, once it was read (by-reference.ts). */
  body?: Record<string, unknown>;
  /** Gives back the memory that was reserved for the body (body-memory.ts). */
  releaseBody?: Release;
  /** A body whose list is done in pieces, once it was read (pieces.ts). */
  pieces?: Pieces;
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
 * What an outside request calls actions with: the first context of the call is the action's own, as a context for
 * the request itself would only be copied from. `meta` is shared with it, so what the action sets there is seen here.
 */
export class RootCall {
  readonly meta: Meta;
  readonly #broker: ServiceBroker;

  constructor(broker: ServiceBroker, meta: Meta) {
    this.#broker = broker;
    this.meta = meta;
  }

  get requestID(): string {
    return this.meta.request_id;
  }

  call<T = unknown>(action: string, params: unknown, options?: CallingOptions): Promise<T> {
    const { meta } = this;
    // Not tracked: the gateway itself waits for its requests before the services stop.
    const own: CallingOptions = { meta: meta as never, requestID: meta.request_id, tracking: false };
    return this.#broker.call(action, params, options ? { ...own, ...options } : own) as Promise<T>;
  }
}
