import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

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
export interface IdempotencyDoc extends TenantDocument {
  fingerprint: string;
  /** What created ids derive from, besides the key: a key that is used again after its time makes new ones. */
  nonce: string;
  /** Who is carrying the request out, and until when nobody else may. */
  lease: string;
  lease_ends_at: Date;
  answered_at: Date | null;
  /** JSON of a KeptAnswer, sealed where `secret_ends_at` is set; null when there is none to give (any more). */
  answer: string | null;
  /** The blob that the answer names. */
  answer_blob?: string;
  resource_id: string | null;
  secret_ends_at?: Date;
  expires_at: Date;
}

const schema = new Schema<IdempotencyDoc>(
  {
    _id: String,
    tenant_id: String,
    fingerprint: String,
    nonce: String,
    lease: String,
    lease_ends_at: Date,
    answered_at: Date,
    answer: String,
    answer_blob: String,
    resource_id: String,
    secret_ends_at: Date,
    expires_at: Date,
  },
  { versionKey: false },
);
schema.index({ expires_at: 1 });
schema.index({ secret_ends_at: 1 }, { sparse: true });
schema.index({ answer_blob: 1 }, { sparse: true });

export const IdempotencyModel: Model<IdempotencyDoc> = { name: "idempotency_keys", schema };
