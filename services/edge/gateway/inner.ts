import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { ServiceBroker } from "moleculer";
import type { Meta } from "../../../lib/access/caller.ts";
import { type Asked, type Exchange, RootCall } from "./exchange.ts";

/**
 * What is asked within a request, as an exchange of its own: the same caller and connection, but its own body and its
 * own status, which no other that is asked within the same request may change.
 */
export function exchangeWithin(outer: Exchange, asked: Asked, broker: ServiceBroker): Exchange {
  const { request_id, ip, caller, traceparent } = outer.ctx.meta;
  const meta: Meta = { request_id, caller, ...(ip && { ip }), ...(traceparent && { traceparent }) };
  const { op, path, query } = asked;
  const req = requestWithin(outer.req, asked);
  const { res, allowance } = outer;
  return { op, path, query, req, res, ctx: new RootCall(broker, meta), request_id, caller, allowance };
}

/** As much of a request as is read behind authentication: its body, its headers, and what a key is bound to. */
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
