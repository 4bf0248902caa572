import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { DateTime, Id, page, RetryDelays, Timestamp } from "../../../lib/contract/schema.ts";
import { FilterExpression, SubscriptionWarnings, TypeGlob } from "../../../lib/contract/subscription.ts";

export const ENRICHMENT_DEPTHS = ["none", "shallow", "deep"] as const;
/** Agents that are counted, and named, as listeners to an event type. */
export const MAX_LISTENERS = 1_000;
export type EnrichmentDepth = (typeof ENRICHMENT_DEPTHS)[number];

const access = { by: "any", scope: "receive", people: "org_admin" } as const;
const path = { id: Id("int") };

const Priority = Type.Integer({
  minimum: 0,
  maximum: 9,
  default: 5,
  description: "Delivery priority; 9 is delivered first.",
  examples: [5],
});

const Depth = oneOf(ENRICHMENT_DEPTHS, {
  default: "none",
  description:
    "Adds the receiver's best memories about the event as `payload.enrichment.memories`: `shallow` three with title and " +
    "score, `deep` ten with content. If the search fails or is late, `payload.enrichment.degraded` is true.",
});

const Delays = nullable(
  RetryDelays(
    "Seconds before each retry of its deliveries after a rejection without `delay_seconds` or a failed push, ±20 %; the " +
      "last one repeats; null: the agent's delays. If several matching interests set delays, those that retry soonest " +
      "apply.",
  ),
);

const OrderingKey = nullable(
  Type.String({
    maxLength: 200,
    pattern: "^[A-Za-z][A-Za-z0-9_]*(?:\\.[A-Za-z0-9_-]+)*$",
    description:
      "Attribute of the event, or dotted path into its `data`, by whose value its deliveries are ordered. The agent gets " +
      "deliveries with the same value one after the other, in the order of publication: the next one when the one before " +
      "is acknowledged, dead-lettered or discarded. Other deliveries pass. An event without a text, number or boolean there " +
      "is not ordered. If several matching interests set keys, the first in alphabetical order that has a value applies. " +
      "Null: no order.",
    examples: ["subject", "data.order_id"],
  }),
);

export const Interest = component("Interest", {
  id: Id("int"),
  agent_id: Id("ag"),
  event_type: TypeGlob,
  filter_expression: nullable(FilterExpression),
  priority: Priority,
  enrichment_depth: Depth,
  retry_delays_seconds: Delays,
  ordering_key: OrderingKey,
  filter_suspended_until: nullable(
    DateTime(
      "Set while the interest is suspended because its filter or glob is too slow. Nothing matches until this time.",
    ),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
  warnings: SubscriptionWarnings,
});

const FILTER_ERROR =
  "A filter that does not compile, that reads what no event can have (`event.event_type`), or that reads a key of `data` " +
  "by its name alone (`foo`) while none of the latest events of the type has it, is refused with `validation_error` and " +
  "`details.position`: `data.foo` is accepted, with `warnings`.";

const newInterest = {
  event_type: TypeGlob,
  filter_expression: Type.Optional(nullable(FilterExpression)),
  priority: Type.Optional(Priority),
  enrichment_depth: Type.Optional(Depth),
  retry_delays_seconds: Type.Optional(Delays),
  ordering_key: Type.Optional(OrderingKey),
};

export const createInterest = operation({
  action: "interests.create",
  route: "POST /agents/{agent_id}/interests",
  summary: "Create an interest",
  description:
    "Subscribes the agent to events whose type matches the glob and for which the filter is true. For the agent itself and " +
    "for people who are admins: other agents get 403, also with the scope `admin`. " +
    `${FILTER_ERROR} The number of interests is limited (rule \`interest_limit\`).`,
  access,
  body: newInterest,
  needs: { ordering_key: 1 },
  results: { 201: Interest },
  errors: ["forbidden", "business_rule_violation"],
  mcp: {
    description:
      "Use this to receive events of a type from now on: deliveries_poll then returns those for which the filter is true.",
    core: ["event_type", "filter_expression", "priority"],
    aliases: {
      event_type: ["type", "topic", "pattern", "glob"],
      filter_expression: ["filter", "condition", "expression", "where", "cel"],
    },
    answers: ["id", "event_type", "filter_expression", "priority", "warnings?"],
  },
});

export const listInterests = operation({
  action: "interests.list",
  route: "GET /agents/{agent_id}/interests",
  summary: "List an agent's interests, oldest first",
  description: "Use this to see what an agent is subscribed to. Returns one page and the `total`.",
  access,
  query: page,
  answer: Type.Object({ interests: Type.Array(Interest), total: Type.Integer() }),
  errors: ["forbidden"],
  mcp: true,
});

export const getInterest = operation({
  action: "interests.get",
  route: "GET /agents/{agent_id}/interests/{id}",
  summary: "Read an interest",
  access,
  path,
  answer: Interest,
  errors: ["forbidden"],
});

export const updateInterest = operation({
  action: "interests.update",
  route: "PATCH /agents/{agent_id}/interests/{id}",
  summary: "Update an interest",
  description: `The change applies to events published after the response. ${FILTER_ERROR}`,
  access,
  path,
  body: { ...newInterest, event_type: Type.Optional(TypeGlob) },
  needs: { ordering_key: 1 },
  answer: Interest,
  errors: ["forbidden", "business_rule_violation"],
});

export const deleteInterest = operation({
  action: "interests.delete",
  route: "DELETE /agents/{agent_id}/interests/{id}",
  summary: "Delete an interest",
  description:
    "Use this to stop receiving its events. Those matched before are still delivered. Returns nothing.",
  access,
  path,
  errors: ["forbidden"],
  mcp: true,
});

/** The fields of an event by which people recognise it. */
export const EVENT_HEAD = {
  event_id: Id("evt"),
  type: Type.String(),
  source: Type.String(),
  subject: nullable(Type.String()),
};

export const VERDICTS = ["match", "type", "filter", "filter_error"] as const;

export const testInterest = operation({
  action: "interests.test",
  route: "POST /agents/{agent_id}/interests:test",
  summary: "Test an interest on recent events",
  description:
    "Use this before creating an interest. Returns for each of the tenant's last 100 events (fewer if large) " +
    "whether it matches, and why not. Saves nothing.",
  access,
  query: optional({
    include_service: Type.Boolean({
      description:
        "Whether to test on the service's own events too (`service.*`, `memory.cited`). Default: only if the type " +
        "begins with `service.` or `memory.`, because other globs never match them.",
    }),
  }),
  // The complete interest, so that the tested body can be sent unchanged to save it.
  body: newInterest,
  answer: Type.Object({
    tested: Type.Integer(),
    matched: Type.Integer(),
    hints: Type.Array(Type.String(), {
      description: "Names that the filter reads and none of the tested events of this type has.",
      examples: [["None of the 12 events of this type has `total`. Did you mean `data.order.total`?"]],
    }),
    results: Type.Array(
      Type.Object({
        ...EVENT_HEAD,
        accepted_at: Timestamp,
        matches: Type.Boolean(),
        reason: oneOf(VERDICTS, {
          description:
            "`type`: the glob does not match. `filter`: the filter is false. `filter_error`: the filter failed.",
        }),
        error: Type.Optional(Type.String({ description: "Why the filter failed." })),
      }),
      { description: "Newest first." },
    ),
  }),
  errors: ["forbidden"],
  reads: true,
  mcp: {
    answers: [
      ...["tested", "matched", "hints?", "results.event_id", "results.type", "results.subject"],
      ...["results.reason", "results.error"],
    ],
  },
});
