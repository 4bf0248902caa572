import { Output } from "../answer/output.ts";
import { edgeHeaders } from "../answer/respond.ts";
import { readParams } from "../body/params.ts";
import type { GatewayContext } from "../gateway-context.ts";
import { type HttpExchange, requestShare, type StreamHandler } from "../http-exchange.ts";

/** Alias middleware of an operation that writes its own answer: no action is called after it. */
export function stream(edge: GatewayContext, exchange: HttpExchange): Promise<void> {
  const { op, res } = exchange;
  const { bodyReaders, streams } = edge.deps;
  return edge.hold(exchange, async () => {
    const params = await readParams(exchange, bodyReaders, edge.runtime.blobs);
    // Do not keep the request's body in memory while the stream is open.
    exchange.releaseBody?.();
    const headers = edgeHeaders({ ...exchange, last: false });
    for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i] as string, headers[i + 1] as string);
    const output = new Output(res, requestShare(exchange), op.action);
    await (streams[op.action] as StreamHandler)(exchange, params, edge.linkOf(exchange), output);
  });
}
