/** Wildcard addresses, which a server can listen on but a client cannot call. */
const LOOPBACK_OF: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Returns the origin of a listening server for callers on the same machine: `http://127.0.0.1:3000`. */
export function originAt(host: string, port: number): string {
  const named = LOOPBACK_OF[host] ?? host;
  return `http://${named.includes(":") ? `[${named}]` : named}:${port}`;
}
