import { Type } from "typebox";
import { SCOPES, type Scope } from "../../../lib/access/caller.ts";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, page, Timestamp, Words } from "../../../lib/contract/schema.ts";

/** A key as other services see it. */
export interface KeyState {
  id: string;
  tenant_id: string;
  agent_id: string;
  scopes: Scope[];
  /** Milliseconds since the epoch; null does not expire. */
  expires_at: number | null;
  /** The person who approved the connection that has the key; null for a key that was created. */
  approved_by: string | null;
  /** Its own limit. */
  requests_per_minute: number | null;
}

/**
 * Facts that a stored credential rests on. A number is the version of a fact when it was issued, which rises when the
 * fact ends: then the credential never works again, even if the fact returns.
 */
export interface Issued {
  /** The tenant's activation; absent before the first suspension. */
  tenant_version?: number;
  /** The agent's activation. */
  token_version: number;
  /** The person who issued it, if it was one. */
  user_id?: string;
  /** The person's account: raised by disabling. */
  disablings?: number;
}

/** The approver of a connection, and the facts the approval rests on. */
export interface Approval extends Issued {
  user_id: string;
  disablings: number;
  /** By which right: as the agent's owner, or as an admin, which a scope or another owner may need. */
  as: "owner" | "admin";
  /** Of the ownership, or of the role. */
  version: number;
}

const admin = { by: "any", scope: "admin" } as const;

const Scopes = Type.Array(oneOf(SCOPES), {
  minItems: 1,
  uniqueItems: true,
  description: "Scopes of the key. `admin` includes all others.",
  examples: [["send", "receive"]],
});

const KeyName = Words(
  200,
  "What the key is for: where it is kept, who uses it.",
  "billing-bot in production",
);

const KeyLimit = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 1e9,
    description:
      "Requests per 60 s with this key and its tokens, besides the limits of the agent and the organisation. Null: none.",
    examples: [600],
  }),
);

export const ListedKey = Type.Object({
  id: Id("key"),
  name: nullable(KeyName),
  prefix: Type.String({ description: "The first characters of the key.", examples: ["ak_live_4fXq"] }),
  scopes: Scopes,
  state: oneOf(["active", "ended"], {
    description:
      "`ended`: the key of a connection whose approval has ended, because the person was disabled, lost the role or the " +
      "agent, or the agent was deactivated. Connect it again.",
  }),
  created_by: nullable(
    Type.String({ description: "The person or agent that created it; null if unknown.", examples: ["usr_"] }),
  ),
  requests_per_minute: KeyLimit,
  approved_by: nullable(Id("usr", "The person who approved the device or client that has it; else null.")),
  expires_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  created_at: Timestamp,
});

export const createKey = operation({
  action: "keys.create",
  route: "POST /agents/{agent_id}/keys",
  summary: "Create an API key for an agent",
  description:
    "The key is returned only here. A connection that a person has approved, a device or a client of OAuth, cannot create " +
    "keys: they would outlive the approval.",
  access: admin,
  outlives: true,
  overQuota: true,
  body: {
    name: Type.Optional(nullable(KeyName)),
    scopes: Scopes,
    expires_at: Type.Optional(
      nullable({ ...Timestamp, description: "Time at which the key expires. Null or omitted: never." }),
    ),
    requests_per_minute: Type.Optional(KeyLimit),
  },
  results: {
    201: Type.Object({
      ...ListedKey.properties,
      key: Type.String({ description: "The key itself.", examples: ["ak_live_<32 letters and digits>"] }),
    }),
  },
  secret: true,
});

export const listKeys = operation({
  action: "keys.list",
  route: "GET /agents/{agent_id}/keys",
  summary: "List an agent's API keys, newest first",
  description: "Revoked keys are not listed.",
  access: admin,
  query: page,
  answer: Type.Object({ keys: Type.Array(ListedKey), total: Type.Integer() }),
});

export const updateKey = operation({
  action: "keys.update",
  route: "PATCH /agents/{agent_id}/keys/{key_id}",
  summary: "Change an API key's limit",
  description: "The limit applies within 5 seconds, also to tokens that were created with the key.",
  access: admin,
  outlives: true,
  overQuota: true,
  body: { requests_per_minute: KeyLimit },
  answer: ListedKey,
});

export const revokeKey = operation({
  action: "keys.revoke",
  route: "DELETE /agents/{agent_id}/keys/{key_id}",
  summary: "Revoke an API key",
  description: "Tokens that were created with the key are refused within 5 seconds.",
  access: admin,
});
