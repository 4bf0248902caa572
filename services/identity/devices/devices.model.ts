import type { InferSchemaType } from "mongoose";
import type { Static } from "typebox";
import type { Scope } from "../../../lib/access/caller.ts";
import { type HourlyBudgetDoc, hourlyBudgets } from "../../../storage/hourly-budget.ts";
import {
  date,
  type Model,
  mixed,
  nullable,
  optional,
  sealed,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { Approval } from "../keys/keys.contract.ts";
import type { ClientInfo } from "./devices.contract.ts";

/** `completed`: its key was fetched. Expiry follows from `expires_at`. */
export type CodeState = "pending" | "claimed" | "approved" | "completed" | "denied" | "superseded";

/** A code that connects a device. Code and claim are credentials: looked up by digest, decrypted only to show them. */
export interface DeviceCodeDoc extends InferSchemaType<typeof codes> {}

/** Returns where a code and its claim are sealed. */
export function codePlace(code_id: string): string {
  return `device_codes/${code_id}`;
}

const codes = tenantSchema({
  agent_id: string(),
  state: string<CodeState>(),
  code_digest: string(),
  sealed_code: sealed(codePlace),
  /** Set by the claim; until then the row's id, which nobody can present. */
  claim_digest: string(),
  sealed_claim: nullable(sealed(codePlace)),
  scopes: mixed<Scope[]>(),
  client_info: nullable(mixed<Static<typeof ClientInfo>>()),
  session_id: string(),
  claimed_at: nullable(date()),
  confirmed_at: nullable(date()),
  /** Who has approved it; null until then, and absent in older rows. */
  approval: optional(nullable(mixed<Approval>())),
  expires_at: date(),
  created_at: date(),
});
codes.index({ code_digest: 1 }, { unique: true });
codes.index({ claim_digest: 1 }, { unique: true });
codes.index({ tenant_id: 1, agent_id: 1, created_at: -1, _id: -1 });
codes.index({ expires_at: 1 });

export const DeviceCodeModel: Model<DeviceCodeDoc> = {
  erasure: { none: "sealed codes; deleted soon after they expire", owner: ["agent_id"] },
  move: { none: "codes whose digests need the installation's key, for minutes: people issue new ones" },
  name: "device_codes",
  schema: codes,
};

/** A device connected to an agent, with a separate key. */
export interface SessionDoc extends InferSchemaType<typeof sessions> {}

const sessions = tenantSchema({
  agent_id: string(),
  /** Null from the approval until the device fetches its key. */
  key_id: nullable(string()),
  client_name: string(),
  client_version: string(),
  /** The client of OAuth that a person has approved; absent for a device with a key. */
  oauth_client_id: optional(string()),
  /** The person who approved it, and with which scopes; absent in older rows. */
  approved_by: optional(string()),
  scopes: optional(mixed<Scope[]>()),
  connected_at: date(),
  last_seen_at: date(),
  /** Null before the first heartbeat. */
  last_heartbeat_at: nullable(date()),
  /** Devices that have not fetched their key by then are removed; null once fetched. */
  fetch_by: nullable(date()),
});
sessions.index({ tenant_id: 1, agent_id: 1, connected_at: -1, _id: -1 });
sessions.index({ fetch_by: 1 });

export const SessionModel: Model<SessionDoc> = {
  erasure: { none: "a device's name and times; ends with its agent", owner: ["agent_id"] },
  move: { stage: 1 },
  name: "sessions",
  schema: sessions,
};

const budgets = hourlyBudgets();
budgets.index({ ends_at: 1 });

/** Claims of an address within an hour. `_id` is a digest of the address, which belongs to no tenant. */
export const ClaimBudgetModel: Model<HourlyBudgetDoc> = {
  erasure: { none: "counts; deleted within an hour" },
  move: { none: "counts of addresses" },
  name: "claim_budgets",
  schema: budgets,
};
