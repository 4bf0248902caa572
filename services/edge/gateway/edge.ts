import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceBroker } from "moleculer";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import type { Runtime } from "../../runtime.ts";
import { authorize, isRefusedInBand } from "./access/access.ts";
import type { AuthChange } from "./access/authenticate.ts";
import { authorizationOf, requireOwnPage } from "./access/browser.ts";
import { clientAddress, givenRequestId } from "./access/client.ts";
import { isTokenRequest, tokenRefusal } from "./access/oauth.ts";
import { BlobBroken, sendFromBlob } from "./answer/from-blob.ts";
import { idempotencyKey, once } from "./answer/idempotency.ts";
import { isAskedWhole, sendInPages } from "./answer/pages.ts";
import {
  type Answer,
  type Envelope,
  edgeHeaders,
  errorAnswer,
  JSON_TYPE,
  send,
  toFault,
} from "./answer/respond.ts";
import { discardBody, maxBodyOf } from "./body/body.ts";
import { reserveBody } from "./body/body-memory.ts";
import { callInPieces } from "./body/pieces.ts";
import { splitter } from "./body/splitter.ts";
import { type Asked, type Exchange, type Link, RootCall, type StreamHandler } from "./exchange.ts";
import { exchangeWithin } from "./inner.ts";
import { type Allowance, CallerLimits, LocalRateCounters, rateLimited } from "./limits/limits.ts";
import { Overload } from "./limits/overload.ts";
import type { Leave } from "./limits/places.ts";
import { PublicFailures } from "./limits/public-failures.ts";
import { requestShare } from "./limits/share.ts";
import { SharedRateCounters } from "./limits/shared-limits.ts";
import { requireQuota, requireSpace } from "./limits/space.ts";
import { bearerIs, mayMonitor } from "./observe/monitor.ts";
import { RequestObserver } from "./observe/observe.ts";
import { sendConsole } from "./pages/console.ts";
import { assetOf } from "./pages/docs.ts";
import { pathOf, targetOf, unknownPath, VERSION_PREFIX, wrongMethod } from "./paths.ts";
import { type BodyReader, readParams, toAnswer } from "./pipeline.ts";
import { Router } from "./router.ts";
import { whileWanted } from "./streams/wait.ts";

/** Who a request's bearer token is; throws authentication_failed. */
export interface Callers {
  resolve(req: IncomingMessage, ip?: string): Caller | Promise<Caller>;
  forget(change: AuthChange): void;
  start(): void;
  stop(): void;
}

/** What the edge serves. */
export interface EdgeParts {
  operations: readonly Operation[];
  callers: Callers;
  bodyReaders: Record<string, BodyReader>;
  streams: Record<string, StreamHandler>;
}

/** Serves a file named by `req.url`, or calls `next`. */
type FileServer = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** A request of which only the connection is known. */
type Arrival = Pick<Exchange, "req" | "res" | "ctx" | "request_id" | "caller" | "allowance">;

