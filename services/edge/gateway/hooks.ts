import type { ServerResponse } from "node:http";
import type { CallingOptions, Context } from "moleculer";
import ApiGateway from "moleculer-web";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { tallyUse } from "../../../storage/traffic/tally.ts";
import { authorizationOf, requireAccess, requireOwnPage } from "./access/access.ts";
import type { Asked } from "./access/challenge.ts";
import { givenRequestId } from "./access/client-address.ts";
import { isOAuthRequest, oauthRefusal } from "./access/oauth.ts";
import { BlobBroken } from "./answer/from-blob.ts";
import { errorAnswer } from "./answer/respond.ts";
import { discardBody } from "./body/body.ts";
import { maxBodyOf } from "./body/budget.ts";
import type { GatewayContext } from "./gateway-context.ts";
import {
  type Allowance,
  type EarlyHttpExchange,
  type GatewayRequest,
  type HttpExchange,
  RootCall,
} from "./http-exchange.ts";
import { overLimit } from "./limits/limits.ts";
import { requireSpace, requireWrites } from "./limits/storage-limits.ts";
import { requireBearer, requireMonitor } from "./observe/monitor.ts";
import { readQueryString, resourceMetadataOf, unknownPath } from "./paths.ts";

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
 *
 * @throws Fault service_unavailable, or validation_failed for an invalid query
 */
export function beforeCall(edge: GatewayContext, ctx: Context, req: GatewayRequest, op: Operation): void {
  const exchange = req.$exchange as HttpExchange;
  const { $params, originalUrl } = req as GatewayRequest & { $params: { params: Record<string, string> } };
  req.url = originalUrl;
  exchange.ctx = new RootCall(edge.broker, ctx.meta as Meta);
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
 *
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
    throw new Fault("authentication_failed", message);
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
 *
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
function askedOf({ runtime }: GatewayContext, { op, req }: EarlyHttpExchange): Asked | undefined {
  if (!op || op.access.by === "public") return undefined;
  const { authorization } = req.headers;
  return { authorization, metadata: resourceMetadataOf(op, req, runtime.config.PUBLIC_URL) };
}
