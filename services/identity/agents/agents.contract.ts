import { type Static, Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Description, Id, Name, page, partOf, RetryDelays, Timestamp } from "../../../lib/contract/schema.ts";
import { Deleted, SharedMemories } from "../tenants/tenants.contract.ts";

/** From the best to the worst. Those from `unmatched` on need attention. */
export const HEALTH_STATES = [
  "ok",
  "quiet",
  "unmatched",
  "unsubscribed",
  "behind",
  "failing",
  "stuck",
  "unreachable",
] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** Part of the counts of an agent's deliveries. */
export const LimitedBy = nullable(
  oneOf(["max_in_flight", "max_per_minute"], {
    description: "The limit of the agent for which ready deliveries wait; null if none do.",
  }),
);

/** Counts of deliveries by state. */
export const DELIVERY_COUNTS = {
  pending: Type.Integer({ description: "Neither acknowledged nor dead-lettered." }),
  in_flight: Type.Integer({ description: "Pending deliveries that are leased." }),
  waiting: Type.Integer({
    description: "Pending deliveries that wait for a retry, or for an earlier one of their ordering key.",
  }),
  dead: Type.Integer({ description: "Dead letters." }),
  oldest_age_seconds: nullable(Type.Number({ description: "Age of the oldest pending delivery." })),
};

export const DeliveryHealth = component("DeliveryHealth", {
  state: oneOf(HEALTH_STATES, {
    description:
      "`unreachable`: its endpoint cannot be reached, or answered 410 Gone. `stuck`: a delivery has been pending for " +
      "`late_after_seconds`, and none was acknowledged in that time. `failing`: it has dead letters of " +
      "the last 24 hours. `behind`: it acknowledges, but a delivery has been pending for that long. `unsubscribed`: it has a key " +
      "with the scope `receive`, but no interests and is in no channel with feeds. `unmatched`: one of its interests has matched no " +
      "event. Both after `STUCK_AFTER_SECONDS`. `quiet`: not seen for 24 hours, and nothing is pending. `ok`: none of " +
      "these. The first of this list that applies is shown. All but the last two need attention.",
  }),
  late_after_seconds: Type.Number({
    description:
      "Age from which a pending delivery is late: `STUCK_AFTER_SECONDS` (5 minutes) or its lease. For an agent that polls or " +
      "streams also twice its usual absence: it did not ask for deliveries for as long on two of the last 14 days.",
    examples: [300],
  }),
  reason: nullable(Type.String({ description: "Why, in a sentence; null if `ok`." })),
  ...DELIVERY_COUNTS,
  limited_by: LimitedBy,
  success_rate: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "Share of the attempts of the last 24 hours that were acknowledged, of those that ended. Null if none did.",
    }),
  ),
  last_acknowledged_at: nullable(Timestamp),
  last_seen_at: nullable({
    ...Timestamp,
    description: "When it last used one of its API keys, or its endpoint last accepted a push.",
  }),
  last_error: nullable(
    Type.Object(
      { at: Timestamp, reason: Type.String() },
      {
        description:
          "The last attempt that failed or was returned with a reason, or the last failure to reach its endpoint.",
      },
    ),
  ),
});
export type DeliveryHealth = Static<typeof DeliveryHealth>;

export const AGENT_STATUSES = ["active", "inactive"] as const;

export const DELIVERY_MODES = ["poll", "push", "sse"] as const;
export type DeliveryMode = (typeof DELIVERY_MODES)[number];

export const PUSH_FORMATS = ["structured", "binary"] as const;
export type PushFormat = (typeof PUSH_FORMATS)[number];

const admin = { by: "any", scope: "admin" } as const;

const Status = oneOf(AGENT_STATUSES, {
  description: "`inactive`: its tokens are refused and it receives no new events.",
  examples: ["inactive"],
});
const DELIVERY_MODE =
  "How the agent receives events: `poll` requests them, `push` has them sent to `delivery_endpoint`, `sse` streams them.";
