import { Type } from "typebox";
import { component, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, Name, page, partOf, SECRET, Timestamp } from "../../../lib/contract/schema.ts";
import { Deleted, SharedMemories } from "../tenants/tenants.contract.ts";

export const ROLES = ["admin", "member"] as const;
export type Role = (typeof ROLES)[number];

export const USER_STATUSES = ["active", "disabled"] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

const SIGN_IN_WAYS = ["password", "totp", "oidc"] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

/** A user as other services see it. */
export interface UserState {
  id: string;
  tenant_id: string;
  email: string;
  display_name: string;
  role: Role;
  status: UserStatus;
  token_version: number;
  /** Raised by each disabling and each loss of the role admin: approvals of an earlier version have ended. */
  disablings: number;
  demotions: number;
  /** Whether a password signs the person in. */
  has_password: boolean;
  /** Whether a password needs a code too. */
  has_totp: boolean;
}

// Agents cannot create or change people: setting a password would let them sign in as a person.
const people = { by: "org_admin", scope: "admin" } as const;

export const Email = Type.String({
  format: "email",
  maxLength: 254,
  description: "E-mail address, used to sign in.",
  examples: ["ada@example.com"],
});

/** A password chosen by a person (NIST SP 800-63B: length, no rules of composition). */
export const NewPassword = Type.String({
  ...SECRET,
  minLength: 12,
  maxLength: 256,
  description: "Password of at least 12 characters.",
  examples: ["correct horse battery staple"],
});

const Role = oneOf(ROLES, {
  description:
    "`admin` has every scope and the actions reserved for people; `member` has every scope except `admin`.",
  examples: ["member"],
});

export const User = component("User", {
  id: Id("usr"),
  tenant_id: Id("tn"),
  email: Email,
  display_name: Name,
  role: Role,
  status: oneOf(USER_STATUSES),
  sign_in: Type.Array(oneOf(SIGN_IN_WAYS), {
    description: "`totp`: the password needs a code too. `oidc`: linked to an identity of the provider.",
    examples: [["password", "totp"]],
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const UserWithPassword = Type.Object({
  ...User.properties,
  password: Type.Optional(Type.String({ description: "The generated password, shown only here." })),
});

export const createUser = operation({
  action: "users.create",
  route: "POST /users",
  summary: "Invite a person",
  description: "If `password` is omitted, one is generated and returned, only here.",
  access: people,
  body: {
    email: Email,
    display_name: Type.Optional(Name),
    role: Type.Optional(Role),
    password: Type.Optional(NewPassword),
  },
  results: { 201: UserWithPassword },
  errors: ["conflict"],
  secret: true,
});

export const listUsers = operation({
  action: "users.list",
  route: "GET /users",
  summary: "List people, oldest first",
  access: { by: "any", scope: "admin" },
  query: { ...page, search: partOf("the name or the e-mail") },
  answer: Type.Object({ users: Type.Array(User), total: Type.Integer() }),
});

export const updateUser = operation({
  action: "users.update",
  route: "PATCH /users/{user_id}",
  summary: "Change a person: name, role, status, or how they sign in",
  description:
    "Omitted fields do not change. Disabling a person or resetting the password revokes their tokens within 5 " +
    "seconds. Nobody can disable or demote themselves, so an organisation keeps an admin.",
  access: people,
  overQuota: true,
  body: {
    ...optional({
      display_name: Name,
      role: Role,
      status: oneOf(USER_STATUSES, {
        description: "`disabled`: the person cannot sign in.",
        examples: ["disabled"],
      }),
      reset_password: Type.Boolean({
        description: "`true` generates a new password, returned once.",
        examples: [true],
      }),
      reset_totp: Type.Boolean({ description: "`true` removes the second factor.", examples: [true] }),
      unlink_identity: Type.Boolean({
        description: "`true` unlinks the identity of the provider; the next sign-in links one again.",
        examples: [true],
      }),
    }),
  },
  answer: UserWithPassword,
  errors: ["business_rule_violation"],
  secret: true,
});

export const deleteUser = operation({
  action: "users.delete",
  route: "DELETE /users/{user_id}",
  summary: "Delete a person permanently",
  description:
    "Sessions, password, second factor and linked identity end first. Then the person's private memories, schedules and " +
    "A2A tasks are erased, and the account. Their agents get the owner `agents_to`, or none. Shared memories stay, unless " +
    "`shared` is `erase`. The audit log keeps what they did. Nobody can delete themselves, and an organisation keeps an " +
    "admin. A deletion interrupted by a crash is finished.",
  access: people,
  overQuota: true,
  query: {
    shared: SharedMemories,
    agents_to: Type.Optional(Id("usr", "The next owner of the person's agents.")),
  },
  answer: Deleted,
  errors: ["business_rule_violation"],
});
