import { type Share, shareOf } from "../../../../lib/queue/fair-queue.ts";
import type { Exchange } from "../exchange.ts";

/**
 * Returns the owner of a request's share of resources. Without a token it is the address: all of those share like one
 * tenant.
 */
export function requestShare({ caller, ctx }: Pick<Exchange, "caller" | "ctx">): Share {
  return caller ? shareOf(caller) : { tenant_id: "", caller: ctx.meta.ip ?? "" };
}
