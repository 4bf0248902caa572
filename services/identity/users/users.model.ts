import type { InferSchemaType } from "mongoose";
import type { PasswordHash } from "../../../lib/crypto/password.ts";
import {
  array,
  date,
  type FieldTypes,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  sealed,
  string,
  subdocument,
  tenantSchema,
} from "../../../storage/model.ts";
import type { Role, UserStatus } from "./users.contract.ts";

/** A person of a tenant's organisation. */
export interface UserDoc extends InferSchemaType<typeof schema> {}

/** Returns where the secret of a person's second factor is sealed. */
export function totpPlace(user_id: string): string {
  return `users/${user_id}/totp`;
}

/** A person's second factor: codes by time (RFC 6238), and recovery codes. */
export type Totp = FieldTypes<typeof totp>;

const totp = {
  sealed_secret: sealed(totpPlace),
  /** Null until a first code has shown that the person has the secret: it is not asked for before. */
  confirmed_at: nullable(date()),
  /** The time step of the last code that was used: neither it nor an earlier one counts again. */
  last_step: number(),
  /** Hashes of the recovery codes that are left. */
  recovery: array(string()),
  /** Wrong codes since the last right one, and when the last of them was tried. */
  failures: number(),
  failed_at: nullable(date()),
  /** Changes with every write: each of two concurrent attempts counts. */
  version: string(),
};

/** Who a person is at an identity provider (OpenID Connect Core, `iss` and `sub`). */
export interface LinkedIdentity {
  issuer: string;
  subject: string;
  linked_at: Date;
}

const schema = tenantSchema({
  /** Lower case. */
  email: string(),
  display_name: string(),
  role: string<Role>(),
  status: string<UserStatus>(),
  /** Null for who signs in by the identity provider alone. */
  password: nullable(mixed<PasswordHash>()),
  totp: optional(nullable(subdocument(totp))),
  /** The identity at the provider (`OIDC_ISSUER`) that signs this person in. */
  identity: optional(nullable(mixed<LinkedIdentity>())),
  /** Raised by a new password and by disabling: tokens of an older version are refused. */
  token_version: number(),
  /** How often the person was disabled, and lost the role admin; absent in older rows. */
  disablings: optional(number()),
  demotions: optional(number()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ email: 1, tenant_id: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });
schema.index({ "identity.subject": 1, tenant_id: 1 }, { sparse: true });

export const UserModel: Model<UserDoc> = {
  erasure: { none: "a person's account, which its own deletion erases" },
  move: { stage: 0, withoutSecrets: { totp: null } },
  name: "users",
  schema,
};
