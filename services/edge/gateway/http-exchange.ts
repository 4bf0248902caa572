import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallingOptions } from "moleculer";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { Fault } from "../../../lib/contract/faults.ts";
import type { Release } from "../../../lib/queue/fair-queue.ts";
import type { Taken } from "../../../lib/queue/sliding-window.ts";
import type { RequestSpan } from "../../../observability/tracing.ts";
import { BlobWrite } from "../../../storage/blobs/blobs.ts";
import type { Output } from "./answer/output.ts";

/** One HTTP request in the gateway, from its arrival to its answer. */
export interface HttpExchange {
  req: IncomingMessage;
  res: ServerResponse;
  request_id: string;
  /** On the monotonic clock, in milliseconds. */
  started: number;
  span?: RequestSpan;
  /** Null on public operations. */
  caller: Caller | null;
  /** The rest of the caller's rate limit; null without one. */
  allowance: Allowance | null;
  op: Operation;
  /** Values of the path's placeholders. */
  path: Record<string, string>;
  /** The query string as text values; an array for repeated names. */
  query: Record<string, unknown>;
  ctx: RootCall;
  /** The blobs that it puts: see `blobWriteOf`. */
  write?: BlobWrite;
  /** The body with references, once read (body/by-reference.ts). */
  body?: Record<string, unknown>;
  /** Releases the memory reserved for the body (body/body.ts). */
  releaseBody?: Release;
}

/** An exchange whose operation may not be known yet. */
export type EarlyHttpExchange = Partial<HttpExchange> &
  Pick<HttpExchange, "req" | "res" | "request_id" | "started" | "caller" | "allowance">;

/** A request as moleculer-web passes it on, with its exchange. */
export interface GatewayRequest extends IncomingMessage {
  $exchange: EarlyHttpExchange;
  /** The unchanged URL: moleculer-web removes the path of the route from `url`. */
  originalUrl: string;
}

/** The remaining allowance under a request's tightest limit. */
export type Allowance = Omit<Taken, "giveBack">;

/** An answer before it is sent: the form that idempotency stores and replays. */
export interface Answer {
  status: number;
  type: string;
  /** JSON text, other text or bytes; null sends no body. */
  body: string | Buffer | null;
  headers?: Record<string, string | string[]>;
  /** The part of the body in a blob. */
  insert?: Insert;
  /** Reads again what was replaced, and its blob deleted, before the blob was opened. */
  again?: () => Promise<Answer>;
}

/** A blob whose text is inserted into an answer. */
export interface Insert {
  hash: string;
  size: number;
  /** Position, in characters of the body. */
  at: number;
  /** Whether it is within a JSON string. */
  escaped: boolean;
  /** Of a blob that no row references: the write that ends once it is sent. */
  write?: string;
}

/** Returns the write that keeps the blobs of a request until it is answered. */
export function blobWriteOf(exchange: HttpExchange, tenant_id: string): BlobWrite {
  exchange.write ??= new BlobWrite(tenant_id);
  return exchange.write;
}

/** An operation that writes its own answer to an open connection (SSE). Nothing but `output` writes its body. */
export type StreamHandler = (
  exchange: HttpExchange,
  params: Record<string, unknown>,
  link: Link,
  output: Output,
) => Promise<void>;

/** Called once the caller of an open request is refused. */
export type Refuse = (fault: Fault) => void;

/** The signals by which this side ends a stream. */
export interface Link {
  /** Aborts when the node is about to stop. */
  ending: AbortSignal;
  /** Calls `refuse` once the caller is refused; returns a function that ends this. */
  watch(refuse: Refuse): () => void;
  /** Call it before anything is delivered after a wait. @throws Fault if the caller is refused or cannot be verified */
  recheck(): unknown;
}

/** A request within another one, such as the operation of an MCP tool. */
export interface NestedRequest extends Pick<HttpExchange, "op" | "path" | "query"> {
  headers: Record<string, string>;
  /** Path and query, which an Idempotency-Key is bound to, with the body. */
  url: string;
  body?: string;
}

/** Executes a nested request as if it had arrived on its own. Never throws: a fault is an answer. */
export type Perform = (outer: HttpExchange, request: NestedRequest) => Promise<Answer>;

/** The gateway, as a protocol's service uses it. */
export interface Host {
  perform: Perform;
  /** Emits each change under its tenant's id. */
  changes: EventEmitter;
  /** Emits the id of a tenant with new events, while it is watched. */
  arrivals: EventEmitter;
}

/** A service that answers requests on the gateway's node, because an open connection cannot travel over NATS. */
export interface StreamService {
  serve(host: Host, ...request: Parameters<StreamHandler>): Promise<void>;
}

/** Calls actions for a request with the request's own `meta`, where an action's changes to it are visible. */
export interface RootCall {
  readonly meta: Meta;
  call<T = unknown>(action: string, params: unknown, options?: CallingOptions): Promise<T>;
}
