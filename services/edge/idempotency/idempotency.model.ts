import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

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
export interface IdempotencyDoc extends DocumentOf<typeof schema> {}

/** Returns where the answer of a key is sealed. */
export function answerPlace(_id: string): string {
  return `idempotency/${_id}`;
}

const schema = tenantSchema({
  caller_id: t.string(),
  fingerprint: t.string(),
  /** Seed of created ids, besides the key: a key reused after its expiry creates new ones. */
  nonce: t.string(),
  /** The holder that is executing the request, and the end of its exclusive lease. */
  lease: t.string(),
  lease_ends_at: t.date(),
  answered_at: t.nullable(t.date()),
  /** JSON of a KeptAnswer, encrypted if `secret_ends_at` is set; null if none is available (any more). */
  answer: t.nullable(t.large(t.sealedWith("secret_ends_at", answerPlace))),
  /** The blob of the answer. */
  answer_blob: t.optional(t.string()),
  resource_id: t.nullable(t.string()),
  secret_ends_at: t.optional(t.date()),
  expires_at: t.date(),
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
