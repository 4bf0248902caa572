import { createHmac, timingSafeEqual } from "node:crypto";

/** Headers of a delivery, by lower-case name. */
export type DeliveryHeaders = Readonly<Record<string, string | undefined>>;

/** Tolerance of a signature's timestamp, either way: an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;

/** A scheme's reading of a delivery: the prefix signed before the body, the key, and the given signatures. */
interface Claim {
  prefix: string;
  /** The delivery's id, if it is signed too. */
  id?: string;
  keyOf(secret: string): string | Buffer;
  signatures: Buffer[];
}

interface Scheme {
  /** The header that identifies the scheme. */
  header: string;
  /** Returns null for an incomplete or outdated delivery. */
  read(headers: DeliveryHeaders, now: number): Claim | null;
}

const whole = (secret: string) => secret;

/** The hex HMAC of the body alone, with or without `sha256=`. */
function bodyAlone(header: string): Scheme {
  const signatures = (given = "") => [fromHex(given.trim().replace(/^sha256=/, ""))];
  return {
    header,
    read: (headers) => ({ prefix: "", keyOf: whole, signatures: signatures(headers[header]) }),
  };
}

/**
 * Standard Webhooks: id, time and body, with the base64-decoded secret as the key. Svix has its own names for the
 * headers.
 */
function standardWebhooks(name: "webhook" | "svix"): Scheme {
  const header = `${name}-signature`;
  return {
    header,
    read(headers, now) {
      const { [`${name}-id`]: id, [`${name}-timestamp`]: time = "", [header]: given = "" } = headers;
      if (!id || !isRecent(time, now)) return null;
      return {
        prefix: `${id}.${time}.`,
        id,
        keyOf: (secret) => Buffer.from(secret.replace(/^whsec_/, ""), "base64"),
        signatures: valuesOf(given.split(" "), "v1,").map((value) => Buffer.from(value, "base64")),
      };
    },
  };
}

/** Stripe: time and body, `t=…,v1=…`. */
const stripe: Scheme = {
  header: "stripe-signature",
  read(headers, now) {
    const parts = headers["stripe-signature"]?.split(",") ?? [];
    const [time = ""] = valuesOf(parts, "t=");
    if (!isRecent(time, now)) return null;
    return { prefix: `${time}.`, keyOf: whole, signatures: valuesOf(parts, "v1=").map(fromHex) };
  },
};

const SCHEMES: readonly Scheme[] = [
  bodyAlone("x-service-signature"),
  bodyAlone("x-hub-signature-256"),
  standardWebhooks("webhook"),
  standardWebhooks("svix"),
  stripe,
];

/** A valid signature. */
export interface Signature {
  /** The delivery's id, if the signature covers it. */
  id: string | null;
}

/**
 * Verifies a delivery with each of the secrets, under the first scheme whose header it carries: `X-Service-Signature`
 * (spec: Authentication 6), GitHub's equivalent (`X-Hub-Signature-256`), Standard Webhooks, Stripe. Takes constant time
 * per secret and hashes the body once for each. Returns null if none is valid.
 *
 * @param now Milliseconds since the epoch.
 */
export function signatureOf(
  body: Uint8Array,
  headers: DeliveryHeaders,
  secrets: readonly string[],
  now: number,
): Signature | null {
  const scheme = SCHEMES.find(({ header }) => headers[header] !== undefined);
  const claim = scheme?.read(headers, now);
  return claim && secrets.some((secret) => holds(claim, secret, body)) ? { id: claim.id ?? null } : null;
}

function holds({ prefix, keyOf, signatures }: Claim, secret: string, body: Uint8Array): boolean {
  const key = keyOf(secret);
  // A secret that is not base64 decodes to nothing, with which anybody could sign.
  if (key.length === 0) return false;
  const expected = createHmac("sha256", key).update(prefix).update(body).digest();
  return signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

function valuesOf(parts: string[], label: string): string[] {
  return parts.flatMap((part) => (part.trim().startsWith(label) ? part.trim().slice(label.length) : []));
}

function isRecent(timestamp: string, now: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
}

function fromHex(text: string): Buffer {
  return /^[\da-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.alloc(0);
}
