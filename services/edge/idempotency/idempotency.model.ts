import type { InferSchemaType } from "mongoose";
import {
  date,
  large,
  type Model,
  nullable,
  optional,
  sealedWith,
  string,
  tenantSchema,
} from "../../../storage/model.ts";

/** A stored answer: bytes as base64; a large body in `blob`, by its hash. */
export interface KeptAnswer {
  status: number;
  type: string;
  body: string | null;
  blob?: string;
  /** The body was dropped for lack of space. */
  dropped?: boolean;
  base64: boolean;
  headers: Record<string, string | string[]>;
  /** A blob whose text belongs into the body, and its position. */
  insert?: { hash: string; size: number; at: number; escaped: boolean };
}

/** One Idempotency-Key of one caller. Its `_id` derives from tenant, caller and key; the key itself is not stored. */
export interface IdempotencyDoc extends InferSchemaType<typeof schema> {}

/** Returns where the answer of a key is sealed. */
export function answerPlace(_id: string): string {
  return `idempotency/${_id}`;
}

const schema = tenantSchema({
  /** Absent in keys of older versions. */
  caller_id: optional(string()),
  fingerprint: string(),
  /** Seed of created ids, besides the key: a key reused after its expiry creates new ones. */
  nonce: string(),
  /** The holder that is executing the request, and the end of its exclusive lease. */
  lease: string(),
  lease_ends_at: date(),
  answered_at: nullable(date()),
  /** JSON of a KeptAnswer, encrypted if `secret_ends_at` is set; null if none is available (any more). */
  answer: nullable(large(sealedWith("secret_ends_at", answerPlace))),
  /** The blob of the answer. */
  answer_blob: optional(string()),
  resource_id: nullable(string()),
  secret_ends_at: optional(date()),
  expires_at: date(),
});
schema.index({ expires_at: 1 });
schema.index({ secret_ends_at: 1 }, { sparse: true });
schema.index({ answer_blob: 1 }, { sparse: true });

export const IdempotencyModel: Model<IdempotencyDoc> = {
  erasure: { agent: "idempotency.erase", subject: "idempotency.erase", mentions: "idempotency.erase" },
  move: { stage: 0, withoutSecrets: "left out" },
  name: "idempotency_keys",
  schema,
  blobs: ["answer_blob"],
};
