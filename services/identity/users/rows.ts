import type { PasswordHash } from "../../../lib/crypto/password.ts";
import type { UserState } from "./users.contract.ts";
import type { UserDoc } from "./users.model.ts";

/** Returns the row of an invited person. */
export function newUser(
  given: Pick<UserDoc, "email"> & { display_name?: string; role?: UserDoc["role"] },
  key: Pick<UserDoc, "_id" | "tenant_id">,
  password: PasswordHash,
  at: Date,
): UserDoc {
  const email = given.email.toLowerCase();
  return {
    ...key,
    email,
    display_name: given.display_name ?? (email.split("@")[0] as string),
    role: given.role ?? "member",
    status: "active",
    password,
    token_version: 1,
    created_at: at,
    updated_at: at,
  };
}

/** Returns a person's state for other domains. */
export function stateOf(user: UserDoc): UserState {
  const { _id, tenant_id, email, display_name, role, status, token_version } = user;
  return { id: _id, tenant_id, email, display_name, role, status, token_version };
}

/** Formats a user for callers. */
export function present(user: UserDoc) {
  const { token_version, ...shown } = stateOf(user);
  return {
    ...shown,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
  };
}
