import type { SecretBox } from "../crypto/secrets.ts";
import { cookieValue, setCookie } from "./session-cookie.ts";

const MAX_AGE_SECONDS = 180 * 24 * 3600;
const ID_BYTES = 12;
const MAC_BYTES = 18;
/** Purposes of digests. */
const ACCOUNT = "device account";
const MARK = "device mark";

/** A browser that an account has signed in from. It identifies failed logins and is not a credential. */
export interface KnownDevice {
  id: string;
  /** The account's `accountTag`. */
  account: string;
}

const DEVICE = "sensorium_device";

/** Returns the tag that identifies an account without revealing the e-mail. */
export function accountTag(secrets: SecretBox, email: string): string {
  return secrets.digest(ID_BYTES, ACCOUNT, email.toLowerCase());
}

/** Whether a device cookie is of an account, by whichever key. */
export function isAccount(secrets: SecretBox, { account }: KnownDevice, email: string): boolean {
  return secrets.isDigest(account, ID_BYTES, ACCOUNT, email.toLowerCase());
}

/**
 * Returns the Set-Cookie that marks a browser after a sign-in. An account gets the same mark each time in the same
 * network, so that repeated sign-ins create no additional budgets for failures.
 */
export function deviceCookie(
  secrets: SecretBox,
  { email, network }: { email: string; network: string },
  publicUrl: string | null,
): string {
  const account = accountTag(secrets, email);
  const id = secrets.digest(ID_BYTES, "device", `${account} ${network}`);
  const value = [id, account, secrets.digest(MAC_BYTES, MARK, `${id} ${account}`)].join(".");
  return setCookie(DEVICE, value, `Max-Age=${MAX_AGE_SECONDS}`, publicUrl);
}

/** Returns the device in a Cookie header; null unless this installation issued it. */
export function knownDevice(
  secrets: SecretBox,
  header: string | undefined,
  publicUrl: string | null,
): KnownDevice | null {
  const [id, account, mac, more] = cookieValue(header, DEVICE, publicUrl)?.split(".") ?? [];
  if (!id || !account || !mac || more !== undefined) return null;
  return secrets.isDigest(mac, MAC_BYTES, MARK, `${id} ${account}`) ? { id, account } : null;
}
