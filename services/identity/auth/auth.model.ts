import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** The pair of keys that access tokens are signed with: one for the installation, made by its first node. */
interface SigningKeyDoc extends TenantDocument {
  /** PKCS #8 in PEM, encrypted. */
  sealed_private_key: string;
  created_at: Date;
}

const signingKeys = new Schema<SigningKeyDoc>(
  { _id: String, tenant_id: String, sealed_private_key: String, created_at: Date },
  { versionKey: false },
);

export const SigningKeyModel: Model<SigningKeyDoc> = { name: "signing_keys", schema: signingKeys };

/** A token that was ended before its time, or all tokens of a sign-in. `_id` is the `jti` or the `sid`. */
export interface EndedTokenDoc extends TenantDocument {
  expires_at: Date;
}

const endedTokens = new Schema<EndedTokenDoc>(
  { _id: String, tenant_id: String, expires_at: Date },
  { versionKey: false },
);
endedTokens.index({ expires_at: 1 });

export const EndedTokenModel: Model<EndedTokenDoc> = { name: "ended_tokens", schema: endedTokens };
