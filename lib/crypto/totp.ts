import { createHash } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import type { SecretBox } from "./secrets.ts";

const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Steps before and after the current one whose codes count, because clocks differ. */
const WINDOW = 1;
const CODE = /^\d{6}$/;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** Creates a secret for codes by time (RFC 6238), in base32; the same seed gives the same secret. */
export function newTotpSecret(secrets: SecretBox, seed?: string): string {
  const { buffer } = new Uint8Array(secrets.random(SECRET_BYTES, "totp", seed));
  return new Secret({ buffer }).base32;
}

/** Returns the address that authenticator apps read as a QR code. */
export function totpUri(secret: string, label: string): string {
  return totpOf(secret, label).toString();
}

/** Returns the time step whose code this is; null if it is none of those that count at a time. */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  // The library throws for characters of several bytes.
  if (!CODE.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

function totpOf(secret: string, label = ""): TOTP {
  return new TOTP({ issuer: "Sensorium", label, secret, period: PERIOD_SECONDS });
}

/** Creates codes of 80 bits, for people who have lost their authenticator: `abcd-efgh-ijkl-mnop`. */
export function newRecoveryCodes(secrets: SecretBox, seed?: string): string[] {
  const bytes = secrets.random(RECOVERY_CODES * RECOVERY_BYTES, "recovery codes", seed);
  return Array.from({ length: RECOVERY_CODES }, (_, i) => {
    const { buffer } = new Uint8Array(bytes.subarray(i * RECOVERY_BYTES, (i + 1) * RECOVERY_BYTES));
    return (new Secret({ buffer }).base32.toLowerCase().match(/.{4}/g) as string[]).join("-");
  });
}

/** Removes what people add to a code as they type it. */
export function plainCode(code: string): string {
  return code.replace(/[\s-]/g, "").toLowerCase();
}

/** Returns what is stored of a recovery code: its bits are random, so that a plain hash suffices. */
export function hashRecoveryCode(code: string): string {
  return createHash("sha256").update(plainCode(code)).digest("base64url");
}
