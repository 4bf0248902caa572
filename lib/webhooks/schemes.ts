import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Headers of a delivery, by lower-case name. */
export type DeliveryHeaders = Readonly<Record<string, string | undefined>>;

/** A request as its sender signed it. */
export interface SignedRequest {
  body: Uint8Array;
  headers: DeliveryHeaders;
  /** The addresses, with the query, under which the sender may know this server: Twilio signs its own. */
  urls?: readonly string[];
}

export type Content = readonly (string | Uint8Array)[];

/** A scheme's reading of a request. */
export interface Claim {
  /** The delivery's id, if it is signed too. */
  id?: string;
  /** Returns the content that the secret signed, in parts; null if it did not. */
  signedBy(secret: string): Content | null;
  /** Returns why a request with a valid signature is refused, if its time is in the body. */
  refuses?(): string | null;
}

export interface Scheme {
  name: string;
  /** The header that identifies the scheme, as the sender writes it; null if the proof is in the body. */
  header: string | null;
  /** The reason of a refusal. Default: the signature does not match. */
  mismatch?: string;
  /** Does all that needs no secret. Returns why no secret could make the request valid. @param now ms since the epoch */
  read(request: SignedRequest, now: number): Claim | string;
}

export const ALGORITHMS = ["sha256", "sha512", "sha1"] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/** An HMAC of the body, or of the time and the body, in a header. */
export interface Hmac {
  header: string;
  /** Default: sha256. */
  algorithm?: Algorithm | undefined;
  /** Default: hex. */
  encoding?: "hex" | "base64" | undefined;
  /** Precedes each signature in the header; others are ignored. */
  prefix?: string | undefined;
  /** Whether a signature without the prefix counts too. */
  bare?: boolean;
  /** The signed text, with `{timestamp}` and `{body}`. Default: the body alone. */
  template?: string | undefined;
  /** The header with the time: seconds or milliseconds since the epoch, or ISO 8601. */
  timestamp_header?: string | undefined;
  /** Precedes the time in its header. */
  timestamp_prefix?: string | undefined;
  /** How far the time may be from the present, either way: an older delivery may be a replay. Default: 300. */
  tolerance_seconds?: number | undefined;
}

export const TOLERANCE_SECONDS = 300;

/** Matches what follows a prefix in a header: several signatures, and a time, stand in one. */
const after = (prefix: string) => new RegExp(`(?<![^\\s,;])${RegExp.escape(prefix)}([^\\s,;]+)`, "g");

export function hmacScheme(name: string, spec: Hmac): Scheme {
  const { header, algorithm = "sha256", encoding = "hex", prefix = "", bare = false } = spec;
  const { template = "{body}", timestamp_header, timestamp_prefix = "", tolerance_seconds } = spec;
  const pieces = template.split(/(\{timestamp\}|\{body\})/);
  const decode = encoding === "hex" ? fromHex : fromBase64;
  const [signed, timed] = [[prefix, ...(bare ? [""] : [])].map(after), after(timestamp_prefix)];
  return {
    name,
    header,
    read(request, now) {
      const signatures = signed.flatMap((each) => parseValues(request, header, each)).map(decode);
      const [time = ""] = timestamp_header ? parseValues(request, timestamp_header, timed) : [];
      const content = pieces.map((piece) =>
        piece === "{body}" ? request.body : piece === "{timestamp}" ? time : piece,
      );
      const fault = timestamp_header ? timeFault(toSeconds(time), now, tolerance_seconds) : null;
      return fault ?? { signedBy: (secret) => signedContent(secret, content, signatures, algorithm) };
    },
  };
}

/** Your own sender. */
export const SERVICE = hmacScheme("service", {
  header: "X-Service-Signature",
  prefix: "sha256=",
  bare: true,
});

/** As WebSub signs, under the name of the newer header. */
export const HUB_256 = hmacScheme("github", {
  header: "X-Hub-Signature-256",
  prefix: "sha256=",
  bare: true,
});

/** As WebSub signs. */
export const HUB = hmacScheme("hub", { header: "X-Hub-Signature", prefix: "sha256=" });

