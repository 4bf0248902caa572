import { argon2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { SecretBox } from "./secrets.ts";

const derive = promisify(argon2);

/** A stored password: the Argon2id tag with the parameters to compute it again. */
export interface PasswordHash {
  algorithm: "argon2id";
  /** KiB. */
  memory: number;
  passes: number;
  parallelism: number;
  salt: string;
  tag: string;
}

// The second of the equivalent choices in OWASP's password storage cheat sheet: 19 MiB, 2 passes.
const COST = { algorithm: "argon2id", memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const SALT = /^[\w-]{22}$/;
const TAG = /^[\w-]{43}$/;
const NEW_PASSWORD_BYTES = 18;

/** Returns a random password for a new user; the same one for the same seed (an honoured Idempotency-Key). */
export function newPassword(secrets: SecretBox, seed?: string): string {
  return secrets.random(NEW_PASSWORD_BYTES, "password", seed).toString("base64url");
}

/**
 * Hashes a password, on another thread. All accounts of an e-mail, in all tenants, share a salt: one computation
 * compares a password with all of them, so its time does not reveal how many there are.
 */
export async function hashPassword(
  password: string,
  secrets: SecretBox,
  email: string,
): Promise<PasswordHash> {
  const hash: PasswordHash = { ...COST, salt: deriveSalt(secrets, email), tag: "" };
  return { ...hash, tag: (await compute(password, hash.salt)).toString("base64url") };
}

// Takes as long as a real hash and matches no password.
const NOBODY: PasswordHash = {
  ...COST,
  salt: "A".repeat(22),
  tag: Buffer.alloc(TAG_BYTES).toString("base64url"),
};

function deriveSalt(secrets: SecretBox, email: string): string {
  return secrets.digest(SALT_BYTES, "password salt", email.toLowerCase());
}

/** Whether a hash uses its e-mail's shared salt; hashes of older versions have separate salts. */
export function hasSharedSalt({ salt }: PasswordHash, secrets: SecretBox, email: string): boolean {
  return salt === deriveSalt(secrets, email);
}

/** Returns which of these hashes match a password, in order, by one computation per salt, and one without hashes. */
export async function fitsPassword(password: string, stored: readonly PasswordHash[]): Promise<boolean[]> {
  const known = stored.filter(isKnown);
  const tags = new Map<string, Buffer>();
  for (const salt of new Set((known.length ? known : [NOBODY]).map((hash) => hash.salt)))
    tags.set(salt, await compute(password, salt));
  const fits = ({ salt, tag }: PasswordHash) =>
    timingSafeEqual(tags.get(salt) as Buffer, Buffer.from(tag, "base64url"));
  return stored.map((hash) => isKnown(hash) && fits(hash));
}

/** Whether a password is the stored one. Takes equally long without a stored one (an unknown user). */
export async function isPassword(password: string, stored: PasswordHash | null): Promise<boolean> {
  const [fits] = await fitsPassword(password, stored ? [stored] : []);
  return fits === true;
}

/** Whether a hash has the cost of ours: another one fits no password, so that no row decides what a sign-in costs. */
export function isKnown({ salt, tag, ...cost }: PasswordHash): boolean {
  const isOurs = Object.entries(COST).every(([name, value]) => cost[name as keyof typeof COST] === value);
  return isOurs && SALT.test(salt) && TAG.test(tag);
}

function compute(password: string, salt: string): Promise<Buffer> {
  const { algorithm, ...cost } = COST;
  const message = password.normalize("NFKC");
  return derive(algorithm, { message, nonce: Buffer.from(salt, "base64url"), tagLength: TAG_BYTES, ...cost });
}
