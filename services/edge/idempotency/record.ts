import { createHash } from "node:crypto";
import type { IdempotencyDoc, KeptAnswer } from "./idempotency.model.ts";

/** What a request with a known key is to do. */
export type Verdict =
  /** The key is free again, after its time. */
  | "begin"
  /** Whoever carried it out has failed or gone: carry it out again, under the same seed. */
  | "take_over"
  | "wait"
  | "replay"
  /** Carried out, but the answer is not kept: it held a secret, was too large, or there was no space. */
  | "answered"
  | "other_request";

/** @param orphaned Whoever holds the lease is known to have gone. */
export function judge(doc: IdempotencyDoc, fingerprint: string, now: number, orphaned: boolean): Verdict {
  if (doc.expires_at.getTime() <= now) return "begin";
  if (doc.fingerprint !== fingerprint) return "other_request";
  if (doc.answered_at === null) {
    return !orphaned && doc.lease_ends_at.getTime() > now ? "wait" : "take_over";
  }
  const secretGone = doc.secret_ends_at !== undefined && doc.secret_ends_at.getTime() <= now;
  return doc.answer === null || secretGone ? "answered" : "replay";
}

/** What becomes of a key with an answer (api.md "Everywhere"): 401, 429 and 5xx are never stored. */
export function fateOf(status: number): "free" | "reopen" | "keep" {
  // Refused before anything was done: the key was not used.
  if (status === 401 || status === 429) return "free";
  // Something may have been done: only the same request may go on from there.
  return status >= 500 ? "reopen" : "keep";
}

/** The identity of a key: parts are told apart, so ("a", "bc") is not ("ab", "c"). */
export function recordId(tenant_id: string, caller_id: string, key: string): string {
  return createHash("sha256")
    .update(JSON.stringify([tenant_id, caller_id, key]))
    .digest("base64url");
}

/** The id of what an answer made, to be named in a conflict; null when a blob holds it. */
export function resourceIdOf({ body, base64 }: KeptAnswer): string | null {
  if (body === null || base64 || !body.startsWith("{")) return null;
  const { id, event_id, document_id } = JSON.parse(body) as Record<string, unknown>;
  const found = id ?? event_id ?? document_id;
  return typeof found === "string" ? found : null;
}
