import type { Context } from "moleculer";
import type { Meta } from "../../../../lib/access/caller.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import type { Edge } from "../edge.ts";
import { type Exchange, type GatewayRequest, RootCall } from "../exchange.ts";
import { requireSpace } from "../limits/storage-limits.ts";
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
  exchange.ctx = new RootCall(edge.broker, ctx.meta as Meta);
  exchange.op = op;
  exchange.path = $params.params;
  exchange.query = readQueryString(originalUrl);
  edge.observer.enter(req, op, exchange.ctx.meta);
  requireSpace(op, edge.runtime.disk);
  edge.overload.requireTimely(op);
}