const Endpoint = Type.String({
  format: "uri",
  pattern: "^https?://",
  maxLength: 2000,
  description: "URL to which `push` delivers, http or https.",
  examples: ["https://agent.example.com/events"],
});

const settings = {
  description: nullable(Description),
  delivery_endpoint: nullable(Endpoint),
  push_format: oneOf(PUSH_FORMATS, {
    description:
      "CloudEvents mode of pushes. `structured` (default): the body is the whole event. `binary`: the body is its data, " +
      "and `ce-…` headers contain its attributes. An event whose attributes do not fit into headers (over 8 KB, or " +
      "enriched) is always pushed in structured mode.",
    examples: ["structured"],
  }),
  a2a: Type.Boolean({
    description:
      "Whether other agents can find and call the agent over A2A, at `/a2a/{agent_id}`. Its card there has its name and " +
      "description, and is public. Default: false.",
    examples: [true],
  }),
  team_id: nullable(Id("team", "The agent's team; null: none.")),
  owner_user_id: nullable(Id("usr", "The person who owns the agent; null: nobody.")),
  visibility_timeout_seconds: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 43_200,
      description:
        "Seconds to acknowledge a delivery before it is redelivered; null: the installation's default.",
      examples: [60],
    }),
  ),
  retry_budget: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: "Delivery attempts before a delivery is dead-lettered; null: the installation's default.",
      examples: [8],
    }),
  ),
  retry_delays_seconds: nullable(
    RetryDelays(
      "Seconds before each retry after a rejection without `delay_seconds` or a failed push, ±20 %; the last one " +
        "repeats; null: the installation's default. Interests can set their own.",
    ),
  ),
  max_in_flight: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        "Limit of deliveries that the agent has at once, over polls, streams and pushes. The others wait. Null: no limit.",
      examples: [4],
    }),
  ),
  max_per_minute: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description:
        "Limit of delivery attempts in any minute, over polls, streams and pushes. The others wait. The count restarts when " +
        "the node that keeps it stops. Null: no limit.",
      examples: [60],
    }),
  ),
};

