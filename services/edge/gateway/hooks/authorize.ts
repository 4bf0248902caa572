import { requireAccess } from "../access/access.ts";
import { requireOwnPage } from "../access/browser.ts";
import type { Edge } from "../edge.ts";
import type { Exchange } from "../exchange.ts";
import { rateLimited } from "../limits/limits.ts";

/**
 * `authorize`: checks the caller's limits and rights before the body is read, so that a 400 reveals nothing.
 *
 * @throws Fault rate_limited, forbidden, insufficient_scope, or the operation's answer to the wrong kind of caller
 */
export async function authorize({ limits, runtime }: Edge, exchange: Exchange): Promise<void> {
  const { op, req, caller } = exchange;
  if (!caller) return;
  const now = Date.now();
  const taken = limits.take(caller, now);
  const allowance = taken instanceof Promise ? await taken : taken;
  exchange.allowance = allowance;
  if (allowance && !allowance.allowed) throw rateLimited(allowance, now);
  requireOwnPage(req, caller, runtime.secrets);
  requireAccess(op, caller);
}
