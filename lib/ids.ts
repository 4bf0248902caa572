import { hash, randomBytes, randomFillSync } from "node:crypto";

/** Kinds of resource with a prefixed id, by it (spec: Conventions; api.md "Identifiers"). All others are UUIDv7. */
export const PREFIXED = {
  ag: "agent",
  tn: "tenant",
  team: "team",
  evt: "event",
  dlv: "delivery",
  key: "API key",
  rel: "relationship",
  ses: "device session",
  clm: "claim",
  req: "request",
  sid: "sign-in",
  usr: "user",
  ch: "channel",
  int: "interest",
  feed: "feed",
  whk: "webhook",
  con: "connector",
  sch: "schedule",
  jti: "token",
  aud: "audit entry",
} as const;
export type Prefix = keyof typeof PREFIXED;

/** The tenant of rows that belong to none. */
export const INSTALLATION = "installation";

const RANDOM_BYTES = 15; // 120 bits: 20 characters of base64url, which needs no padding.

/** Returns a pattern for JSON Schema: `ag_` and at least one character of ids. */
export function idPattern(prefix: Prefix): string {
  return `^${prefix}_[A-Za-z0-9_-]{1,64}$`;
}

/**
 * Returns a new id. With a seed (an honoured Idempotency-Key) the same request creates the same id, so that a retry
 * after a crash finds the row of the first attempt (api.md "Everywhere": effect and key are one).
 */
export function newId(prefix: Prefix, seed?: string): string {
  return `${prefix}_${seed ? digest(prefix, seed) : randomText()}`;
}

// Drawn a thousand at a time: single draws cost more than the rest of a request's bookkeeping.
const pool = Buffer.alloc(RANDOM_BYTES * 1000);
let drawn = pool.length;

function draw(bytes: number): Buffer {
  if (drawn + bytes > pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += bytes;
  return pool.subarray(drawn - bytes, drawn);
}

function randomText(): string {
  return draw(RANDOM_BYTES).toString("base64url");
}

export function derivedId(prefix: Prefix, ...parts: string[]): string {
  return `${prefix}_${digest(...parts)}`;
}

/** Returns the id of a row that these parts alone address, of any length. */
export function addressId(...parts: string[]): string {
  return hash("sha256", JSON.stringify(parts), "base64url");
}

function digest(...parts: string[]): string {
  // Lengths keep ("ab","c") and ("a","bc") apart.
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return hash("sha256", text, "base64url").slice(0, 22);
}

/**
 * Returns a new UUIDv7. Later ids sort later, strictly within one process. The same seed gives the same id; its time is
 * that of the UUIDv7 in the seed, if any (that of an honoured Idempotency-Key has one).
 *
 * @param nth number of the id among those of one seed, up to 4,095; they sort by it
 */
export function newUuid(seed?: string, nth = 0): string {
  return seed ? seededUuid(seed, nth) : freshUuid();
}

const COUNTER_BITS = 12;
let lastMs = 0;
let counter = 0;

function freshUuid(): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
    // The clock stands still, goes back or is asked too often: the counter overflows into the time.
  } else if (++counter >> COUNTER_BITS) {
    lastMs++;
    counter = 0;
  }
  const random = draw(8);
  random[0] = ((random[0] as number) & 0x3f) | 0x80;
  const tail = random.toString("hex");
  return formatUuid(lastMs.toString(16).padStart(12, "0"), counted(counter), tail);
}

/** The UUIDs in a text of lower case. */
export const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const UUID = new RegExp(`^${UUIDS.source}$`, "i");

/** Whether a text is a UUID, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const UUID_V7_TIME = /([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

function seededUuid(seed: string, nth: number): string {
  const digest = hash("sha256", `${nth} ${seed}`, "buffer");
  const time = UUID_V7_TIME.exec(seed);
  digest[8] = ((digest[8] as number) & 0x3f) | 0x80;
  const hex = digest.toString("hex", 0, 16);
  return formatUuid(time ? `${time[1]}${time[2]}` : hex.slice(0, 12), counted(nth), hex.slice(16));
}

function counted(n: number): string {
  return n.toString(16).padStart(3, "0");
}

function formatUuid(time: string, middle: string, tail: string): string {
  return `${time.slice(0, 8)}-${time.slice(8)}-7${middle}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

/** Returns a maker of ids of contexts. A request has several contexts, and Moleculer's own ids join 20 random parts. */
export function contextIds(): () => string {
  const process_id = randomBytes(6).toString("base64url");
  let contexts = 0;
  return () => `${process_id}${(++contexts).toString(36)}`;
}
