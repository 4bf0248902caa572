import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import proxyaddr from "proxy-addr";

/**
 * Returns the client's address: the peer of the connection or, behind trusted proxies, the last untrusted address in
 * `X-Forwarded-For` (api.md "Everywhere", TRUST_PROXY).
 *
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
  const given = req.headers["x-request-id"];
  return typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : null;
}

/** Decodes a header: Node reads its bytes as Latin-1, which some callers send; others send UTF-8. */
export function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}
