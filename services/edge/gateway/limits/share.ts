import { type Share, shareOf } from "../../../../lib/queue/fair-queue.ts";
import type { Exchange } from "../exchange.ts";

/** Who a request uses shared resources for. Without a token it is an address: all of those share as one tenant does. */
export function requestShare({ caller, ctx }: Pick<Exchange, "caller" | "ctx">): Share {
  return caller ? shareOf(caller) : { tenant_id: "", caller: ctx.meta.ip ?? "" };
}
