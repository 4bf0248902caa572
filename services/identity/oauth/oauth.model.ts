import type { Scope } from "../../../lib/access/caller.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Approval } from "../keys/keys.contract.ts";

/** A client that has registered itself. Clients and devices belong to no tenant until a person approves them. */
export interface ClientDoc extends DocumentOf<typeof clients> {}

const clients = tenantSchema({
  name: t.string(),
  uri: t.nullable(t.string()),
  redirect_uris: t.array(t.string()),
  grant_types: t.array(t.string()),
  created_at: t.date(),
  /** Extended by each use. */
  expires_at: t.date(),
});
clients.index({ expires_at: 1 });

export const ClientModel: Model<ClientDoc> = {
  erasure: { none: "a client that registered itself: no tenant's data; deleted when it is not used" },
  move: { none: "clients that registered at the installation" },
  name: "oauth_clients",
  schema: clients,
};

/** A device that waits for a person. Both codes are credentials: only their digests are stored. */
export interface DeviceDoc extends DocumentOf<typeof devices> {}

const devices = tenantSchema({
  device_digest: t.string(),
  user_digest: t.string(),
  client_id: t.string(),
  /** As requested. */
  scope: t.nullable(t.string()),
  resource: t.string(),
  state: t.string<"pending" | "approved" | "denied">(),
  /** The tenant and the id of the grant, once approved. */
  grant: t.nullable(t.mixed<{ tenant_id: string; _id: string }>()),
  polled_at: t.nullable(t.date()),
  expires_at: t.date(),
});
devices.index({ device_digest: 1 }, { unique: true });
devices.index({ user_digest: 1 }, { unique: true });
devices.index({ expires_at: 1 });

export const DeviceModel: Model<DeviceDoc> = {
  erasure: { none: "digests of a request; deleted within minutes" },
  move: { none: "requests for minutes" },
  name: "oauth_devices",
  schema: devices,
};

/**
 * A person's grant to a client. Codes and refresh tokens derive from its id and the installation's key; none is
 * stored. `approved`: its code was not exchanged yet. `ended`: kept to recognize later uses of its tokens.
 */
export interface GrantDoc extends DocumentOf<typeof grants> {}

const grants = tenantSchema({
  agent_id: t.string(),
  client_id: t.string(),
  client_name: t.string(),
  redirect_uri: t.nullable(t.string()),
  code_challenge: t.nullable(t.string()),
  resource: t.string(),
  scopes: t.mixed<Scope[]>(),
  approval: t.mixed<Approval>(),
  state: t.string<"approved" | "active" | "ended">(),
  session_id: t.string(),
  /** The agent's key that the connection uses; nobody knows its secret. Null before the exchange. */
  key_id: t.nullable(t.string()),
  /** Whether the client takes refresh tokens. */
  refreshable: t.boolean(),
  /** Number of the valid refresh token, and when it replaced the one before. */
  refreshes: t.number(),
  refreshed_at: t.optional(t.date()),
  created_at: t.date(),
  /** Of the code, then of the refresh token. */
  expires_at: t.date(),
});
grants.index({ tenant_id: 1, key_id: 1 });
grants.index({ expires_at: 1 });

export const GrantModel: Model<GrantDoc> = {
  erasure: { none: "scopes and digests; ends with its agent", owner: ["agent_id"] },
  move: { none: "refresh tokens derive from the installation's key: clients ask for approval again" },
  name: "oauth_grants",
  schema: grants,
};
