import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ServiceBroker } from "moleculer";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import { requireAccess } from "./access/access.ts";
import { type Answer, errorAnswer } from "./answer/respond.ts";
import type { Edge } from "./edge.ts";
import { type Asked, type Exchange, RootCall } from "./exchange.ts";
import { carryOut } from "./hooks/call-action.ts";
import { faultOf } from "./hooks/on-error.ts";
import type { Leave } from "./limits/places.ts";
import { requestShare } from "./limits/share.ts";
import { requireSpace } from "./limits/space.ts";

/** Executes an inner request: all checks except those that the outer one has passed. */
export async function performWithin(edge: Edge, outer: Exchange, asked: Asked): Promise<Answer> {
  const started = performance.now();
  const { op } = asked;
  let leave: Leave | null = null;
  let answer: Answer;
  try {
    requireSpace(op, edge.runtime.disk);
    requireAccess(op, outer.caller as Caller);
    edge.overload.requireTimely(op);
    leave = edge.overload.enter(op, requestShare(outer));
    answer = await carryOut(edge, exchangeWithin(outer, asked, edge.broker));
  } catch (err) {
    answer = errorAnswer(faultOf(edge, err, outer.request_id), outer.request_id);
  } finally {
    leave?.();
  }
  edge.observer.measure(op, answer.status, started);
  return answer;
}

/**
 * Builds the exchange of an inner request: the same caller and connection, but its own body and status, so that inner
 * requests cannot affect each other.
 */
function exchangeWithin(outer: Exchange, asked: Asked, broker: ServiceBroker): Exchange {
  const { request_id, ip, caller, traceparent } = outer.ctx.meta;
  const meta: Meta = { request_id, caller, ...(ip && { ip }), ...(traceparent && { traceparent }) };
  const { op, path, query } = asked;
  const req = requestWithin(outer.req, asked);
  const { res, allowance } = outer;
  return { op, path, query, req, res, ctx: new RootCall(broker, meta), request_id, caller, allowance };
}

/** Builds the parts of a request that are read after authentication: body, headers, and the identity for a key. */
function requestWithin({ headers }: IncomingMessage, { op, url, headers: own, body }: Asked) {
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
