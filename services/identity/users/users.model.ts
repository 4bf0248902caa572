import type { InferSchemaType } from "mongoose";
import type { PasswordHash } from "../../../lib/crypto/password.ts";
import {
  date,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { LinkedIdentity } from "./identities.ts";
import type { Totp } from "./totp.ts";
import type { Role, UserStatus } from "./users.contract.ts";

/** A person of a tenant's organisation. */
export interface UserDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** Lower case. */
  email: string(),
  display_name: string(),
  role: string<Role>(),
  status: string<UserStatus>(),
  /** Null for who signs in by the identity provider alone. */
  password: nullable(mixed<PasswordHash>()),
  totp: optional(nullable(mixed<Totp>())),
  /** The identity at the provider (`OIDC_ISSUER`) that signs this person in. */
  identity: optional(nullable(mixed<LinkedIdentity>())),
  /** Raised by a new password and by disabling: tokens of an older version are refused. */
  token_version: number(),
  created_at: date(),
  updated_at: date(),
});
schema.index({ email: 1, tenant_id: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });
schema.index({ "identity.subject": 1, tenant_id: 1 }, { sparse: true });

export const UserModel: Model<UserDoc> = { name: "users", schema };
