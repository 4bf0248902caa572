import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallingOptions, Context, ServiceBroker } from "moleculer";
import ApiGateway from "moleculer-web";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { type Fault, unauthenticated } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { requestShare } from "../../../lib/queue/fair-queue.ts";
import { RateWindows } from "../../platform/admission/rate-windows.ts";
import { tallyUse } from "../../platform/usage/tally.ts";
import type { Runtime } from "../../runtime.ts";
import { authorizationOf, type CallerCache, requireAccess, requireOwnPage } from "./access/access.ts";
import type { CredentialSource } from "./access/challenge.ts";
import { isOAuthRequest, oauthRefusal } from "./access/oauth.ts";
import { BlobBroken, sendFromBlob } from "./answer/from-blob.ts";
import { Output, SMALL_BYTES } from "./answer/output.ts";
import { type Envelope, errorAnswer, send, sendLong, sizeOf, toFault } from "./answer/respond.ts";
import { discardBody, maxBodyOf, reserveBody } from "./body/body.ts";
import { CallerLimits, CredentialGuard, Overload, overLimit, requireSpace, requireWrites } from "./guards.ts";
import type {
  Allowance,
  Answer,
  EarlyHttpExchange,
  GatewayRequest,
  HttpExchange,
  Link,
  RootCall,
  StreamHandler,
} from "./http-exchange.ts";
import { requireBearer, requireMonitor } from "./observe/monitor.ts";
import { RequestObserver } from "./observe/observe.ts";
import { clientAddress, givenRequestId, readQueryString, resourceMetadataOf, unknownPath } from "./router.ts";

/** Dependencies of a gateway besides its operations. */
export interface GatewayDeps {
  callers: Pick<CallerCache, "resolve" | "watch" | "forget" | "start" | "stop">;
  /** By the operation's action. */
  streams: Record<string, StreamHandler>;
}

/** State shared by a gateway's hooks: counters, limits and caches of this node. */
export class GatewayContext {
  readonly runtime: Runtime;
  readonly broker: ServiceBroker;
  readonly deps: GatewayDeps;
  readonly observer: RequestObserver;
  readonly limits: CallerLimits;
  readonly guard: CredentialGuard;
  readonly overload: Overload;
  /** Emits a tenant's changes under its id, for the streams of them here. */
  readonly changes = new EventEmitter().setMaxListeners(0);
  /** Emits the id of a tenant whose events are streamed here when it has new ones. */
  readonly arrivals = new EventEmitter().setMaxListeners(0);
  /** Returns the client's address. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly #ending = new AbortController();
  #leaving = false;

  constructor(runtime: Runtime, broker: ServiceBroker, depsOf: (edge: GatewayContext) => GatewayDeps) {
    const { config, windows, secrets } = runtime;
    this.runtime = runtime;
    this.broker = broker;
    this.observer = new RequestObserver(runtime);
    this.limits = new CallerLimits(config, new RateWindows(windows));
    this.guard = new CredentialGuard(config, secrets, windows);
    this.overload = new Overload(config.MAX_WRITES_IN_FLIGHT);
    this.addressOf = clientAddress(config.TRUST_PROXY);
    this.deps = depsOf(this);
  }

  start(): void {
    this.overload.start();
    this.deps.callers.start();
  }

  /** Closes connections after their answer from now on: a balancer that counts connections sends the next elsewhere. */
  leave(): void {
    this.#leaving = true;
  }

  /** Ends waiting requests and streams. */
  drain(): void {
    this.leave();
    this.#ending.abort();
  }

  stop(): void {
    this.overload.stop();
    this.deps.callers.stop();
  }

  /** Aborts when the node is about to stop. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Returns the signals that end a waiting request or a stream. */
  linkOf({ req }: HttpExchange): Link {
    const { callers } = this.deps;
    return {
      ending: this.ending,
      watch: (refuse) => callers.watch(req, refuse),
      recheck: () => callers.resolve(req),
    };
  }

