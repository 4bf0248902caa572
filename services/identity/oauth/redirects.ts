const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/**
 * Schemes of apps: names in reverse that their developers own (RFC 8252, section 7.1), and those of editors that are
 * older than the rule. Others belong to nobody, to the browser or to the system, and some work remotely.
 */
const APP = /^(?:[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+|cursor|vscode|vscode-insiders|windsurf):$/;

/**
 * Whether a client may have answers sent to a URI: https, http to this machine, or the scheme of an app.
 * Without a fragment, a user and a password.
 */
export function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[\s\\#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return false;
  if (protocol === "https:") return hostname !== "";
  if (protocol === "http:") return LOOPBACK.has(hostname);
  return APP.test(protocol);
}

/**
 * Returns where answers to a URI go: to a program on the person's computer, an app by its scheme, which any app can claim,
 * or a site.
 */
export function classify(redirect_uri: string): "computer" | "app" | "site" {
  const { protocol, hostname } = new URL(redirect_uri);
  if (protocol !== "https:" && protocol !== "http:") return "app";
  return LOOPBACK.has(hostname) ? "computer" : "site";
}

/** Whether a given URI is a registered one: equal, except for the port of a loopback address (RFC 8252, section 7.3). */
export function isRegistered(given: string, registered: readonly string[]): boolean {
  if (!isRedirectUri(given)) return false;
  return registered.some((uri) => uri === given || withoutPort(uri) === withoutPort(given));
}

function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, "$1");
}

/** Returns the host that a person knows a URI by; the scheme of an app. */
export function placeOf(redirect_uri: string): string {
  const { protocol, host } = new URL(redirect_uri);
  return /^https?:$/.test(protocol) ? host : protocol;
}
