import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, optional, string, tenantSchema } from "../../../storage/model.ts";

/** An answer as it is kept: bytes as base64; a large body in `blob`, by its hash. */
export interface KeptAnswer {
  status: number;
  type: string;
  body: string | null;
  blob?: string;
  /** There was no space for the body. */
  dropped?: boolean;
  base64: boolean;
  headers: Record<string, string | string[]>;
  /** A blob whose text belongs into the body, and where. */
  insert?: { hash: string; size: number; at: number; escaped: boolean };
}

/** One Idempotency-Key of one caller. Its `_id` follows from tenant, caller and key; the key itself is not stored. */
export interface IdempotencyDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  fingerprint: string(),
  /** What created ids derive from, besides the key: a key that is used again after its time makes new ones. */
  nonce: string(),
  /** Who is carrying the request out, and until when nobody else may. */
  lease: string(),
  lease_ends_at: date(),
  answered_at: nullable(date()),
  /** JSON of a KeptAnswer, sealed where `secret_ends_at` is set; null when there is none to give (any more). */
  answer: nullable(string()),
  /** The blob that the answer names. */
  answer_blob: optional(string()),
  resource_id: nullable(string()),
  secret_ends_at: optional(date()),
  expires_at: date(),
});
schema.index({ expires_at: 1 });
schema.index({ secret_ends_at: 1 }, { sparse: true });
schema.index({ answer_blob: 1 }, { sparse: true });

export const IdempotencyModel: Model<IdempotencyDoc> = { name: "idempotency_keys", schema };
