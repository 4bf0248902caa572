import type { Context } from "moleculer";
import type { Operation } from "../../../../lib/contract/contract.ts";
import type { Edge } from "../edge.ts";
import type { ActionCaller, Exchange, GatewayRequest } from "../exchange.ts";
import { requireSpace } from "../limits/space.ts";
import { readQueryString } from "../paths.ts";

/**
 * `onBeforeCall`: the operation is known, its caller is not. Refuses first what this node cannot do now.
 *
 * @throws Fault service_unavailable, or validation_failed for an invalid query
 */
export function beforeCall(edge: Edge, ctx: Context, req: GatewayRequest, op: Operation): void {
  const exchange = req.$exchange as Exchange;
  const { $params, originalUrl } = req as GatewayRequest & { $params: { params: Record<string, string> } };
  req.url = originalUrl;
  exchange.ctx = ctx as unknown as ActionCaller;
  exchange.op = op;
  exchange.path = $params.params;
  exchange.query = readQueryString(originalUrl);
  ctx.requestID = exchange.request_id;
  edge.observer.enter(req, op, exchange.ctx.meta);
  requireSpace(op, edge.runtime.disk);
  edge.overload.requireTimely(op);
}
