import type { Asked } from "../access/challenge.ts";
import { isOAuthRequest, oauthRefusal } from "../access/oauth.ts";
import { resourceMetadataOf } from "../access/origin.ts";
import { BlobBroken } from "../answer/from-blob.ts";
import { errorAnswer } from "../answer/respond.ts";
import { discardBody } from "../body/body.ts";
import { maxBodyOf } from "../body/budget.ts";
import type { Edge } from "../edge.ts";
import type { EarlyExchange } from "../exchange.ts";

/** `onError`: answers with the error envelope. */
export function onError(edge: Edge, exchange: EarlyExchange, err: unknown): void {
  const { req, res, request_id, op } = exchange;
  if (res.headersSent && err instanceof BlobBroken)
    edge.broker.logger.error({ err, request_id }, "a response was cut off");
  if (res.destroyed) return;
  const fault = edge.faultOf(err, request_id);
  // A started stream can only be cut off.
  if (res.headersSent) res.destroy();
  discardBody(req, res, op && maxBodyOf(op));
  if (op && isOAuthRequest(op, req)) return void edge.send(exchange, oauthRefusal(op, fault, request_id));
  edge.send(exchange, errorAnswer(fault, request_id, askedOf(edge, exchange)));
}

/** Returns the credential that the operation reads; undefined if it reads none. */
function askedOf({ runtime }: Edge, { op, req }: EarlyExchange): Asked | undefined {
  if (!op || op.access.by === "public") return undefined;
  const { authorization } = req.headers;
  return { authorization, metadata: resourceMetadataOf(op, req, runtime.config.PUBLIC_URL) };
}
