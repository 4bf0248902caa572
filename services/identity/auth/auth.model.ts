import type { Static } from "typebox";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Jwk as JwkSchema } from "./jwks.contract.ts";

export type Jwk = Static<typeof JwkSchema>;

/** Returns where a private key is sealed. */
export function signingKeyPlace(_id: string): string {
  return `signing_keys/${_id}`;
}

/** Key pairs that sign access tokens, of the installation. Its first node creates the one with the id `es256`. */
export interface SigningKeyDoc extends DocumentOf<typeof signingKeys> {}

const signingKeys = tenantSchema({
  /** PKCS #8 in PEM; absent in a retired key. */
  sealed_private_key: t.optional(t.sealed(signingKeyPlace)),
  /** When it begins to sign; absent in the first key: at once. */
  signs_at: t.optional(t.date()),
  /** Of a retired key: verifies receipts. */
  jwk: t.optional(t.mixed<Jwk>()),
  created_at: t.date(),
});

export const SigningKeyModel: Model<SigningKeyDoc> = {
  erasure: { none: "keys of the installation" },
  move: { none: "keys of the installation" },
  name: "signing_keys",
  schema: signingKeys,
};

/** A token that was revoked before it expired, or all tokens of a sign-in. `_id` is the `jti` or the `sid`. */
export interface EndedTokenDoc extends DocumentOf<typeof endedTokens> {}

const endedTokens = tenantSchema({
  expires_at: t.date(),
});
endedTokens.index({ expires_at: 1 });

export const EndedTokenModel: Model<EndedTokenDoc> = {
  erasure: { none: "ids of tokens; deleted within 13 hours" },
  move: { none: "ids of tokens of the installation" },
  name: "ended_tokens",
  schema: endedTokens,
};
