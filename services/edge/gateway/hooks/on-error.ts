import type { Fault } from "../../../../lib/contract/faults.ts";
import { isTokenRequest, tokenRefusal } from "../access/oauth.ts";
import { BlobBroken } from "../answer/from-blob.ts";
import { errorAnswer, toFault } from "../answer/respond.ts";
import { discardBody, maxBodyOf } from "../body/body.ts";
import type { Edge } from "../edge.ts";
import type { GatewayRequest } from "../exchange.ts";
import { sendAnswer } from "./send-response.ts";

/** `onError`: answers with the error envelope. */
export function onError(edge: Edge, req: GatewayRequest, err: unknown): void {
  const { $exchange: exchange } = req;
  const { res, request_id, op } = exchange;
  if (res.headersSent && err instanceof BlobBroken)
    edge.broker.logger.error({ err, request_id }, "an answer was cut off");
  if (res.destroyed) return;
  const fault = faultOf(edge, err, request_id);
  // A started stream can only be cut off.
  if (res.headersSent) res.destroy();
  discardBody(req, res, op && maxBodyOf(op));
  if (isTokenRequest(op, req)) return void sendAnswer(edge, exchange, tokenRefusal(fault, request_id));
  const authorization = op?.access.by === "public" ? undefined : req.headers.authorization;
  sendAnswer(edge, exchange, errorAnswer(fault, request_id, authorization));
}

/** Returns the fault for the caller and logs details hidden from it. */
export function faultOf({ broker }: Edge, err: unknown, request_id: string): Fault {
  const fault = toFault(err);
  if (fault.type === "internal_error") broker.logger.error({ err, request_id }, "request failed");
  return fault;
}