  envelopeOf({ request_id, allowance }: EarlyHttpExchange): Envelope {
    return { request_id, allowance, last: this.#leaving };
  }

  /** Holds a slot among this node's writes or streams, and memory for the body, while a task runs. */
  async hold<T>(exchange: HttpExchange, task: () => Promise<T>): Promise<T> {
    const leave = this.overload.enter(exchange.op, requestShare(exchange));
    try {
      const reserved = exchange.op.method === "GET" ? null : reserveBody(exchange);
      if (reserved) exchange.releaseBody = await reserved;
      return await task();
    } finally {
      leave?.();
      exchange.releaseBody?.();
    }
  }

  send(exchange: EarlyHttpExchange, answer: Answer): void | Promise<void> {
    const { res, caller, ctx, op } = exchange;
    const envelope = this.envelopeOf(exchange);
    const { insert } = answer;
    // Refusals before the caller is known are short.
    if (!ctx || (!insert && sizeOf(answer.body) <= SMALL_BYTES)) return send(res, answer, envelope);
    const output = new Output(res, requestShare({ caller, ctx }), op?.action ?? "none");
    if (!insert || !caller) return sendLong(res, answer, envelope, output);
    return sendFromBlob(res, answer, envelope, output, caller.tenant_id, this.runtime.blobs);
  }

  /** Returns the fault for the caller and logs details hidden from it. */
  faultOf(err: unknown, request_id: string): Fault {
    const fault = toFault(err);
    if (fault.type === "internal_error") this.broker.logger.error({ err, request_id }, "request failed");
    return fault;
  }
}

const { NotFoundError } = ApiGateway.Errors;

/** `rootCallOptions`: sets up the context of a new request with its id and address. */
export function rootCallOptions(
  edge: GatewayContext,
  options: CallingOptions,
  req: GatewayRequest,
  res: ServerResponse,
) {
  const request_id = givenRequestId(req) ?? newId("req");
  // The caller is set once known; public operations do not read it.
  const meta = { request_id, ip: edge.addressOf(req) } as Meta;
  req.$exchange = { req, res, request_id, started: performance.now(), caller: null, allowance: null };
  edge.observer.begin(req.$exchange, meta);
  // CORS is not supported: OPTIONS is an ordinary method, while moleculer-web would look up the one in this header.
  if (req.method === "OPTIONS") req.headers["access-control-request-method"] = "OPTIONS";
  options.meta = meta as never;
  // If set, moleculer-web adds its own header; `beforeCall` sets it on the context.
  options.requestID = "";
  // Not tracked: the server itself waits for its requests before the services stop.
  options.tracking = false;
}

/**
 * `onBeforeCall`: the operation is known, its caller is not. Refuses first what this node cannot do now.
 * @throws Fault service_unavailable, or validation_failed for an invalid query
 */
export function beforeCall(edge: GatewayContext, ctx: Context, req: GatewayRequest, op: Operation): void {
  const exchange = req.$exchange as HttpExchange;
  const { $params, originalUrl } = req as GatewayRequest & { $params: { params: Record<string, string> } };
  req.url = originalUrl;
  exchange.ctx = rootCall(edge.broker, ctx.meta as Meta);
  exchange.op = op;
  exchange.path = $params.params;
  exchange.query = readQueryString(originalUrl);
  edge.observer.enter(exchange);
  requireSpace(op, edge.runtime.disk);
  requireWrites(op, edge.runtime.modes);
  edge.overload.requireTimely(op);
}

/**
 * `authenticate`: sets `ctx.meta.caller`; null on a public operation.
 * @throws Fault authentication_failed, service_unavailable while the caller cannot be verified, not_found for
 * operations hidden from all but the operator or a monitor
 */
export function authenticate(edge: GatewayContext, exchange: HttpExchange): void | Promise<void> {
  const { op, req } = exchange;
  if (op.access.by === "public" && !isIdentified(edge, exchange)) return;
  if (op.access.by === "operator") return requireBearer(req, edge.runtime.config, "OPERATOR_TOKEN");
  if (op.access.by === "monitor") return requireMonitor(req, edge.runtime.config);
  const resolved = edge.deps.callers.resolve(req);
  if (resolved instanceof Promise) return resolved.then((caller) => admit(exchange, caller));
  admit(exchange, resolved);
}

function admit(exchange: HttpExchange, caller: Caller): void {
  exchange.caller = exchange.ctx.meta.caller = caller;
  if (caller.only === "mcp" && exchange.op.action !== "gateway.mcp") {
    const message = "This token is for MCP alone: ask for one whose resource is the whole service.";
    throw unauthenticated(message);
  }
}

/** Whether a request to a public operation with optional authentication has a token. */
function isIdentified({ runtime }: GatewayContext, { op, req }: HttpExchange): boolean {
  const { access } = op;
  const isPublic = access.by === "public" && access.identified === true;
  return isPublic && authorizationOf(req, runtime.config.PUBLIC_URL) !== undefined;
}

/**
 * `authorize`: checks the caller's limits and rights before the body is read, so that a 400 reveals nothing.
 * @throws Fault rate_limited, forbidden, insufficient_scope, or the operation's answer to the wrong kind of caller
 */
export function authorize({ limits, runtime }: GatewayContext, exchange: HttpExchange): void | Promise<void> {
  const { op, req, caller } = exchange;
  if (!caller) return;
  tallyUse(caller.tenant_id, "requests");
  const now = Date.now();
  const check = (allowance: Allowance | null) => {
    exchange.allowance = allowance;
    if (allowance && !allowance.allowed) throw overLimit(allowance, now);
    requireOwnPage(req, caller, runtime.secrets);
    requireAccess(op, caller);
  };
  const taken = limits.take(caller, now);
  return taken instanceof Promise ? taken.then(check) : check(taken);
}

/** `onError`: answers with the error envelope. */
export async function onError(
  edge: GatewayContext,
  exchange: EarlyHttpExchange,
  err: unknown,
): Promise<void> {
  const { req, res, request_id, op } = exchange;
  if (res.headersSent && err instanceof BlobBroken)
    edge.broker.logger.error({ err, request_id }, "a response was cut off");
  if (res.destroyed) return;
  const fault = await edge.guard.judge(
    exchange,
    edge.faultOf(err instanceof NotFoundError ? unknownPath(req) : err, request_id),
  );
  // A started stream can only be cut off.
  if (res.headersSent) res.destroy();
  discardBody(req, res, op && maxBodyOf(op));
  if (op && isOAuthRequest(op, req)) return void edge.send(exchange, oauthRefusal(op, fault, request_id));
  edge.send(exchange, errorAnswer(fault, request_id, askedOf(edge, exchange)));
}

/** Returns the credential that the operation reads; undefined if it reads none. */
function askedOf({ runtime }: GatewayContext, { op, req }: EarlyHttpExchange): CredentialSource | undefined {
  if (!op || op.access.by === "public") return undefined;
  const { authorization } = req.headers;
  return { authorization, metadata: resourceMetadataOf(op, req, runtime.config.PUBLIC_URL) };
}

/**
 * Returns what calls actions for a request. `Context.call` copies `meta` to each call and merges it back, for 2 µs
 * (docs/decisions/0010-edge.md).
 */
export function rootCall(broker: ServiceBroker, meta: Meta): RootCall {
  // Not tracked: the gateway itself waits for its requests before the services stop.
  const own: CallingOptions = { meta: meta as never, requestID: meta.request_id, tracking: false };
  return {
    meta,
    call: <T>(action: string, params: unknown, options?: CallingOptions) =>
      broker.call(action, params, options ? { ...own, ...options } : own) as Promise<T>,
  };
}
