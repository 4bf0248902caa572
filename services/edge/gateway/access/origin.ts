import type { IncomingMessage } from "node:http";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { originAt, plainOrigin } from "../../../../lib/http/origin.ts";
import { VERSION_PREFIX } from "../paths.ts";

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
