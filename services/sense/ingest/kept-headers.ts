import type { DeliveryHeaders } from "../../../lib/webhooks/schemes.ts";
import { SENDERS } from "../../../lib/webhooks/senders.ts";
import { headerName } from "./mapping.ts";

/** Headers as they are kept: null for a hidden value. */
export type KeptHeaders = Record<string, string | null>;

/** Characters of the headers kept of a request. */
const MAX_LENGTH = 1500;

/** Sent with every request. */
const COMMON =
  /^(?:host|connection|accept|content-(?:length|encoding)|user-agent|forwarded|via|x-forwarded|x-real-ip|te$|trace)/;

/** Of known senders: a delivery's id and what it is about. */
const OF_SENDERS = new Set(
  [...SENDERS.values()].flatMap(({ delivery = "", topic = [] }) => [delivery, ...topic]),
);

/** Never kept, even if a mapping uses them. */
const SECRET = /auth|cookie|signature|hmac|token|secret|key|passw|session|credential/;

/** Names by which senders say what a request is about. */
const TELLING =
  /^(?:content-type|ce-.+|(?:webhook|svix|request)-(?:id|timestamp)|x-shopify-.+|x-github-.+|x-gitlab-(?:event|instance)(?:-uuid)?|sentry-hook-.+|linear-.+|x-slack-.+)$|(?:^|-)(?:event|topic|type|kind|action|resource|delivery|shop|domain|version|timestamp)$/;

/**
 * Returns the headers of a request that may be stored, to try another mapping on: those that say what it is about, and
 * those that its mapping uses. The values of others may be credentials, so only their names are kept.
 */
export function keptHeaders(
  headers: DeliveryHeaders,
  terms: readonly (string | null | undefined)[],
): KeptHeaders {
  const used = new Set(terms.map(headerName));
  const kept: KeptHeaders = {};
  let length = 0;
  for (const [name, value = ""] of Object.entries(headers)) {
    if (COMMON.test(name)) continue;
    const isShown = OF_SENDERS.has(name) || (!SECRET.test(name) && (used.has(name) || TELLING.test(name)));
    const longer = length + name.length + (isShown ? value.length : 0);
    if (longer > MAX_LENGTH) continue;
    length = longer;
    kept[name] = isShown ? value : null;
  }
  return kept;
}

/** The fields of a registration that decide about the headers. */
export interface Mapped {
  source: string;
  mapping: string | Partial<Record<"entity" | "action" | "id" | "subject" | "data", string | null>>;
}

export function termsOf({ source, mapping }: Mapped): (string | null | undefined)[] {
  return typeof mapping === "string" ? [source] : [source, ...Object.values(mapping)];
}
