import { Schema } from "mongoose";
import type { SigningSecret } from "../../../lib/crypto/secrets.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { AgentStatus, DeliveryMode, PushFormat } from "./agents.contract.ts";

export interface AgentDoc extends TenantDocument {
  name: string;
  description: string | null;
  status: AgentStatus;
  delivery_mode: DeliveryMode;
  delivery_endpoint: string | null;
  /** Absent in rows from before there was a choice: structured. */
  push_format?: PushFormat;
  /** The endpoint answered 410: nothing is pushed until it is changed. */
  push_stopped: boolean;
  team_id: string | null;
  owner_user_id: string | null;
  /** Null: the installation's default. */
  visibility_timeout_seconds: number | null;
  retry_budget: number | null;
  /** Raised by each deactivation; absent from rows of older versions that were never deactivated since. */
  token_version?: number;
  /** Newest first. */
  signing_secrets: SigningSecret[];
  /** Counts the rotations, and guards them. */
  signing_version: number;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<AgentDoc>(
  {
    _id: String,
    tenant_id: String,
    name: String,
    description: String,
    status: String,
    delivery_mode: String,
    delivery_endpoint: String,
    push_format: String,
    push_stopped: Boolean,
    team_id: String,
    owner_user_id: String,
    visibility_timeout_seconds: Number,
    retry_budget: Number,
    token_version: Number,
    signing_secrets: [{ _id: false, sealed: String, ends_at: Date }],
    signing_version: Number,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });
schema.index({ tenant_id: 1, status: 1, created_at: 1, _id: 1 });
schema.index({ tenant_id: 1, owner_user_id: 1 });
// Whom to push to, of all tenants.
schema.index({ delivery_mode: 1, _id: 1 });

export const AgentModel: Model<AgentDoc> = { name: "agents", schema };
