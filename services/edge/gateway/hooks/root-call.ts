import type { ServerResponse } from "node:http";
import type { CallingOptions } from "moleculer";
import type { Meta } from "../../../../lib/access/caller.ts";
import { newId } from "../../../../lib/ids.ts";
import { givenRequestId } from "../access/client.ts";
import type { Edge } from "../edge.ts";
import type { GatewayRequest } from "../exchange.ts";

/** `rootCallOptions`: a request has come. Its context gets its id and where it comes from. */
export function rootCallOptions(
  edge: Edge,
  options: CallingOptions,
  req: GatewayRequest,
  res: ServerResponse,
) {
  const request_id = givenRequestId(req) ?? newId("req");
  // The caller is set once it is known; public operations do not read it.
  const meta = { request_id, ip: edge.addressOf(req) } as Meta;
  req.$exchange = { req, res, request_id, caller: null, allowance: null };
  edge.observer.begin(req, res, meta);
  // CORS is not offered: OPTIONS is a method as any other, where moleculer-web would look for the one it asks about.
  if (req.method === "OPTIONS") req.headers["access-control-request-method"] = "OPTIONS";
  options.meta = meta as never;
  // Of one that is set moleculer-web makes a header of its own; the context gets it in before-call.ts.
  options.requestID = "";
  // Not tracked: the server itself waits for its requests before the services stop.
  options.tracking = false;
}