/** What happens to a request between the socket and the action: one order of checks for every operation. */
export class Edge {
  readonly #runtime: Runtime;
  readonly #broker: ServiceBroker;
  readonly #parts: EdgeParts;
  readonly #files: FileServer;
  readonly #router: Router;
  readonly #observer: RequestObserver;
  readonly #limits: CallerLimits;
  readonly #failures: PublicFailures;
  readonly #overload: Overload;
  readonly #addressOf: (req: IncomingMessage) => string;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, broker: ServiceBroker, parts: EdgeParts, files: FileServer) {
    const { config, windows } = runtime;
    this.#runtime = runtime;
    this.#broker = broker;
    this.#parts = parts;
    this.#files = files;
    this.#router = new Router(parts.operations, VERSION_PREFIX);
    this.#observer = new RequestObserver(runtime);
    this.#limits = new CallerLimits(
      config,
      windows ? new SharedRateCounters(windows) : new LocalRateCounters(),
    );
    this.#failures = new PublicFailures(config, runtime.secrets, windows);
    this.#overload = new Overload(config.MAX_WRITES_IN_FLIGHT);
    this.#addressOf = clientAddress(config.TRUST_PROXY);
  }

  start(): void {
    this.#overload.start();
    this.#parts.callers.start();
  }

  /** From here on every answer ends its connection. */
  drain(): void {
    this.#ending.abort();
  }

  async stop(): Promise<void> {
    this.#overload.stop();
    this.#parts.callers.stop();
    await splitter.close();
  }

  /** Serves one request. Never throws and answers always, unless the caller has gone. */
  handle = (req: IncomingMessage, res: ServerResponse): void => {
    const request_id = givenRequestId(req) ?? newId("req");
    // The caller is set once it is known; public operations do not read it.
    const meta = { request_id, ip: this.#addressOf(req) } as Meta;
    const ctx = new RootCall(this.#broker, meta);
    const arrival: Arrival = { req, res, ctx, request_id, caller: null, allowance: null };
    this.#observer.begin(req, meta);
    this.#serve(arrival)
      .catch((err) => this.#fail(arrival, err))
      .then(() => this.#observer.end(req, res));
  };

  async #serve(arrival: Arrival): Promise<void> {
    const target = targetOf(this.#router, arrival.req);
    if (!target) return this.#file(arrival);
    const exchange = arrival as Exchange;
    exchange.op = target.op;
    exchange.path = target.path;
    exchange.query = target.query;
    const { op } = exchange;
    this.#observer.enter(exchange.req, op, exchange.ctx.meta);
    requireSpace(op, this.#runtime.disk);
    this.#overload.requireTimely(op);
    await this.#admit(exchange);
    const leave = this.#overload.enter(op, requestShare(exchange));
    try {
      const reserved = reserveBody(exchange);
      if (reserved) exchange.releaseBody = await reserved;
      if (op.stream) return await this.#stream(exchange);
      if (isAskedWhole(exchange)) return await this.#sendWhole(exchange);
      const carryOut = () => this.#carryOut(exchange);
      await this.#send(exchange, await this.#failures.count(exchange, carryOut));
    } finally {
      leave?.();
      exchange.releaseBody?.();
    }
  }

  /** What a caller who was admitted is answered. */
  async #carryOut(exchange: Exchange): Promise<Answer> {
    const { op, caller } = exchange;
    if (caller && isRefusedInBand(op, caller)) return refuseInBand(exchange);
    const key = idempotencyKey(exchange);
    if (key === null) return this.#answer(exchange);
    return once(exchange, key, this.#runtime, () => this.#answer(exchange));
  }

  /** Carries out what is asked within a request: all checks but those that the request itself has passed. */
  async #perform(outer: Exchange, asked: Asked): Promise<Answer> {
    const started = performance.now();
    const { op } = asked;
    let leave: Leave | null = null;
    let answer: Answer;
    try {
      requireSpace(op, this.#runtime.disk);
      authorize(op, outer.caller as Caller);
      this.#overload.requireTimely(op);
      leave = this.#overload.enter(op, requestShare(outer));
      answer = await this.#carryOut(exchangeWithin(outer, asked, this.#broker));
    } catch (err) {
      answer = errorAnswer(this.#faultOf(err, outer.request_id), outer.request_id);
    } finally {
      leave?.();
    }
    this.#observer.measure(op, answer.status, started);
    return answer;
  }

  /** Authentication, limits, authorization: before the body is read, so that nothing is learnt from a 400. */
  async #admit(exchange: Exchange): Promise<void> {
    const { op, req, ctx } = exchange;
    const { OPERATOR_TOKEN, METRICS_TOKEN } = this.#runtime.config;
    if (op.access.by === "public" && !this.#isIdentified(exchange)) return;
    if (op.access.by === "operator") return admitOperator(req, OPERATOR_TOKEN);
    if (op.access.by === "monitor") return admitMonitor(req, METRICS_TOKEN);
    const resolved = this.#parts.callers.resolve(req, ctx.meta.ip);
    const caller = resolved instanceof Promise ? await resolved : resolved;
    exchange.caller = ctx.meta.caller = caller;
    const now = Date.now();
    const taken = this.#limits.take(caller, now);
    this.#allow(exchange, taken instanceof Promise ? await taken : taken, now);
    requireOwnPage(req, caller, this.#runtime.secrets);
    authorize(op, caller);
  }

  /** Whether a public operation that also takes a caller came with one. */
  #isIdentified({ op, req }: Exchange): boolean {
    const { access } = op;
    const isPublic = access.by === "public" && access.identified === true;
    return isPublic && authorizationOf(req, this.#runtime.config.PUBLIC_URL) !== undefined;
  }

  #allow(exchange: Exchange, allowance: Allowance | null, now: number): void {
    exchange.allowance = allowance;
    if (allowance && !allowance.allowed) throw rateLimited(allowance, now);
  }

  async #answer(exchange: Exchange): Promise<Answer> {
    const space = requireQuota(exchange, this.#runtime.usage);
    if (space) await space;
    const params = await readParams(exchange, this.#parts.bodyReaders, this.#runtime.blobs);
    if (exchange.pieces) return toAnswer(exchange, await callInPieces(exchange, exchange.pieces));
    const call = () => exchange.ctx.call(exchange.op.action, params);
    if (!exchange.op.waits) return toAnswer(exchange, await call());
    return toAnswer(exchange, await whileWanted(this.#broker, exchange, this.#linkOf(exchange), call));
  }

  async #sendWhole(exchange: Exchange): Promise<void> {
    const params = await readParams(exchange, this.#parts.bodyReaders, this.#runtime.blobs);
    return sendInPages(exchange, params, this.#envelopeOf(exchange));
  }

  #linkOf({ req, ctx }: Exchange): Link {
    const recheck = async () => this.#parts.callers.resolve(req, ctx.meta.ip);
    return { ending: this.#ending.signal, recheck };
  }

  async #stream(exchange: Exchange): Promise<void> {
    const { op, res } = exchange;
    const params = await readParams(exchange, this.#parts.bodyReaders, this.#runtime.blobs);
    // What it was sent does not stay in memory for as long as it is open.
    exchange.releaseBody?.();
    const headers = edgeHeaders({ ...exchange, last: false });
    for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i] as string, headers[i + 1] as string);
    const perform = (asked: Asked) => this.#perform(exchange, asked);
    const handler = this.#parts.streams[op.action] as StreamHandler;
    await handler(exchange, params, this.#linkOf(exchange), perform);
  }

  /** What is no operation may be a file of the page at /docs, or of the console. */
  async #file({ req, res, request_id }: Arrival): Promise<void> {
    const asset = assetOf(pathOf(req));
    if (!asset) {
      res.setHeader("X-Request-Id", request_id);
      if (await sendConsole(req, res)) return;
      throw unknownPath(req);
    }
    if (req.method !== "GET" && req.method !== "HEAD") throw wrongMethod(req, ["GET", "HEAD"]);
    req.url = asset;
    res.setHeader("X-Request-Id", request_id);
    return new Promise((resolve, reject) => {
      res.once("close", resolve);
      this.#files(req, res, () => reject(unknownPath(req)));
    });
  }

  #envelopeOf({ request_id, allowance }: Arrival): Envelope {
    return { request_id, allowance, last: this.#ending.signal.aborted };
  }

  #send(arrival: Arrival, answer: Answer): void | Promise<void> {
    const { res, caller } = arrival;
    const envelope = this.#envelopeOf(arrival);
    const { insert } = answer;
    if (!insert || !caller) return send(res, answer, envelope);
    const open = () => this.#runtime.blobs.stream(caller.tenant_id, insert.hash);
    return sendFromBlob(res, { ...answer, insert }, envelope, open);
  }

  /** Answers with the error envelope. */
  #fail(arrival: Arrival, err: unknown): void {
    const { req, res, request_id } = arrival;
    if (res.headersSent && err instanceof BlobBroken)
      this.#broker.logger.error({ err, request_id }, "an answer was cut off");
    if (res.destroyed) return;
    const fault = this.#faultOf(err, request_id);
    // A stream that has begun can only be cut off.
    if (res.headersSent) res.destroy();
    const { op } = arrival as Partial<Exchange>;
    discardBody(req, res, op && maxBodyOf(op));
    if (isTokenRequest(op, req)) return void this.#send(arrival, tokenRefusal(fault, request_id));
    const authorization = op?.access.by === "public" ? undefined : req.headers.authorization;
    this.#send(arrival, errorAnswer(fault, request_id, authorization));
  }

  /** What a caller is told of an error. What it is not told is logged. */
  #faultOf(err: unknown, request_id: string): Fault {
    const fault = toFault(err);
    if (fault.type === "internal_error") this.#broker.logger.error({ err, request_id }, "request failed");
    return fault;
  }
}

/** Answers a caller without the scope as the operation says, with 200. */
function refuseInBand({ req, res, op }: Exchange): Answer {
  discardBody(req, res, maxBodyOf(op));
  return { status: 200, type: JSON_TYPE, body: JSON.stringify(op.scopeRefusal) };
}

function admitOperator(req: IncomingMessage, token: string | null): void {
  if (!token) throw unknownPath(req);
  if (!bearerIs(req, token)) throw new Fault("authentication_failed", "This needs the operator's token.");
}

function admitMonitor(req: IncomingMessage, token: string | null): void {
  if (!mayMonitor(req, token)) throw unknownPath(req);
}
