/** Paths of the resources that tokens are for: the whole API, and MCP. */
export const MCP_PATHS = ["/mcp", "/v1/mcp"] as const;
const PATHS = ["", ...MCP_PATHS] as const;

/**
 * Returns the resource of a `resource` parameter (RFC 8707): MCP by default; null if it is none of this service.
 *
 * @param origin that the caller uses
 */
export function resourceOf(given: string | null | undefined, origin: string): string | null {
  if (given === null || given === undefined) return `${origin}/mcp`;
  if (!URL.canParse(given)) return null;
  const { href } = new URL(given);
  const named = href.replace(/\/$/, "");
  return PATHS.map((path) => new URL(origin + path).href.replace(/\/$/, "")).includes(named) ? named : null;
}
