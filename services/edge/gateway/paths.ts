import type { IncomingMessage } from "node:http";
import { parse as parseQuery } from "node:querystring";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { type Found, pathParams, type Router } from "./router.ts";

export const VERSION_PREFIX = "/v1";

/** What a request asks for. */
export interface Target {
  op: Operation;
  /** Values of the path's placeholders. */
  path: Record<string, string>;
  /** The query string as text values, an array where a name is repeated. */
  query: Record<string, unknown>;
}

/**
 * The operation of a request; null when there is no such path.
 *
 * @throws Fault method_not_allowed, or validation_failed for a query that cannot be read.
 */
export function targetOf(router: Router, req: IncomingMessage): Target | null {
  const url = req.url as string;
  const at = url.indexOf("?");
  const pathname = at < 0 ? url : url.slice(0, at);
  const found = router.find(pathname);
  if (!found) return null;
  const isHead = req.method === "HEAD";
  const route = found.routes.get(isHead ? "GET" : (req.method as string));
  if (!route || (isHead && route.op.takes)) throw wrongMethod(req, methodsOf(found));
  const query = at < 0 ? {} : readQueryString(url.slice(at + 1));
  return { op: route.op, path: pathParams(route, found.values), query };
}

export function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?")[0] as string;
}

/** The fault for a path that is not there, or not for this caller to know of. */
export function unknownPath(req: IncomingMessage): Fault {
  const resource_id = pathOf(req);
  if (!isReadable(resource_id)) return unreadable("path", resource_id);
  return new Fault("not_found", `There is no path ${resource_id}.`, { resource_type: "path", resource_id });
}

/** The methods that a path has; HEAD wherever GET only looks. */
function methodsOf({ routes }: Found): string[] {
  const methods = [...routes.keys()];
  const get = routes.get("GET");
  return get && !get.op.takes ? [...methods, "HEAD"] : methods;
}

export function wrongMethod(req: IncomingMessage, allow: string[]): Fault {
  const message = `${req.method} is not for ${pathOf(req)}: allowed are ${allow.join(", ")}.`;
  return new Fault("method_not_allowed", message, { allow });
}

function readQueryString(text: string): Record<string, unknown> {
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
  const expected = "percent-encoded UTF-8";
  const details = { field, value: value.slice(0, SHOWN_CHARACTERS), expected, example: "%C3%A4" };
  return new Fault("validation_failed", `The ${field}: expected ${expected}.`, details);
}
