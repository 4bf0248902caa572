import type { InferSchemaType } from "mongoose";
import type { Scope } from "../../../lib/access/caller.ts";
import {
  array,
  boolean,
  date,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { Approval } from "../keys/keys.contract.ts";

/** A client that has registered itself. Clients and devices belong to no tenant until a person approves them. */
export interface ClientDoc extends InferSchemaType<typeof clients> {}

const clients = tenantSchema({
  name: string(),
  uri: nullable(string()),
  redirect_uris: array(string()),
  /** Absent in older rows, of clients that may use every grant. */
  grant_types: optional(array(string())),
  created_at: date(),
  /** Extended by each use. */
  expires_at: date(),
});
clients.index({ expires_at: 1 });

export const ClientModel: Model<ClientDoc> = {
  erasure: { none: "a client that registered itself: no tenant's data; deleted when it is not used" },
  move: { none: "clients that registered at the installation" },
  name: "oauth_clients",
  schema: clients,
};

/** A device that waits for a person. Both codes are credentials: only their digests are stored. */
export interface DeviceDoc extends InferSchemaType<typeof devices> {}

const devices = tenantSchema({
  device_digest: string(),
  user_digest: string(),
  client_id: string(),
  /** As requested. */
  scope: nullable(string()),
  resource: string(),
  state: string<"pending" | "approved" | "denied">(),
  /** The tenant and the id of the grant, once approved. */
  grant: nullable(mixed<{ tenant_id: string; _id: string }>()),
  polled_at: nullable(date()),
  expires_at: date(),
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
 * What a person has granted a client. Codes and refresh tokens derive from its id and the installation's key; none is
 * stored. `approved`: its code was not exchanged yet. `ended`: kept to recognize later uses of its tokens.
 */
export interface GrantDoc extends InferSchemaType<typeof grants> {}

const grants = tenantSchema({
  agent_id: string(),
  client_id: string(),
  client_name: string(),
  redirect_uri: nullable(string()),
  code_challenge: nullable(string()),
  resource: string(),
  scopes: mixed<Scope[]>(),
  /** Who has approved it; absent in older rows. */
  approval: optional(mixed<Approval>()),
  state: string<"approved" | "active" | "ended">(),
  session_id: string(),
  /** The agent's key that the connection uses; nobody knows its secret. Null before the exchange. */
  key_id: nullable(string()),
  /** Whether the client takes refresh tokens; absent in older rows: it does. */
  refreshable: optional(boolean()),
  /** Number of the valid refresh token, and when it replaced the one before. */
  refreshes: number(),
  refreshed_at: optional(date()),
  created_at: date(),
  /** Of the code, then of the refresh token. */
  expires_at: date(),
});
grants.index({ tenant_id: 1, key_id: 1 });
grants.index({ expires_at: 1 });

export const GrantModel: Model<GrantDoc> = {
  erasure: { none: "scopes and digests; ends with its agent", owner: ["agent_id"] },
  move: { none: "refresh tokens derive from the installation's key: clients ask for approval again" },
  name: "oauth_grants",
  schema: grants,
};
