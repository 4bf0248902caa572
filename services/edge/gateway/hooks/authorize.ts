import { requireAccess } from "../access/access.ts";
import { requireOwnPage } from "../access/browser.ts";
import type { Edge } from "../edge.ts";
import type { Allowance, Exchange } from "../exchange.ts";
import { overLimit } from "../limits/limits.ts";

/**
 * `authorize`: checks the caller's limits and rights before the body is read, so that a 400 reveals nothing.
 *
 * @throws Fault rate_limited, forbidden, insufficient_scope, or the operation's answer to the wrong kind of caller
 */
export function authorize({ limits, runtime }: Edge, exchange: Exchange): void | Promise<void> {
  const { op, req, caller } = exchange;
  if (!caller) return;
  const now = Date.now();
  const check = (allowance: Allowance | null) => {
    exchange.allowance = allowance;
    if (allowance && !allowance.allowed) throw overLimit(allowance, now);
    requireOwnPage(req, caller, runtime.secrets);
    requireAccess(op, caller);
  };
  const taken = limits.take(caller, now);
  return taken instanceof Promise ? taken.then(check) : check(taken);
}
