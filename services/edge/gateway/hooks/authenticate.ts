import type { IncomingMessage } from "node:http";
import type { Caller } from "../../../../lib/access/caller.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import { authorizationOf } from "../access/browser.ts";
import type { Edge } from "../edge.ts";
import type { Exchange } from "../exchange.ts";
import { bearerIs, mayMonitor } from "../observe/monitor.ts";
import { unknownPath } from "../paths.ts";

/**
 * `authenticate`: sets `ctx.meta.caller`; null on a public operation.
 *
 * @throws Fault authentication_failed, service_unavailable while the caller cannot be verified, not_found for
 * operations hidden from all but the operator or a monitor
 */
export function authenticate(edge: Edge, exchange: Exchange): void | Promise<void> {
  const { op, req, ctx } = exchange;
  const { OPERATOR_TOKEN, METRICS_TOKEN } = edge.runtime.config;
  if (op.access.by === "public" && !isIdentified(edge, exchange)) return;
  if (op.access.by === "operator") return admitOperator(req, OPERATOR_TOKEN);
  if (op.access.by === "monitor") return admitMonitor(req, METRICS_TOKEN);
  const resolved = edge.deps.callers.resolve(req, ctx.meta.ip);
  if (resolved instanceof Promise) return resolved.then((caller) => admit(exchange, caller));
  admit(exchange, resolved);
}

function admit(exchange: Exchange, caller: Caller): void {
  if (caller.only === "mcp" && exchange.op.action !== "gateway.mcp") throw onlyForMcp();
  exchange.caller = exchange.ctx.meta.caller = caller;
}

function onlyForMcp(): Fault {
  const message = "This token is for MCP alone: ask for one whose resource is the whole service.";
  return new Fault("authentication_failed", message);
}

/** Whether a request to a public operation with optional authentication has a token. */
function isIdentified({ runtime }: Edge, { op, req }: Exchange): boolean {
  const { access } = op;
  const isPublic = access.by === "public" && access.identified === true;
  return isPublic && authorizationOf(req, runtime.config.PUBLIC_URL) !== undefined;
}

function admitOperator(req: IncomingMessage, token: string | null): void {
  if (!token) throw unknownPath(req);
  if (!bearerIs(req, token))
    throw new Fault(
      "authentication_failed",
      "This operation needs the operator's token: send OPERATOR_TOKEN as Bearer token.",
    );
}

function admitMonitor(req: IncomingMessage, token: string | null): void {
  if (!mayMonitor(req, token)) throw unknownPath(req);
}
