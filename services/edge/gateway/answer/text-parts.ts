import { MESSAGE_BYTES } from "../../../../lib/broker/message-size.ts";
import type { TextPart } from "../../../../lib/contract/contract.ts";
import { readParams } from "../body/params.ts";
import type { GatewayContext } from "../gateway-context.ts";
import { type HttpExchange, requestShare } from "../http-exchange.ts";
import { Output } from "./output.ts";
import { afterCall, begin } from "./respond.ts";

/**
 * Answers an operation with `continuedBy`: sends its parts as the caller reads them; at most one is in memory. A failure
 * of the first part is answered as an error; later ones cut the answer off.
 */
export function sendTextParts(edge: GatewayContext, exchange: HttpExchange): Promise<void> {
  return edge.hold(exchange, async () => {
    const { ctx, op, req, res } = exchange;
    const params = await readParams(exchange, edge.deps.bodyReaders, edge.runtime.blobs);
    const output = new Output(res, requestShare(exchange), op.action);
    await output.reserve(MESSAGE_BYTES);
    const first = await ctx.call<TextPart>(op.action, params);
    begin(res, afterCall(exchange, ""), edge.envelopeOf(exchange), null);
    if (req.method === "HEAD") output.end();
    else await output.writeAll(textOf(exchange, params, first), MESSAGE_BYTES);
  });
}

async function* textOf({ ctx, op }: HttpExchange, params: Record<string, unknown>, first: TextPart) {
  let part = first;
  yield part.text;
  while (part.next !== null) {
    part = await ctx.call<TextPart>(op.continuedBy as string, { ...params, cursor: part.next });
    yield part.text;
  }
}
