import { createHash } from "node:crypto";
import type { SecretBox } from "../crypto/secrets.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LENGTH = 32;
const BYTES = 4 * LENGTH;
const PURPOSE = "api-key";
const START = "ak_live_";
const SHOWN = START.length + 4;
// Larger bytes would make the first letters more likely than the others.
const UNBIASED = 256 - (256 % LETTERS.length);

export const API_KEY_PATTERN = `^${START}[A-Za-z0-9]{${LENGTH}}$`;

/** Returns a new API key; the same key for the same seed (an honoured Idempotency-Key). */
export function newApiKey(secrets: SecretBox, seed?: string): string {
  return toKey(secrets.random(BYTES, PURPOSE, seed));
}

/** Returns the API key of a seed that has a hash: it may be from before the installation's key was replaced. */
export function findApiKey(secrets: SecretBox, seed: string, hash: string): string | undefined {
  return secrets
    .derivations(BYTES, PURPOSE, seed)
    .map(toKey)
    .find((key) => hashApiKey(key) === hash);
}

function toKey(bytes: Buffer): string {
  const unbiased = bytes.filter((byte) => byte < UNBIASED).subarray(0, LENGTH);
  return START + Array.from(unbiased, (byte) => LETTERS[byte % LETTERS.length]).join("");
}

/** Returns the stored form of a key. A key has 190 random bits, so a fast hash is as safe as a slow one. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}

/** Returns the beginning of a key, by which people distinguish their keys. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, SHOWN);
}
