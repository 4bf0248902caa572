import { isKnown, type PasswordHash } from "../../../lib/crypto/password.ts";
import { type DocumentOf, type FieldTypes, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { ROLES, USER_STATUSES } from "./users.contract.ts";

/** A person of a tenant's organisation. */
export interface UserDoc extends DocumentOf<typeof schema> {}

/** Returns where the secret of a person's second factor is sealed. */
export function totpPlace(user_id: string): string {
  return `users/${user_id}/totp`;
}

/** A person's second factor: codes by time (RFC 6238), and recovery codes. */
export type Totp = FieldTypes<typeof totp>;

const totp = {
  sealed_secret: t.sealed(totpPlace),
  /** Null until a first code has shown that the person has the secret: it is not asked for before. */
  confirmed_at: t.nullable(t.date()),
  /** The time step of the last code that was used: neither it nor an earlier one counts again. */
  last_step: t.number(),
  /** Hashes of the recovery codes that are left. */
  recovery: t.array(t.string()),
  /** Wrong codes since the last right one, and when the last of them was tried. */
  failures: t.number(),
  failed_at: t.nullable(t.date()),
  /** Changes with every write: each of two concurrent attempts counts. */
  version: t.string(),
};

/** A person's identity at a provider (OpenID Connect Core, `iss` and `sub`). */
export interface LinkedIdentity {
  issuer: string;
  subject: string;
  linked_at: Date;
}

const schema = tenantSchema({
  /** Lower case. */
  email: t.string(),
  display_name: t.string(),
  role: t.oneOf(ROLES),
  status: t.oneOf(USER_STATUSES),
  /** Null for who signs in by the identity provider alone. */
  password: t.nullable(t.mixed<PasswordHash>()),
  totp: t.nullable(t.subdocument(totp)),
  /** The identity at the provider (`OIDC_ISSUER`) that signs this person in. */
  identity: t.nullable(t.mixed<LinkedIdentity>()),
  /** Raised by a new password and by disabling: tokens of an older version are refused. */
  token_version: t.number(),
  /** How often the person was disabled, and lost the role admin. */
  disablings: t.number(),
  demotions: t.number(),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ email: 1, tenant_id: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });
schema.index({ "identity.subject": 1, tenant_id: 1 }, { sparse: true });

export const UserModel: Model<UserDoc> = {
  erasure: { none: "a person's account, which its own deletion erases" },
  move: { stage: 0, withoutSecrets: { totp: null } },
  // Without it the person needs a reset.
  anew: ({ password }) => ({ password: password && isKnown(password) ? password : null }),
  name: "users",
  ids: "usr",
  schema,
};
