import type { Config } from "../../../config.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** A DNS expression, optionally with a scheme or a port: a sender's name for itself. */
const ORIGIN = /^[\w.*:/-]{1,255}$/;

/** The permission for a sender: null if it did not ask. */
interface Permission {
  allowed_origin: string | null;
  /** Webhooks per minute, or `*`. */
  allowed_rate: string | null;
}

/**
 * Answers a validation request of the CloudEvents specification "Web Hooks for Event Delivery", 4.1. Any sender may try
 * to deliver to any address: signatures decide, and the answer must not reveal which addresses exist. A callback
 * (`WebHook-Request-Callback`) is never called, as anyone could choose where this server connects to.
 */
export function permissionFor(
  headers: Headers,
  { WEBHOOKS_PER_MINUTE: most }: Pick<Config, "WEBHOOKS_PER_MINUTE">,
): Permission {
  const origin = headers["webhook-request-origin"];
  if (origin === undefined || !ORIGIN.test(origin)) return { allowed_origin: null, allowed_rate: null };
  const asked = headers["webhook-request-rate"] ?? "";
  const rate = /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : Number.POSITIVE_INFINITY;
  const allowed = Math.min(rate, most || Number.POSITIVE_INFINITY);
  return { allowed_origin: origin, allowed_rate: Number.isFinite(allowed) ? String(allowed) : "*" };
}

/** Returns the permission as the specification's headers. */
export function toHeaders({ allowed_origin, allowed_rate }: Permission): Record<string, string> {
  return {
    Allow: "POST, OPTIONS",
    ...(allowed_origin !== null && { "WebHook-Allowed-Origin": allowed_origin }),
    ...(allowed_rate !== null && { "WebHook-Allowed-Rate": allowed_rate }),
  };
}
