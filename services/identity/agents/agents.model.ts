import type { InferSchemaType } from "mongoose";
import { signingPlace } from "../../../lib/crypto/secrets.ts";
import {
  array,
  boolean,
  date,
  type Model,
  nullable,
  number,
  optional,
  sealed,
  string,
  subdocuments,
  tenantSchema,
} from "../../../storage/model.ts";
import type { AgentStatus, DeliveryMode, PushFormat } from "./agents.contract.ts";

export interface AgentDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  name: string(),
  description: nullable(string()),
  status: string<AgentStatus>(),
  delivery_mode: string<DeliveryMode>(),
  delivery_endpoint: nullable(string()),
  /** Absent in rows from before the choice existed: structured. */
  push_format: optional(string<PushFormat>()),
  /** The endpoint answered 410: pushes stop until it is changed. */
  push_stopped: boolean(),
  /** Called over A2A; absent in rows from before the choice existed: not. */
  a2a: optional(boolean()),
  team_id: nullable(string()),
  owner_user_id: nullable(string()),
  /** Null: the installation's default. */
  visibility_timeout_seconds: nullable(number()),
  retry_budget: nullable(number()),
  /** Absent in rows from before the choice existed. */
  retry_delays_seconds: optional(nullable(array(number()))),
  /** Limits of deliveries; null, or absent in older rows: none. */
  max_in_flight: optional(nullable(number())),
  max_per_minute: optional(nullable(number())),
  /** Raised by each deactivation; absent in older rows that were never deactivated since. */
  token_version: optional(number()),
  /** Raised by each change of the owner; absent in older rows. */
  owner_version: optional(number()),
  /** Newest first. */
  signing_secrets: subdocuments({
    sealed: sealed((id) => signingPlace(`agents/${id}`)),
    ends_at: nullable(date()),
  }),
  /** Counts the rotations, and guards them. */
  signing_version: number(),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });
schema.index({ tenant_id: 1, status: 1, created_at: 1, _id: 1 });
schema.index({ tenant_id: 1, owner_user_id: 1 });
// Finds agents to push to, across tenants.
schema.index({ delivery_mode: 1, _id: 1 });

export const AgentModel: Model<AgentDoc> = {
  erasure: { none: "an agent's settings, which its own deletion erases" },
  move: { stage: 0 },
  name: "agents",
  schema,
};
