import type { Static } from "typebox";
import { SCOPES } from "../../../lib/access/caller.ts";
import { type HourlyBudgetDoc, hourlyBudgets } from "../../../storage/hourly-budget.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Approval, Issued } from "../keys/keys.contract.ts";
import type { ClientInfo } from "./devices.contract.ts";

/** `completed`: its key was fetched. Expiry follows from `expires_at`. */
export type CodeState = "pending" | "claimed" | "approved" | "completed" | "denied" | "superseded";

/** A code that connects a device. Code and claim are credentials: looked up by digest, decrypted only to show them. */
export interface DeviceCodeDoc extends DocumentOf<typeof codes> {}

/** Returns where a code and its claim are sealed. */
export function codePlace(code_id: string): string {
  return `device_codes/${code_id}`;
}

const codes = tenantSchema({
  agent_id: t.string(),
  state: t.string<CodeState>(),
  code_digest: t.string(),
  sealed_code: t.sealed(codePlace),
  /** Set by the claim; until then the row's id, which nobody can present. */
  claim_digest: t.string(),
  sealed_claim: t.nullable(t.sealed(codePlace)),
  scopes: t.array(t.oneOf(SCOPES)),
  client_info: t.nullable(t.mixed<Static<typeof ClientInfo>>()),
  session_id: t.string(),
  claimed_at: t.nullable(t.date()),
  confirmed_at: t.nullable(t.date()),
  /** The facts it was issued on. */
  issued: t.mixed<Issued>(),
  /** Null until it is approved. */
  approval: t.nullable(t.mixed<Approval>()),
  expires_at: t.date(),
  created_at: t.date(),
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
export interface SessionDoc extends DocumentOf<typeof sessions> {}

const sessions = tenantSchema({
  agent_id: t.string(),
  /** Null from the approval until the device fetches its key. */
  key_id: t.nullable(t.string()),
  client_name: t.string(),
  client_version: t.string(),
  /** The client of OAuth that a person has approved; absent for a device with a key. */
  oauth_client_id: t.optional(t.string()),
  /** The person who approved it, and with which scopes. */
  approved_by: t.nullable(t.string()),
  scopes: t.array(t.oneOf(SCOPES)),
  connected_at: t.date(),
  last_seen_at: t.date(),
  /** Null before the first heartbeat. */
  last_heartbeat_at: t.nullable(t.date()),
  /** Devices that have not fetched their key by then are removed; null once fetched. */
  fetch_by: t.nullable(t.date()),
});
sessions.index({ tenant_id: 1, agent_id: 1, connected_at: -1, _id: -1 });
sessions.index({ fetch_by: 1 });

export const SessionModel: Model<SessionDoc> = {
  erasure: { none: "a device's name and times; ends with its agent", owner: ["agent_id"] },
  move: { stage: 1 },
  name: "sessions",
  ids: "ses",
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