export const Agent = component("Agent", {
  id: Id("ag"),
  tenant_id: Id("tn"),
  name: Name,
  status: oneOf(AGENT_STATUSES),
  delivery_mode: oneOf(DELIVERY_MODES),
  ...settings,
  push_stopped: Type.Boolean({
    description:
      "Pushes stopped because the endpoint returned 410 Gone. Set `delivery_endpoint` to resume them.",
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
  delivery: Type.Optional(DeliveryHealth),
});

/** An agent as other services see it. */
export interface AgentState
  extends Omit<Static<typeof Agent>, "description" | "created_at" | "updated_at" | "delivery"> {
  /** Raised by each deactivation: tokens of an earlier version are refused. */
  token_version: number;
  /** Raised by each change of the owner: approvals by an earlier owner have ended. */
  owner_version: number;
  /** In ms. */
  created_at: number;
}

const include = optional({
  include: oneOf(["delivery"], { description: "Adds `delivery`: how the agent's deliveries go." }),
});

const SigningSecret = Type.String({
  description: "Secret that signs pushes (Standard Webhooks). Shown only once.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
});

export const createAgent = operation({
  action: "agents.create",
  route: "POST /agents",
  summary: "Create an agent",
  description:
    "The owner is the signed-in person, unless `owner_user_id` names another. The signing secret is returned " +
    "only here.",
  access: admin,
  body: {
    name: Name,
    delivery_mode: oneOf(DELIVERY_MODES, { description: DELIVERY_MODE, examples: ["poll"] }),
    ...optional(settings),
  },
  needs: { max_in_flight: 1, max_per_minute: 1 },
  results: { 201: Type.Object({ ...Agent.properties, signing_secret: SigningSecret }) },
  secret: true,
});

export const listAgents = operation({
  action: "agents.list",
  route: "GET /agents",
  summary: "List agents, oldest first",
  access: admin,
  query: {
    ...page,
    ...include,
    ...optional({
      needs_attention: Type.Boolean({
        description: "Only agents that are unreachable, stuck, failing or behind, the worst first.",
      }),
      sort: oneOf(["created", "attention"], {
        description: "`attention`: agents that need attention first. Default: `created`, oldest first.",
      }),
      status: oneOf(AGENT_STATUSES, { description: "Only agents with this status." }),
    }),
    search: partOf("the name or the description"),
  },
  answer: Type.Object({ agents: Type.Array(Agent), total: Type.Integer() }),
});

export const listOwnAgents = operation({
  action: "agents.list_own",
  route: "GET /auth/me/agents",
  summary: "List the agents that the signed-in person owns, oldest first",
  access: { by: "user" },
  query: { ...page, ...include },
  answer: Type.Object({ agents: Type.Array(Agent), total: Type.Integer() }),
});

export const getAgent = operation({
  action: "agents.get",
  route: "GET /agents/{agent_id}",
  summary: "Read an agent",
  description:
    "Use this to see an agent's settings and status. Agents can read themselves and people the agents they own; others need the scope `admin`. Returns the agent without its keys.",
  access: { by: "any" },
  query: include,
  answer: Agent,
  errors: ["insufficient_scope"],
  mcp: true,
});

export const updateAgent = operation({
  action: "agents.update",
  route: "PATCH /agents/{agent_id}",
  summary: "Update an agent",
  description:
    "Omitted fields do not change. An endpoint that resolves to a loopback, link-local or private address is refused.",
  access: admin,
  overQuota: true,
  body: {
    name: Type.Optional(Name),
    delivery_mode: Type.Optional(oneOf(DELIVERY_MODES, { description: DELIVERY_MODE, examples: ["push"] })),
    ...optional(settings),
  },
  needs: { max_in_flight: 1, max_per_minute: 1 },
  answer: Agent,
});

export const setAgentStatus = operation({
  action: "agents.set_status",
  route: "PATCH /agents/{agent_id}/status",
  summary: "Deactivate or activate an agent",
  description:
    "The tokens of an inactive agent are refused within 5 seconds and stay refused after it is activated again: " +
    "exchange its keys for new ones. Its devices and clients are disconnected permanently. Inactive agents match no events; their pending deliveries are kept.",
  access: admin,
  overQuota: true,
  body: { status: Status },
  answer: Agent,
});

export const deleteAgent = operation({
  action: "agents.delete",
  route: "DELETE /agents/{agent_id}",
  summary: "Delete an agent permanently",
  description:
    "Its tokens, keys and devices end first. Then its private memories, state, handoffs, bundles, deliveries, interests, " +
    "channels, schedules and A2A tasks (given to it or by it) with their webhooks are erased, and the agent itself. " +
    "Memories that it shared with its team or the organisation stay, unless `shared` is `erase`. Outputs, documents, " +
    "events and runs stay. A deletion interrupted by a crash is finished. An agent cannot delete itself.",
  access: admin,
  overQuota: true,
  query: { shared: SharedMemories },
  answer: Deleted,
  errors: ["business_rule_violation"],
});

export const rotateAgentSigningSecret = operation({
  action: "agents.rotate_signing_secret",
  route: "POST /agents/{agent_id}/signing-secret",
  summary: "Rotate an agent's signing secret",
  description:
    "Returns the new secret, only here. Each previous secret signs pushes too for 24 hours from when it was replaced; at " +
    "most 6 secrets are valid at a time.",
  access: admin,
  outlives: true,
  overQuota: true,
  answer: Type.Object({ signing_secret: SigningSecret, previous_ends_at: Timestamp }),
  errors: ["business_rule_violation"],
  secret: true,
});
