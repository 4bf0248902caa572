import { Schema } from "mongoose";
import type { Static } from "typebox";
import type { Scope } from "../../../lib/access/caller.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { ClientInfo } from "./devices.contract.ts";

/** `completed`: its key was fetched. That a code has run out follows from `expires_at`. */
export type CodeState = "pending" | "claimed" | "approved" | "completed" | "denied" | "superseded";

/** A code that connects a device. Code and claim are credentials: found by digest, read back only when shown. */
export interface DeviceCodeDoc extends TenantDocument {
  agent_id: string;
  state: CodeState;
  code_digest: string;
  sealed_code: string;
  /** Set by the claim; before, the row's own id stands in, which nobody can present. */
  claim_digest: string;
  sealed_claim: string | null;
  scopes: Scope[];
  client_info: Static<typeof ClientInfo> | null;
  session_id: string;
  claimed_at: Date | null;
  confirmed_at: Date | null;
  confirmed_by: string | null;
  expires_at: Date;
  created_at: Date;
}

const codes = new Schema<DeviceCodeDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    state: String,
    code_digest: String,
    sealed_code: String,
    claim_digest: String,
    sealed_claim: String,
    scopes: { type: Schema.Types.Mixed },
    client_info: { type: Schema.Types.Mixed },
    session_id: String,
    claimed_at: Date,
    confirmed_at: Date,
    confirmed_by: String,
    expires_at: Date,
    created_at: Date,
  },
  { versionKey: false },
);
codes.index({ code_digest: 1 }, { unique: true });
codes.index({ claim_digest: 1 }, { unique: true });
codes.index({ tenant_id: 1, agent_id: 1, created_at: -1, _id: -1 });
codes.index({ expires_at: 1 });

export const DeviceCodeModel: Model<DeviceCodeDoc> = { name: "device_codes", schema: codes };

/** A device that is connected to an agent, with a key of its own. */
export interface SessionDoc extends TenantDocument {
  agent_id: string;
  /** Null from the approval until the device fetches its key. */
  key_id: string | null;
  client_name: string;
  client_version: string;
  connected_at: Date;
  last_seen_at: Date;
  /** Null before the first heartbeat. */
  last_heartbeat_at: Date | null;
  /** A device that has not fetched its key by then is forgotten; null once it has. */
  fetch_by: Date | null;
}

const sessions = new Schema<SessionDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    key_id: String,
    client_name: String,
    client_version: String,
    connected_at: Date,
    last_seen_at: Date,
    last_heartbeat_at: Date,
    fetch_by: Date,
  },
  { versionKey: false },
);
sessions.index({ tenant_id: 1, agent_id: 1, connected_at: -1, _id: -1 });
sessions.index({ fetch_by: 1 });

export const SessionModel: Model<SessionDoc> = { name: "sessions", schema: sessions };

/** How often an address has tried codes in its present hour. `_id` is a digest of the address. */
export interface ClaimBudgetDoc extends TenantDocument {
  attempts: number;
  ends_at: Date;
}

const budgets = new Schema<ClaimBudgetDoc>(
  { _id: String, tenant_id: String, attempts: Number, ends_at: Date },
  { versionKey: false },
);
budgets.index({ ends_at: 1 });

export const ClaimBudgetModel: Model<ClaimBudgetDoc> = { name: "claim_budgets", schema: budgets };
