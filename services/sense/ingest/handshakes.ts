import type { Config } from "../../../config.ts";
import type { Call } from "../../../lib/access/caller.ts";
import type { DeliveryHeaders } from "../../../lib/webhooks/schemes.ts";
import type { Challenge, Sender } from "../../../lib/webhooks/sender.ts";
import { SENDERS } from "../../../lib/webhooks/senders.ts";
import type { Signed } from "./delivery-id.ts";
import { readDelivery } from "./enter.ts";
import { findPreset } from "./webhooks.ts";

/** How to answer a request that verifies the address. */
export interface Challenged {
  name: string;
  challenge: Challenge;
}

/** Returns how to answer an unsigned request that verifies the address; null for others. */
export function findChallenge(
  method: string,
  { target = "", raw }: { target?: string; raw: string },
): Challenged | null {
  const at = target.indexOf("?");
  if (at < 0) return null;
  const request = { method, query: new URLSearchParams(target.slice(at)), empty: raw === "" };
  for (const [name, { handshake }] of SENDERS) {
    const challenge = handshake?.challenge?.(request);
    if (challenge) return { name, challenge };
  }
  return null;
}

/** Returns the sender of a signed delivery; undefined for a scheme of none. */
export function senderOf({ webhook, signature }: Signed): Sender | undefined {
  const preset = findPreset(webhook);
  if (preset) return preset;
  return [...SENDERS.values()].find(({ schemes }) => schemes.some(({ name }) => name === signature.scheme));
}

const LONGEST_HANDSHAKE = 4096;

/** Returns the answer to a signed verification of the address; null for other deliveries. */
export function answerIn(signed: Signed, sender: Sender | undefined): object | null {
  if (!sender?.handshake?.answer || signed.body.length > LONGEST_HANDSHAKE) return null;
  const read = readDelivery(signed);
  if (Array.isArray(read) || "error" in read) return null;
  return sender.handshake.answer(Object(read.payload), signed.secret);
}

export const TEXT = "text/plain; charset=utf-8";

export function answered<T extends string | object>(ctx: Call, answer: T): T {
  ctx.meta.$statusCode = 200;
  ctx.meta.$responseHeaders = { "X-Content-Type-Options": "nosniff" };
  if (typeof answer === "string") ctx.meta.$responseType = TEXT;
  return answer;
}

/** A DNS expression, optionally with a scheme or a port: a sender's name for itself. */
const ORIGIN = /^[\w.*:/-]{1,255}$/;

/**
 * Answers a validation request of the CloudEvents specification "Web Hooks for Event Delivery", 4.1. Any sender may try
 * to deliver to any address: signatures decide, and the answer must not reveal which addresses exist. A callback
 * (`WebHook-Request-Callback`) is never called, as anyone could choose where this server connects to.
 */
export function permissionFor(
  headers: DeliveryHeaders,
  { WEBHOOKS_PER_MINUTE: most }: Pick<Config, "WEBHOOKS_PER_MINUTE">,
) {
  const origin = headers["webhook-request-origin"];
  if (origin === undefined || !ORIGIN.test(origin)) return { allowed_origin: null, allowed_rate: null };
  const wanted = headers["webhook-request-rate"] ?? "";
  const rate = /^[1-9]\d{0,8}$/.test(wanted) ? Number(wanted) : Number.POSITIVE_INFINITY;
  const allowed = Math.min(rate, most || Number.POSITIVE_INFINITY);
  return { allowed_origin: origin, allowed_rate: Number.isFinite(allowed) ? String(allowed) : "*" };
}

export function toHeaders({
  allowed_origin,
  allowed_rate,
}: ReturnType<typeof permissionFor>): Record<string, string> {
  return {
    Allow: "POST, OPTIONS",
    ...(allowed_origin !== null && { "WebHook-Allowed-Origin": allowed_origin }),
    ...(allowed_rate !== null && { "WebHook-Allowed-Rate": allowed_rate }),
  };
}
