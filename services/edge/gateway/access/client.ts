import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import proxyaddr from "proxy-addr";

/**
 * Says where a request comes from: the peer of the connection, or, where the peer is one of the trusted proxies, the
 * last address in `X-Forwarded-For` that is not (api.md "Everywhere", TRUST_PROXY).
 *
 * @throws TypeError when one of the proxies is not an address, a range or a name that `proxy-addr` knows.
 */
export function clientAddress(trusted: readonly string[]): (req: IncomingMessage) => string {
  if (trusted.length === 0) return peer;
  const trust = proxyaddr.compile([...trusted]);
  return (req) => plain(proxyaddr(req, trust));
}

const peer = (req: IncomingMessage) => plain(req.socket.remoteAddress ?? "");

/** An IPv4 address as such, also where the server listens on IPv6. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

const SANE_REQUEST_ID = /^[\w.:@/+=-]{1,128}$/;

/** The caller's request id if it sent a sane one (api.md "Everywhere"). */
export function givenRequestId(req: IncomingMessage): string | null {
  const given = req.headers["x-request-id"];
  return typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : null;
}

/** What a header says: Node reads its bytes as Latin-1, which some callers have sent; the others sent UTF-8. */
export function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}
