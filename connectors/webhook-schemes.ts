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

/** A scheme's reading of a request. */
interface Claim {
  /** The delivery's id, if it is signed too. */
  id?: string;
  matches(secret: string): boolean;
  /** Returns why a request with a valid signature is refused, if its time is in the body. */
  refuses?(): string | null;
}

/** How requests are signed. */
export const SCHEME_NAMES = [
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

interface Scheme {
  name: SchemeName;
  /** The header that identifies the scheme, as the sender writes it. */
  header: string;
  /** Returns the reason instead for a request that no secret could make valid. @param now ms since the epoch */
  read(request: SignedRequest, now: number): Claim | string;
}

/** Tolerance of a signature's timestamp, either way: an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;
const FORM = "application/x-www-form-urlencoded";
/** Twilio's forms have some hundred bytes. A form is parsed before its signature is checked. */
const FORM_MAX_BYTES = 65_536;

const given = ({ headers }: SignedRequest, header: string) => headers[header.toLowerCase()] ?? "";

/** The HMAC-SHA256 of the body alone. */
function bodyAlone(name: SchemeName, header: string, decode: (text: string) => Buffer = fromHex): Scheme {
  return {
    name,
    header,
    read: (request) => ({
      matches: (secret) => isHmac(secret, [request.body], [decode(given(request, header).trim())]),
    }),
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
      const signatures = valuesOf(given(request, header).split(" "), "v1,").map(fromBase64);
      const parts = [`${id}.${time}.`, request.body];
      const keyOf = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      return timeFault(time, now) ?? { id, matches: (secret) => isHmac(keyOf(secret), parts, signatures) };
    },
  };
}

/** Stripe: time and body, `t=…,v1=…`. */
const stripe: Scheme = {
  name: "stripe",
  header: "Stripe-Signature",
  read(request, now) {
    const parts = given(request, "Stripe-Signature").split(",");
    const [time = ""] = valuesOf(parts, "t=");
    const signatures = valuesOf(parts, "v1=").map(fromHex);
    const matches = (secret: string) => isHmac(secret, [`${time}.`, request.body], signatures);
    return timeFault(time, now) ?? { matches };
  },
};

/** Slack: version, time and body. */
const slack: Scheme = {
  name: "slack",
  header: "X-Slack-Signature",
  read(request, now) {
    const time = given(request, "X-Slack-Request-Timestamp");
    const signatures = valuesOf([given(request, "X-Slack-Signature")], "v0=").map(fromHex);
    const matches = (secret: string) => isHmac(secret, [`v0:${time}:`, request.body], signatures);
    return timeFault(time, now) ?? { matches };
  },
};

/** GitLab's secret token is sent as it is, so its other headers are as trustworthy as the body. */
const gitlabToken: Scheme = {
  name: "gitlab_token",
  header: "X-Gitlab-Token",
  read(request) {
    const id = given(request, "Idempotency-Key");
    const token = digest(given(request, "X-Gitlab-Token"));
    return { ...(id && { id }), matches: (secret) => timingSafeEqual(digest(secret), token) };
  },
};

/** Linear: the body, which contains the time in milliseconds. */
const linear: Scheme = {
  name: "linear",
  header: "Linear-Signature",
  read(request, now) {
    const signatures = [fromHex(given(request, "Linear-Signature"))];
    return {
      matches: (secret) => isHmac(secret, [request.body], signatures),
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
    if (isForm && body.length > FORM_MAX_BYTES) return `the form is larger than ${FORM_MAX_BYTES} bytes`;
    const fields = hash ? "" : sortedFields(Buffer.from(body).toString("utf8"));
    const texts = [...new Set(urls.flatMap(withAndWithoutPort))];
    return { matches: (secret) => texts.some((url) => isHmac(secret, [url, fields], [signature], "sha1")) };
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

function isHmac(
  key: string | Buffer,
  parts: readonly (string | Uint8Array)[],
  signatures: readonly Buffer[],
  algorithm: "sha256" | "sha1" = "sha256",
): boolean {
  // A secret that is not base64 decodes to nothing, with which anybody could sign.
  if (key.length === 0) return false;
  const hmac = createHmac(algorithm, key);
  for (const part of parts) hmac.update(part);
  const expected = hmac.digest();
  return signatures.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
}

const digest = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest();

function valuesOf(parts: string[], label: string): string[] {
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

/** Returns each field's name and values, in the order of the names. */
function sortedFields(form: string): string {
  const fields = Map.groupBy(new URLSearchParams(form), ([name]) => name);
  const names = [...fields.keys()].sort();
  return names
    .map((name) =>
      valuesIn(fields.get(name) ?? [])
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}

const valuesIn = (pairs: [string, string][]) => [...new Set(pairs.map(([, value]) => value))].sort();

/** Twilio signs some addresses with the usual port and some without. */
function withAndWithoutPort(url: string): string[] {
  const [, scheme = "", host = "", port, rest = ""] =
    /^(https?):\/\/(\[[^\]]*\]|[^/:?#]*)(?::(\d+))?(.*)$/s.exec(url) ?? [];
  const usual = scheme === "https" ? "443" : "80";
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}:${port ?? usual}${rest}`];
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
