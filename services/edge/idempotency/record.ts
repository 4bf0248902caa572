import { createHash } from "node:crypto";
import type { IdempotencyDoc, KeptAnswer } from "./idempotency.model.ts";

/** What to do with a request whose key is known. */
export type Verdict =
  /** The key has expired and is free again. */
  | "begin"
  /** The holder has failed or gone: execute the request again with the same seed. */
  | "take_over"
  | "wait"
  | "replay"
  /** Executed, but the answer was not stored: it held a secret, was too large, or there was no space. */
  | "answered"
  | "other_request";

/** @param orphaned whether the lease's holder is known to be gone */
export function judge(doc: IdempotencyDoc, fingerprint: string, now: number, orphaned: boolean): Verdict {
  if (doc.expires_at.getTime() <= now) return "begin";
  if (doc.fingerprint !== fingerprint) return "other_request";
  if (doc.answered_at === null) {
    return !orphaned && doc.lease_ends_at.getTime() > now ? "wait" : "take_over";
  }
  const secretGone = doc.secret_ends_at !== undefined && doc.secret_ends_at.getTime() <= now;
  return doc.answer === null || secretGone ? "answered" : "replay";
}

/** Returns how to treat a key by its answer's status (api.md "Everywhere"): 401, 429 and 5xx are never stored. */
export function decideFate(status: number): "free" | "reopen" | "keep" {
  // Refused before any change: the key was not used.
  if (status === 401 || status === 429) return "free";
  // Changes are possible: only the same request may continue.
  return status >= 500 ? "reopen" : "keep";
}

/** Hashes a key's identity with its parts separated, so that ("a", "bc") differs from ("ab", "c"). */
export function recordId(tenant_id: string, caller_id: string, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant_id, caller_id, key]))
    .digest("base64url");
}

/** Returns the id of the created resource, to name in a conflict; null if a blob holds it. */
export function readResourceId({ body, base64 }: KeptAnswer): string | null {
  if (body === null || base64 || !body.startsWith("{")) return null;
  const { id, event_id, document_id } = JSON.parse(body) as Record<string, unknown>;
  const found = id ?? event_id ?? document_id;
  return typeof found === "string" ? found : null;
}
