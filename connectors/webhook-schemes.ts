import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { mediaTypeOf } from "../lib/http/media-type.ts";

/** Headers of a delivery, by lower-case name. */
export type DeliveryHeaders = Readonly<Record<string, string | undefined>>;

/** A request as its sender signed it. */
export interface SignedRequest {
  body: Uint8Array;
  headers: DeliveryHeaders;
  /** The addresses, with the query, under which the sender may know this server: Twilio signs its own. */
  urls?: readonly string[];
}

type Content = readonly (string | Uint8Array)[];

/** A scheme's reading of a request. */
export interface Claim {
  /** The delivery's id, if it is signed too. */
  id?: string;
  /** Returns the content that the secret signed, in parts; null if it did not. */
  signedBy(secret: string): Content | null;
  /** Returns why a request with a valid signature is refused, if its time is in the body. */
  refuses?(): string | null;
}

/** How requests are signed. */
const SCHEME_NAMES = [
  "service",
  "github",
  "standard_webhooks",
  "svix",
  "stripe",
  "slack",
  "gitlab_token",
  "shopify",
  "twilio",
  "linear",
  "sentry",
] as const;
export type SchemeName = (typeof SCHEME_NAMES)[number];

export interface Scheme {
  name: SchemeName;
  /** The header that identifies the scheme, as the sender writes it. */
  header: string;
  /**
   * Does all that does not depend on the secret. Returns the reason instead for a request that no secret could make
   * valid. @param now ms since the epoch
   */
  read(request: SignedRequest, now: number): Claim | string;
}

/** Tolerance of a signature's timestamp, either way: an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;
const FORM = "application/x-www-form-urlencoded";
/** Twilio's forms have some dozens of short fields. They are parsed before their signature is checked. */
const FORM_MAX_BYTES = 65_536;
const FORM_MAX_FIELDS = 256;
const AMPERSAND = 0x26;

const given = ({ headers }: SignedRequest, header: string) => headers[header.toLowerCase()] ?? "";

/** The HMAC-SHA256 of the body alone. */
function bodyAlone(name: SchemeName, header: string, decode: (text: string) => Buffer = fromHex): Scheme {
  return {
    name,
    header,
    read(request) {
      const signatures = [decode(given(request, header).trim())];
      return { signedBy: (secret) => signedContent(secret, [request.body], signatures) };
    },
  };
}

/**
 * Standard Webhooks: id, time and body, with the base64-decoded secret as the key. Svix has its own names for the
 * headers.
 */
function standardWebhooks(name: SchemeName, prefix: "webhook" | "svix"): Scheme {
  const header = `${prefix}-signature`;
  return {
    name,
    header,
    read(request, now) {
      const [id, time] = [given(request, `${prefix}-id`), given(request, `${prefix}-timestamp`)];
      if (!id) return `no ${prefix}-id header`;
      const signatures = parseValues(given(request, header).split(" "), "v1,").map(fromBase64);
      const parts = [`${id}.${time}.`, request.body];
      const signedBy = (secret: string) => {
        const key = standardKey(secret);
        return key && signedContent(key, parts, signatures);
      };
      return timeFault(time, now) ?? { id, signedBy };
    },
  };
}

/** Either alphabet, because senders show secrets in both. */
const BASE64 = /^(?:[A-Za-z0-9+/]+|[\w-]+)={0,2}$/;
const KEY_MIN_BYTES = 16;

/**
 * Returns the key in a secret of Standard Webhooks, base64 with or without `whsec_`; null for a shorter or malformed one,
 * of which a decoder would make a key that can be guessed.
 */
export function standardKey(secret: string): Buffer | null {
  const text = secret.replace(/^whsec_/, "");
  const key = BASE64.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  return key.length < KEY_MIN_BYTES ? null : key;
}

