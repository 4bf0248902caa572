const SPLIT = /^[a-z][a-z\d+.-]*:\/\/([^/?#\\]*)(.*)$/is;
/** A host that is no user name: with a dot and without a port, or this machine. */
const WEB_HOST = /^(?:[^:@]*\.[^:@]*|localhost|\[[^@]*\])$/i;
const ESCAPES = "Write # as %23, / as %2F, ? as %3F, @ as %40, \\ as %5C and % as %25";

/**
 * Returns why the credentials of an address cannot be read with certainty, and what to write instead; null if they can.
 * Never repeats the address: with an unescaped `/`, `?` or `#` in the password, URL parsers take the user for the host,
 * and what is stored and shown as host and path is part of the password. A password's `@` is read differently by
 * different parsers.
 */
export function credentialsFault(address: string): string | null {
  const [, authority = "", rest = ""] = SPLIT.exec(address) ?? [];
  const isWeb = /^https?:/i.test(address);
  // A web page's path may contain @; brokers and databases have no such paths.
  if (rest.includes("@") && !(isWeb && WEB_HOST.test(authority)))
    return `it is ambiguous, as an @ follows a /, ? or #. ${ESCAPES} in the name, the password and after the host`;
  const credentials = authority.slice(0, Math.max(authority.lastIndexOf("@"), 0));
  if (credentials.includes("@") || !decodes(credentials))
    return `its credentials contain a character that needs an escape. ${ESCAPES} in the name and the password`;
  return null;
}

/** Returns an address's user name and password, decoded, as far as it has them. */
export function readCredentials({ username, password }: URL): { username?: string; password?: string } {
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
}

/** Whether a percent-encoded text is UTF-8. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