/** Standard Webhooks: id, time and body, by the base64-decoded secret. Svix has its own names for the headers. */
function standardWebhooks(name: string, prefix: "webhook" | "svix"): Scheme {
  const [header, signed] = [`${prefix}-signature`, after("v1,")];
  return {
    name,
    header,
    read(request, now) {
      const [id, time] = [given(request, `${prefix}-id`), given(request, `${prefix}-timestamp`)];
      if (!id) return `no ${prefix}-id header`;
      const signatures = parseValues(request, header, signed).map(fromBase64);
      const parts = [`${id}.${time}.`, request.body];
      const signedBy = (secret: string) => {
        const key = standardKey(secret);
        return key && signedContent(key, parts, signatures);
      };
      return timeFault(toSeconds(time), now) ?? { id, signedBy };
    },
  };
}

export const STANDARD_WEBHOOKS = standardWebhooks("standard_webhooks", "webhook");
export const SVIX = standardWebhooks("svix", "svix");

/** Either alphabet, because senders show secrets in both. */
const BASE64 = /^(?:[A-Za-z0-9+/]+|[\w-]+)={0,2}$/;
const KEY_MIN_BYTES = 16;

/**
 * Returns the key in a secret of Standard Webhooks, base64 with or without `whsec_`; null for a shorter or malformed one,
 * from which a decoder would make a key that can be guessed.
 */
export function standardKey(secret: string): Buffer | null {
  const text = secret.replace(/^whsec_/, "");
  const key = BASE64.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  return key.length < KEY_MIN_BYTES ? null : key;
}

/** A token of X's challenge, whose HMAC anybody may get: no sender delivers a single word, so it counts as unsigned. */
export const CHALLENGE_TOKEN = /^[\w+/-]{8,256}={0,2}$/;
const LONGEST_TOKEN = 258;

/** Returns the content if one of the signatures is its HMAC. */
export function signedContent(
  key: string | Buffer,
  content: Content,
  signatures: readonly Buffer[],
  algorithm: Algorithm = "sha256",
): Content | null {
  const hmac = createHmac(algorithm, key);
  for (const part of content) hmac.update(part);
  const expected = hmac.digest();
  const isSigned = signatures.some(
    (each) => each.length === expected.length && timingSafeEqual(each, expected),
  );
  return isSigned && !isToken(content) ? content : null;
}

function isToken(content: Content): boolean {
  const size = content.reduce((sum, part) => sum + part.length, 0);
  if (size > LONGEST_TOKEN) return false;
  return CHALLENGE_TOKEN.test(content.map((part) => Buffer.from(part).toString("latin1")).join(""));
}

/** Compares in constant time. */
export function isSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

export const digest = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest();

/** Returns a header as it was received; "" without it. */
export const given = ({ headers }: SignedRequest, header: string) => headers[header.toLowerCase()] ?? "";

function parseValues(request: SignedRequest, header: string, pattern: RegExp): string[] {
  return Array.from(given(request, header).matchAll(pattern), ([, value = ""]) => value);
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;

/** @returns seconds since the epoch; NaN for a text that is no time */
function toSeconds(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  if (/^\d{13}$/.test(text)) return Number(text) / 1000;
  return ISO.test(text) ? Date.parse(text) / 1000 : Number.NaN;
}

/** @param seconds since the epoch @returns null for a time that is recent */
export function timeFault(seconds: number, now: number, tolerance = TOLERANCE_SECONDS): string | null {
  if (!Number.isFinite(seconds)) return "no timestamp";
  const age = now / 1000 - seconds;
  if (Math.abs(age) <= tolerance) return null;
  const most = tolerance === TOLERANCE_SECONDS ? "5 minutes" : `${tolerance} s`;
  return age > 0 ? `timestamp too old: more than ${most}` : `timestamp more than ${most} in the future`;
}

function fromHex(text: string): Buffer {
  return /^(?:[\da-f]{2})+$/i.test(text) ? Buffer.from(text, "hex") : Buffer.alloc(0);
}

/** Returns nothing for what no encoder writes: a decoder would pass over what follows. */
export function fromBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : Buffer.alloc(0);
}
