/** Addresses that stand for all of a machine's, which is where to listen and nothing to call. */
const LOOPBACK_OF: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The origin of what listens at a host, as it is called from the same machine: `http://127.0.0.1:3000`. */
export function originAt(host: string, port: number): string {
  const named = LOOPBACK_OF[host] ?? host;
  return `http://${named.includes(":") ? `[${named}]` : named}:${port}`;
}
