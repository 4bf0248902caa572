import { createHmac, timingSafeEqual } from "node:crypto";

/** Headers of a delivery, their names in lower case. */
export type DeliveryHeaders = Readonly<Record<string, string | undefined>>;

/** How far the timestamp of a signature may be off, either way: an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;

/** What one scheme makes of a delivery: what is signed before the body, by which key, and the signatures given. */
interface Claim {
  prefix: string;
  /** The delivery's id, where it is signed too. */
  id?: string;
  keyOf(secret: string): string | Buffer;
  signatures: Buffer[];
}

interface Scheme {
  /** The header that tells that it is meant. */
  header: string;
  /** Null for what is incomplete or too old. */
  read(headers: DeliveryHeaders, now: number): Claim | null;
}

const whole = (secret: string) => secret;

/** The hex HMAC of the body alone, `sha256=` before it or not. */
function bodyAlone(header: string): Scheme {
  const signatures = (given = "") => [fromHex(given.trim().replace(/^sha256=/, ""))];
  return {
    header,
    read: (headers) => ({ prefix: "", keyOf: whole, signatures: signatures(headers[header]) }),
  };
}

/** Standard Webhooks: id, time and body, keyed with what the secret is base64 of. Svix names the same headers its own way. */
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

/** A signature that holds. */
export interface Signature {
  /** The delivery's id, where the signature covers it. */
  id: string | null;
}

/**
 * The signature of a delivery with one of the secrets, by the first that it carries of: `X-Service-Signature` (spec:
 * Authentication 6), the same as GitHub names it (`X-Hub-Signature-256`), Standard Webhooks, Stripe's scheme. In
 * constant time for each secret, and hashing the body once for each. Null where none holds.
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
  // Of a secret that is no base64 nothing is left: anybody could sign with that.
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
