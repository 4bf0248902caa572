/** Wildcard addresses, which a server can listen on but a client cannot call. */
const LOOPBACK_OF: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Returns an origin as a URL parser writes it, without a slash at its end. */
export function plainOrigin(url: string): string {
  return (URL.canParse(url) ? new URL(url).href : url).replace(/\/$/, "");
}

/** Returns the origin of a listening server for callers on the same machine: `http://127.0.0.1:3000`. */
export function originAt(host: string, port: number): string {
  const named = LOOPBACK_OF[host] ?? host;
  return `http://${named.includes(":") ? `[${named}]` : named}:${port}`;
}
