const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Schemes that a browser or the system interprets itself, and some of them remotely: they belong to no client. */
const TAKEN = new RegExp(
  `^(${[
    "javascript|data|vbscript|blob|about|view-source|chrome|edge|resource|jar|intent|wss?",
    "file|filesystem|s?ftp|smb|cifs|afp|nfs|davs?|ldaps?|ssh|telnet|rdp|vnc",
    "mailto|tel|sms|ms-.*|search|search-ms|shell|market|itms-.*",
  ].join("|")}):$`,
);

/**
 * Whether a client may have answers sent to a URI: https, http to this machine, or a scheme of its own (RFC 8252).
 * Without a fragment, a user and a password.
 */
export function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[\s\\#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return false;
  if (protocol === "https:") return hostname !== "";
  if (protocol === "http:") return LOOPBACK.has(hostname);
  return !TAKEN.test(protocol);
}

/** Whether answers to a URI stay on the person's computer. */
export function isLocal(redirect_uri: string): boolean {
  const { protocol, hostname } = new URL(redirect_uri);
  return protocol === "https:" ? false : protocol !== "http:" || LOOPBACK.has(hostname);
}

/** Whether a given URI is a registered one: equal, except for the port of a loopback address (RFC 8252, section 7.3). */
export function isRegistered(given: string, registered: readonly string[]): boolean {
  if (!isRedirectUri(given)) return false;
  return registered.some((uri) => uri === given || withoutPort(uri) === withoutPort(given));
}

function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, "$1");
}

/** Returns the host that a person knows a URI by; for a scheme of a program the scheme. */
export function placeOf(redirect_uri: string): string {
  const { protocol, host } = new URL(redirect_uri);
  return /^https?:$/.test(protocol) ? host : protocol;
}
