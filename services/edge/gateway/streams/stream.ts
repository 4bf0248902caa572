import type { ServerResponse } from "node:http";
import { edgeHeaders } from "../answer/respond.ts";
import { readParams } from "../body/params.ts";
import type { Edge } from "../edge.ts";
import type { Asked, Exchange, GatewayRequest, StreamHandler } from "../exchange.ts";
import { inPlace } from "../hooks/call-action.ts";
import { performWithin } from "../inner.ts";

type Next = (err?: unknown) => void;

/** Alias middleware of an operation that writes its own answer: no action is called after it. */
export function streaming(edge: () => Edge) {
  return (req: GatewayRequest, _res: ServerResponse, next: Next): void => {
    const exchange = req.$exchange as Exchange;
    inPlace(edge(), exchange, () => stream(edge(), exchange)).catch(next);
  };
}

async function stream(edge: Edge, exchange: Exchange): Promise<void> {
  const { op, res } = exchange;
  const { bodyReaders, streams } = edge.parts;
  const params = await readParams(exchange, bodyReaders, edge.runtime.blobs);
  // Do not keep the request's body in memory while the stream is open.
  exchange.releaseBody?.();
  const headers = edgeHeaders({ ...exchange, last: false });
  for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i] as string, headers[i + 1] as string);
  const perform = (asked: Asked) => performWithin(edge, exchange, asked);
  await (streams[op.action] as StreamHandler)(exchange, params, edge.linkOf(exchange), perform);
}
