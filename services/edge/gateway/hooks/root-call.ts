import type { ServerResponse } from "node:http";
import type { CallingOptions } from "moleculer";
import type { Meta } from "../../../../lib/access/caller.ts";
import { newId } from "../../../../lib/ids.ts";
import { givenRequestId } from "../access/client.ts";
import type { Edge } from "../edge.ts";
import type { GatewayRequest } from "../exchange.ts";

/** `rootCallOptions`: sets up the context of a new request with its id and address. */
export function rootCallOptions(
  edge: Edge,
  options: CallingOptions,
  req: GatewayRequest,
  res: ServerResponse,
) {
  const request_id = givenRequestId(req) ?? newId("req");
  // The caller is set once known; public operations do not read it.
  const meta = { request_id, ip: edge.addressOf(req) } as Meta;
  req.$exchange = { req, res, request_id, caller: null, allowance: null };
  edge.observer.begin(req, res, meta);
  // CORS is not supported: OPTIONS is an ordinary method, while moleculer-web would look up the one in this header.
  if (req.method === "OPTIONS") req.headers["access-control-request-method"] = "OPTIONS";
  options.meta = meta as never;
  // If set, moleculer-web adds its own header; before-call.ts sets it on the context.
  options.requestID = "";
  // Not tracked: the server itself waits for its requests before the services stop.
  options.tracking = false;
}
