/** Paths of the resources that tokens are for: the whole API, and MCP. */
const MCP_PATHS = ["/mcp", "/v1/mcp"] as const;
const PATHS = ["", ...MCP_PATHS] as const;
const UNRESERVED = /[\w.~-]/;

/**
 * Returns the resource of a `resource` parameter (RFC 8707): MCP by default; null if it is none of this service.
 * @param resource several, which must be equivalent, with spaces between
 * @param origin that the caller uses
 */
export function resolveResource(resource: string | null | undefined, origin: string): string | null {
  if (!resource?.trim()) return `${origin}/mcp`;
  const [named, ...others] = new Set(resource.trim().split(/ +/).map(canonical));
  if (!named || others.length > 0) return null;
  return PATHS.map((path) => canonical(origin + path)).includes(named) ? named : null;
}

/**
 * Returns one spelling for all equivalent ones (RFC 3986, section 6): of scheme, host, default port, escapes and a last
 * slash. The query is no part of it: `/mcp?tools=work` is the same resource. Null if it names none.
 */
export function canonical(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { protocol, host, pathname, username, password, hash } = new URL(uri);
  if (username || password || hash) return null;
  const path = pathname.replace(/%([0-9a-f]{2})/gi, (triplet, hex) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return UNRESERVED.test(character) ? character : triplet.toUpperCase();
  });
  return `${protocol}//${host}${path.replace(/\/$/, "")}`;
}
