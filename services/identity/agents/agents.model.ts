import { signingPlace } from "../../../lib/crypto/secrets.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { AGENT_STATUSES, DELIVERY_MODES, PUSH_FORMATS } from "./agents.contract.ts";

export interface AgentDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  name: t.string(),
  description: t.nullable(t.string()),
  status: t.oneOf(AGENT_STATUSES),
  delivery_mode: t.oneOf(DELIVERY_MODES),
  delivery_endpoint: t.nullable(t.string()),
  push_format: t.oneOf(PUSH_FORMATS),
  /** The endpoint answered 410: pushes stop until it is changed. */
  push_stopped: t.boolean(),
  /** Called over A2A. */
  a2a: t.boolean(),
  team_id: t.nullable(t.string()),
  owner_user_id: t.nullable(t.string()),
  /** Null: the installation's default. */
  visibility_timeout_seconds: t.nullable(t.number()),
  retry_budget: t.nullable(t.number()),
  retry_delays_seconds: t.nullable(t.array(t.number())),
  /** Limits of deliveries; null: none. */
  max_in_flight: t.nullable(t.number()),
  max_per_minute: t.nullable(t.number()),
  /** Raised by each deactivation. */
  token_version: t.number(),
  /** Raised by each change of the owner. */
  owner_version: t.number(),
  /** Newest first. */
  signing_secrets: t.subdocuments({
    sealed: t.sealed((id) => signingPlace(`agents/${id}`)),
    ends_at: t.nullable(t.date()),
  }),
  /** Counts the rotations, and guards them. */
  signing_version: t.number(),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });
schema.index({ tenant_id: 1, status: 1, created_at: 1, _id: 1 });
schema.index({ tenant_id: 1, owner_user_id: 1 });
// A stopped push is rare, and the list of agents that need attention asks for all of them.
schema.index({ tenant_id: 1, push_stopped: 1, status: 1 });
// Finds agents to push to, across tenants.
schema.index({ delivery_mode: 1, _id: 1 });

export const AgentModel: Model<AgentDoc> = {
  erasure: { none: "an agent's settings, which its own deletion erases" },
  move: { stage: 0 },
  name: "agents",
  ids: "ag",
  schema,
};
