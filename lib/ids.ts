import { hash, randomFillSync } from "node:crypto";

/** Kinds of resource with a prefixed id (spec: Conventions; api.md "Identifiers"). All others are UUIDv7. */
const PREFIXES = [
  "ag",
  "tn",
  "team",
  "evt",
  "dlv",
  "key",
  "rel",
  "ses",
  "clm",
  "req",
  "usr",
  "ch",
  "int",
  "feed",
  "whk",
  "con",
  "jti",
  "aud",
] as const;
export type Prefix = (typeof PREFIXES)[number];

const RANDOM_BYTES = 15; // 120 bits: 20 characters of base64url, which needs no padding.

/** A pattern for JSON Schema: `ag_` and at least one of the characters our ids use. */
export function idPattern(prefix: Prefix): string {
  return `^${prefix}_[A-Za-z0-9_-]{1,64}$`;
}

/**
 * A new id. With a seed (an honoured Idempotency-Key) the same request makes the same id again, so that a retry
 * after a crash meets the row that the first try wrote (api.md "Everywhere": effect and key are one).
 */
export function newId(prefix: Prefix, seed?: string): string {
  return `${prefix}_${seed ? digest(prefix, seed) : randomText()}`;
}

// Drawn a thousand at a time: one by one, randomness costs more than the rest of a request's bookkeeping.
const pool = Buffer.alloc(RANDOM_BYTES * 1000);
let drawn = pool.length;

function randomText(): string {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += RANDOM_BYTES;
  return pool.toString("base64url", drawn - RANDOM_BYTES, drawn);
}

/** An id that follows from the parts alone: the same parts always give the same id. */
export function derivedId(prefix: Prefix, ...parts: string[]): string {
  return `${prefix}_${digest(...parts)}`;
}

function digest(...parts: string[]): string {
  // Lengths keep ("ab","c") and ("a","bc") apart.
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return hash("sha256", text, "base64url").slice(0, 22);
}
