import { callerId } from "../../lib/caller.ts";
import type { Share } from "../../lib/fair-queue.ts";
import type { Exchange } from "./exchange.ts";

/** Who a request uses shared resources for. Without a token it is an address: all of those share as one tenant does. */
export function shareOf({ caller, ctx }: Pick<Exchange, "caller" | "ctx">): Share {
  if (caller) return { tenant_id: caller.tenant_id, caller: callerId(caller) };
  return { tenant_id: "", caller: ctx.meta.ip ?? "" };
}