/** Stripe: time and body, `t=…,v1=…`. */
const stripe: Scheme = {
  name: "stripe",
  header: "Stripe-Signature",
  read(request, now) {
    const parts = given(request, "Stripe-Signature").split(",");
    const [time = ""] = parseValues(parts, "t=");
    const signatures = parseValues(parts, "v1=").map(fromHex);
    const content = [`${time}.`, request.body];
    return timeFault(time, now) ?? { signedBy: (secret) => signedContent(secret, content, signatures) };
  },
};

/** Slack: version, time and body. */
const slack: Scheme = {
  name: "slack",
  header: "X-Slack-Signature",
  read(request, now) {
    const time = given(request, "X-Slack-Request-Timestamp");
    const signatures = parseValues([given(request, "X-Slack-Signature")], "v0=").map(fromHex);
    const content = [`v0:${time}:`, request.body];
    return timeFault(time, now) ?? { signedBy: (secret) => signedContent(secret, content, signatures) };
  },
};

/** GitLab's secret token is sent as it is, so its other headers are as trustworthy as the body. */
const gitlabToken: Scheme = {
  name: "gitlab_token",
  header: "X-Gitlab-Token",
  read(request) {
    const id = given(request, "Idempotency-Key");
    const token = digest(given(request, "X-Gitlab-Token"));
    const signedBy = (secret: string) => (timingSafeEqual(digest(secret), token) ? [request.body] : null);
    return { ...(id && { id }), signedBy };
  },
};

/** Linear: the body, which contains the time in milliseconds. */
const linear: Scheme = {
  name: "linear",
  header: "Linear-Signature",
  read(request, now) {
    const signatures = [fromHex(given(request, "Linear-Signature"))];
    return {
      signedBy: (secret) => signedContent(secret, [request.body], signatures),
      refuses: () => timeFault(linearSeconds(request.body), now),
    };
  },
};

/** Twilio: HMAC-SHA1 of the address and the sorted fields of a form, or the address with a hash of another body. */
const twilio: Scheme = {
  name: "twilio",
  header: "X-Twilio-Signature",
  read(request) {
    const { body, urls = [] } = request;
    const signature = fromBase64(given(request, "X-Twilio-Signature"));
    const hash = /[?&]bodySHA256=([\da-f]{64})(?:&|$)/i.exec(urls[0] ?? "")?.[1];
    if (hash && !timingSafeEqual(Buffer.from(hash, "hex"), digest(body)))
      return "bodySHA256 does not match the body";
    const isForm = mediaTypeOf(given(request, "Content-Type")) === FORM;
    if (!hash && !isForm && body.length > 0) return "the signature does not cover the body: it is not a form";
    const fields = hash ? "" : signedFields(body);
    if (fields === null)
      return `the form is larger than ${FORM_MAX_BYTES} bytes, has more than ${FORM_MAX_FIELDS} fields, or has one twice`;
    const contents = [...new Set(urls.flatMap(listEquivalents))].map((url) => [url, fields]);
    return {
      signedBy: (secret) =>
        contents.find((content) => signedContent(secret, content, [signature], "sha1")) ?? null,
    };
  },
};

/** All schemes; the first whose header a request has counts. */
export const SCHEMES: readonly Scheme[] = [
  bodyAlone("service", "X-Service-Signature", fromPrefixedHex),
  bodyAlone("github", "X-Hub-Signature-256", fromPrefixedHex),
  standardWebhooks("standard_webhooks", "webhook"),
  standardWebhooks("svix", "svix"),
  stripe,
  slack,
  gitlabToken,
  bodyAlone("shopify", "X-Shopify-Hmac-Sha256", fromBase64),
  twilio,
  linear,
  bodyAlone("sentry", "Sentry-Hook-Signature"),
];

/** Returns the content if one of the signatures is its HMAC. */
function signedContent(
  key: string | Buffer,
  content: Content,
  signatures: readonly Buffer[],
  algorithm: "sha256" | "sha1" = "sha256",
): Content | null {
  const hmac = createHmac(algorithm, key);
  for (const part of content) hmac.update(part);
  const expected = hmac.digest();
  const isSigned = signatures.some(
    (each) => each.length === expected.length && timingSafeEqual(each, expected),
  );
  return isSigned ? content : null;
}

