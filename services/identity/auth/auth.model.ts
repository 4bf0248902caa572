import type { InferSchemaType } from "mongoose";
import { date, type Model, string, tenantSchema } from "../../../storage/model.ts";

/** The key pair that signs access tokens: one for the installation, created by its first node. */
interface SigningKeyDoc extends InferSchemaType<typeof signingKeys> {}

const signingKeys = tenantSchema({
  /** PKCS #8 in PEM, encrypted. */
  sealed_private_key: string(),
  created_at: date(),
});

export const SigningKeyModel: Model<SigningKeyDoc> = {
  erasure: { none: "keys of the installation" },
  move: { none: "keys of the installation" },
  name: "signing_keys",
  schema: signingKeys,
};

/** A token that was revoked before it expired, or all tokens of a sign-in. `_id` is the `jti` or the `sid`. */
export interface EndedTokenDoc extends InferSchemaType<typeof endedTokens> {}

const endedTokens = tenantSchema({
  expires_at: date(),
});
endedTokens.index({ expires_at: 1 });

export const EndedTokenModel: Model<EndedTokenDoc> = {
  erasure: { none: "ids of tokens; deleted within 13 hours" },
  move: { none: "ids of tokens of the installation" },
  name: "ended_tokens",
  schema: endedTokens,
};
