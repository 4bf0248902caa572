import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import { cookieName, cookieValue } from "../../../lib/access/session-cookie.ts";
import { endWrite } from "../../../storage/blobs/blobs.ts";
import { isRefusedInBand, requireAccess } from "./access/access.ts";
import { idempotencyKey, once } from "./answer/idempotency.ts";
import { afterCall, errorAnswer, JSON_TYPE } from "./answer/respond.ts";
import { discardBody } from "./body/body.ts";
import { maxBodyOf } from "./body/budget.ts";
import { readParams } from "./body/params.ts";
import type { GatewayContext } from "./gateway-context.ts";
import {
  type Answer,
  type HttpExchange,
  type NestedRequest,
  RootCall,
  requestShare,
} from "./http-exchange.ts";
import { requireFormats } from "./limits/format.ts";
import type { Leave } from "./limits/overload.ts";
import { requireQuota, requireSpace, requireWrites } from "./limits/storage-limits.ts";
import { originFor } from "./paths.ts";
import { whileWanted } from "./streams/long-poll.ts";

/**
 * Reads the body of an admitted request, executes it once for its Idempotency-Key, and calls the action by name, so that
 * calls with an affinity key reach the node that owns it.
 */
export function callAction(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  return edge.hold(exchange, () => edge.guard.charge(exchange, () => carryOut(edge, exchange)));
}

/** Executes a nested request (`Perform`): all checks except those that the outer one has passed. */
export async function callNested(
  edge: GatewayContext,
  outer: HttpExchange,
  request: NestedRequest,
): Promise<Answer> {
  const started = performance.now();
  const { op } = request;
  let leave: Leave | null = null;
  let answer: Answer;
  try {
    requireSpace(op, edge.runtime.disk);
    requireWrites(op, edge.runtime.modes);
    requireAccess(op, outer.caller as Caller);
    edge.overload.requireTimely(op);
    leave = edge.overload.enter(op, requestShare(outer));
    answer = await carryOut(edge, exchangeWithin(edge, outer, request));
  } catch (err) {
    answer = errorAnswer(edge.faultOf(err, outer.request_id), outer.request_id);
  } finally {
    leave?.();
  }
  edge.observer.measure(op, answer.status, started);
  return answer;
}

/** Returns the answer to an admitted caller; blobs that the request put without effect are deleted by then. */
async function carryOut(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  try {
    return await answered(edge, exchange);
  } finally {
    if (exchange.write) await endWrite(edge.runtime.blobs, exchange.write);
  }
}

async function answered(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  const { op, caller } = exchange;
  if (caller && isRefusedInBand(op, caller)) return refuseInBand(exchange);
  const key = idempotencyKey(exchange);
  if (key === null) return answerTo(edge, exchange);
  return once(exchange, key, edge, () => answerTo(edge, exchange));
}

async function answerTo(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  const { runtime, broker } = edge;
  const { ctx, op } = exchange;
  const space = requireQuota(exchange, runtime.usage);
  if (space) await space;
  passCookie(edge, exchange);
  if (op.origin) ctx.meta.origin = originFor(exchange.req, runtime.config.PUBLIC_URL);
  const params = await readParams(exchange, runtime);
  if (op.needs) await requireFormats(broker, op, params);
  const action = () => ctx.call(op.action, params);
  const call = op.tries ? () => edge.guard.try(exchange, params, action) : action;
  const answer = afterCall(
    exchange,
    op.waits ? await whileWanted(broker, exchange, edge.linkOf(exchange), call) : await call(),
  );
  if (answer.insert && op.method === "GET") answer.again = async () => afterCall(exchange, await call());
  return answer;
}

function passCookie({ runtime }: GatewayContext, { op, req, ctx }: HttpExchange): void {
  if (!op.cookie) return;
  const value = cookieValue(req.headers.cookie, cookieName(op.cookie, runtime.config.PUBLIC_URL));
  if (value !== null) ctx.meta.cookie = value;
}

/** Answers a caller without the scope as the operation defines, with 200. */
function refuseInBand({ req, res, op }: HttpExchange): Answer {
  discardBody(req, res, maxBodyOf(op));
  return { status: 200, type: JSON_TYPE, body: JSON.stringify(op.scopeRefusal) };
}

/** The same caller and connection, but its own body and status, so that nested requests cannot affect each other. */
function exchangeWithin(edge: GatewayContext, outer: HttpExchange, request: NestedRequest): HttpExchange {
  const { request_id, ip, caller, traceparent } = outer.ctx.meta;
  const meta: Meta = { request_id, caller, ...(ip && { ip }), ...(traceparent && { traceparent }) };
  const { op, path, query } = request;
  const { res, allowance } = outer;
  const req = requestWithin(outer.req, request);
  const ctx = new RootCall(edge.broker, meta);
  return { op, path, query, req, res, ctx, request_id, started: outer.started, caller, allowance };
}

/** Builds the parts of a request that are read after authentication: body, headers, and the identity for a key. */
function requestWithin({ headers }: IncomingMessage, { op, url, headers: own, body }: NestedRequest) {
  const { authorization, cookie } = headers;
  const bytes = Buffer.from(body ?? "");
  const length = { "content-length": String(bytes.length) };
  return Object.assign(Readable.from(bytes.length ? [bytes] : []), {
    method: op.method,
    url,
    headers: { authorization, cookie, ...length, ...own },
    complete: true,
  }) as unknown as IncomingMessage;
}