const digest = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest();

function parseValues(parts: string[], label: string): string[] {
  return parts.flatMap((part) => (part.trim().startsWith(label) ? part.trim().slice(label.length) : []));
}

/** @param seconds since the epoch @returns null for a time that is recent */
function timeFault(seconds: string, now: number): string | null {
  if (!/^\d{1,12}$/.test(seconds)) return "no timestamp";
  const age = now / 1000 - Number(seconds);
  if (Math.abs(age) <= TOLERANCE_SECONDS) return null;
  return age > 0 ? "timestamp too old: more than 5 minutes" : "timestamp more than 5 minutes in the future";
}

function linearSeconds(body: Uint8Array): string {
  try {
    return String(Math.floor(JSON.parse(Buffer.from(body).toString("utf8")).webhookTimestamp / 1000));
  } catch {
    return "";
  }
}

/**
 * Returns each field's name and value, in the order of the names; null for a form that Twilio would not send. Twilio
 * signs a repeated field as one, so a repetition could be added to a signed form.
 */
function signedFields(form: Uint8Array): string | null {
  if (form.length > FORM_MAX_BYTES) return null;
  let most = 1;
  for (const byte of form) if (byte === AMPERSAND && ++most > FORM_MAX_FIELDS) return null;
  const fields = [...new URLSearchParams(Buffer.from(form).toString("utf8"))];
  const values = new Map(fields);
  if (values.size < fields.length) return null;
  return [...values.keys()]
    .sort()
    .map((name) => name + values.get(name))
    .join("");
}

/**
 * Returns the spellings of an address that mean the same: Twilio signs some with the usual port and some without, and
 * the escapes that its user configured, which are not always those of the request.
 */
function listEquivalents(url: string): string[] {
  const [, scheme = "", host = "", port, rest = ""] =
    /^(https?):\/\/(\[[^\]]*\]|[^/:?#]*)(?::(\d+))?(.*)$/s.exec(url) ?? [];
  const usual = scheme === "https" ? "443" : "80";
  const hosts = [`${scheme}://${host}`, `${scheme}://${host}:${port ?? usual}`];
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(rest) ?? [];
  const queries = listSpellings(query);
  const rests = listSpellings(path).flatMap((each) => queries.map((one) => each + one));
  return rests.slice(0, MOST_SPELLINGS).flatMap((each) => hosts.map((one) => one + each));
}

/** Each costs a hash of the content. Addresses with few escapes have few. */
const MOST_SPELLINGS = 32;
/** What libraries escape: as `encodeURI`, as `encodeURIComponent`, or all. */
const ESCAPED = [
  /[^\x21-\x7e]|["<>[\\\]^`{|}]/gu,
  /[^\x21-\x7e]|["<>[\\\]^`{|}$,:;@]/gu,
  /[^\x21-\x7e]|["<>[\\\]^`{|}$,:;@!'()*]/gu,
];
/** Always escaped, because it would mean something else. */
const STRUCTURAL = /[\0- \x7f%#/?&=+]/g;

function listSpellings(text: string): string[] {
  const plain = text.replace(/(?:%[\da-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run).replace(STRUCTURAL, percent);
    } catch {
      return run.toUpperCase();
    }
  });
  const escaped = ESCAPED.map((characters) => plain.replace(characters, percent));
  const lower = escaped.map((each) => each.replace(/%[\dA-F]{2}/g, (one) => one.toLowerCase()));
  return [...new Set([text, plain, ...escaped, ...lower])];
}

function percent(character: string): string {
  const bytes = [...Buffer.from(character)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

function fromPrefixedHex(text: string): Buffer {
  return fromHex(text.replace(/^sha256=/, ""));
}

function fromHex(text: string): Buffer {
  return /^[\da-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.alloc(0);
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, "base64");
}
