import type { IncomingMessage } from "node:http";
import { parse as parseQuery } from "node:querystring";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault, mismatch } from "../../../lib/contract/faults.ts";
import { originAt, plainOrigin } from "../../../lib/http/origin.ts";
import type { GatewayRequest } from "./http-exchange.ts";

export const VERSION_PREFIX = "/v1";

/** Returns the original path of a request, whatever a route has made of its `url`. */
export function pathOf(req: IncomingMessage): string {
  const { originalUrl = req.url ?? "" } = req as Partial<GatewayRequest>;
  return originalUrl.split("?")[0] as string;
}

/** Returns the fault for a path that does not exist or is hidden from this caller. */
export function unknownPath(req: IncomingMessage): Fault {
  const resource_id = pathOf(req);
  if (!isReadable(resource_id)) return unreadable("path", resource_id);
  return new Fault("not_found", `There is no path ${resource_id}. GET /openapi.json lists all paths.`, {
    resource_type: "path",
    resource_id,
  });
}

export function wrongMethod(method: string, path: string, allow: string[]): Fault {
  const message = `${path} does not support ${method}: expected ${allow.join(" or ")}.`;
  return new Fault("method_not_allowed", message, { allow });
}

/** Parses the query of a URL as text values. @throws Fault validation_failed if it is invalid */
export function readQueryString(url: string): Record<string, unknown> {
  const at = url.indexOf("?");
  if (at < 0) return {};
  const text = url.slice(at + 1);
  if (!isReadable(text)) throw unreadable("query", text);
  return parseQuery(text);
}

function isReadable(text: string): boolean {
  if (!text.includes("%")) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const SHOWN_CHARACTERS = 200;

function unreadable(field: "path" | "query", value: string): Fault {
  const shown = value.slice(0, SHOWN_CHARACTERS);
  return mismatch(field, shown, "percent-encoded UTF-8", "%C3%A4", `The ${field}`);
}

const OF_THIS_MACHINE = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Returns the service's origin as a caller uses it: `PUBLIC_URL`; without it the name of this machine in the request,
 * else the address that it was received at. Any other Host is not trusted.
 */
export function originFor({ headers, socket }: IncomingMessage, publicUrl: string | null): string {
  if (publicUrl) return plainOrigin(publicUrl);
  const { host = "" } = headers;
  if (OF_THIS_MACHINE.test(host)) return `http://${host.toLowerCase()}`;
  return originAt((socket.localAddress ?? "127.0.0.1").replace(/^::ffff:/, ""), socket.localPort ?? 0);
}

/** Returns where a client reads how to get a token for an operation (RFC 9728); undefined for the operator's. */
export function resourceMetadataOf(
  { access, action, root }: Operation,
  req: IncomingMessage,
  publicUrl: string | null,
): string | undefined {
  if (access.by === "operator" || access.by === "monitor") return undefined;
  const path = action === "gateway.mcp" ? `${root ? "" : VERSION_PREFIX}/mcp` : "";
  return `${originFor(req, publicUrl)}/.well-known/oauth-protected-resource${path}`;
}
