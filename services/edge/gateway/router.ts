import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { parse as parseQuery } from "node:querystring";
import proxyaddr from "proxy-addr";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault, mismatch } from "../../../lib/contract/faults.ts";
import { decodes } from "../../../lib/http/address-credentials.ts";
import { originAt, plainOrigin } from "../../../lib/http/origin.ts";
import type { GatewayRequest } from "./http-exchange.ts";

/** A path's routes by method. */
interface RouteMatch {
  routes: ReadonlyMap<string, Route>;
  /** Values of the placeholders, in order. */
  values: readonly string[];
}

interface Route {
  op: Operation;
  /** Names of the placeholders, in order. */
  names: readonly string[];
}

interface Node {
  literals: Map<string, Node>;
  /** Child placeholders: `{id}`, or `{id}:confirm` whose suffix is part of the segment. */
  placeholders: { suffix: string; node: Node }[];
  routes: Map<string, Route>;
}

const newNode = (): Node => ({ literals: new Map(), placeholders: [], routes: new Map() });

/**
 * Finds the operations of a path in a tree of segments, literal segments before placeholders, so `/memories/search` never
 * matches `/memories/{id}`.
 */
export class Router {
  readonly #root = newNode();

  /** @throws Error if two operations have the same method and path: one would be unreachable. */
  constructor(operations: readonly Operation[], versionPrefix: string) {
    for (const op of operations) {
      for (const path of [op.url, ...(op.also ?? [])]) {
        const url = op.root ? path : versionPrefix + path;
        const { routes, names } = this.#place(url);
        if (routes.has(op.method))
          throw new Error(`${op.method} ${url} is declared twice. Change the method or URL of one.`);
        routes.set(op.method, { op, names });
      }
    }
  }

  /** Returns null for an unknown path; ignores a trailing slash. */
  find(path: string): RouteMatch | null {
    const clean = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const values: string[] = [];
    const node = descend(this.#root, clean.split("/"), 1, values);
    return node && { routes: node.routes, values };
  }

  /**
   * Returns the operation of a path and its placeholders' values; null for an unknown path.
   * @throws Fault method_not_allowed
   */
  resolve(path: string, method: string): { op: Operation; path: Record<string, string> } | null {
    const target = this.find(path);
    if (!target) return null;
    const isHead = method === "HEAD";
    const route = target.routes.get(isHead ? "GET" : method);
    if (!route || (isHead && route.op.takes)) throw wrongMethod(method, path, methodsOf(target));
    return { op: route.op, path: pathParams(route, target.values) };
  }

  #place(url: string): { routes: Map<string, Route>; names: string[] } {
    let node = this.#root;
    const names: string[] = [];
    for (const segment of url.split("/").slice(1)) {
      node = child(node, segment, names);
    }
    return { routes: node.routes, names };
  }
}

/** Returns the methods of a path; HEAD wherever GET is a plain read. */
function methodsOf({ routes }: RouteMatch): string[] {
  const methods = [...routes.keys()];
  const get = routes.get("GET");
  return get && !get.op.takes ? [...methods, "HEAD"] : methods;
}

/** Returns the values of a route's placeholders by name. */
export function pathParams({ names }: Route, values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) params[names[i] as string] = values[i] as string;
  return params;
}

const PLACEHOLDER = /^\{(\w+)\}(.*)$/;

function child(node: Node, segment: string, names: string[]): Node {
  const placeholder = PLACEHOLDER.exec(segment);
  if (!placeholder) {
    const next = node.literals.get(segment) ?? newNode();
    node.literals.set(segment, next);
    return next;
  }
  const [, name, suffix] = placeholder as unknown as [string, string, string];
  names.push(name);
  const known = node.placeholders.find((each) => each.suffix === suffix);
  if (known) return known.node;
  const next = newNode();
  node.placeholders.push({ suffix, node: next });
  // The longest suffix first: `{id}:confirm` before `{id}`.
  node.placeholders.sort((a, b) => b.suffix.length - a.suffix.length);
  return next;
}

function descend(node: Node, segments: string[], at: number, values: string[]): Node | null {
  if (at === segments.length) return node.routes.size ? node : null;
  const segment = segments[at] as string;
  const literal = node.literals.get(segment);
  const target = literal && descend(literal, segments, at + 1, values);
  if (target) return target;
  for (const { suffix, node: next } of node.placeholders) {
    if (!segment.endsWith(suffix) || segment.length === suffix.length) continue;
    const value = decode(segment.slice(0, segment.length - suffix.length));
    if (value === null) continue;
    values.push(value);
    const deeper = descend(next, segments, at + 1, values);
    if (deeper) return deeper;
    values.pop();
  }
  return null;
}

function decode(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

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

const isReadable = (text: string) => !text.includes("%") || decodes(text);

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

/**
 * Returns the client's address: the peer of the connection or, behind trusted proxies, the last untrusted address in
 * `X-Forwarded-For` (api.md "Everywhere", TRUST_PROXY).
 * @throws TypeError if a proxy is not an address, a range or a name that `proxy-addr` knows.
 */
export function clientAddress(trusted: readonly string[]): (req: IncomingMessage) => string {
  if (trusted.length === 0) return peer;
  const trust = proxyaddr.compile([...trusted]);
  return (req) => plain(proxyaddr(req, trust));
}

const peer = (req: IncomingMessage) => plain(req.socket.remoteAddress ?? "");

/** Unwraps an IPv4 address, for servers that listen on IPv6. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

const SANE_REQUEST_ID = /^[\w.:@/+=-]{1,128}$/;

/** Returns the caller's request id if it is valid (api.md "Everywhere"). */
export function givenRequestId(req: IncomingMessage): string | null {
  const header = req.headers["x-request-id"];
  return typeof header === "string" && SANE_REQUEST_ID.test(header) ? header : null;
}

/** Decodes a header: Node reads its bytes as Latin-1, which some callers send; others send UTF-8. */
export function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}
