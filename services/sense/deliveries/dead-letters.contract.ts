import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { DateTime, Id, page, SomeText, Timestamp } from "../../../lib/contract/schema.ts";
import { idPattern } from "../../../lib/ids.ts";

const reader = { by: "any", scope: "receive", people: "org_admin" } as const;

const DeliveryId = Id("dlv", "Id of the delivery, not of its event.");

/** Of the delivery, or of its event if that is unambiguous. */
const DeadLetterId = Type.String({
  pattern: `${idPattern("dlv")}|${idPattern("evt")}`,
  examples: ["dlv_4fXq1mCz8Jw0bT7kLr2N"],
  "x-identifier": true,
  description: "Id of the delivery; or of its event, if that has one dead letter only.",
});

export const DeadLetter = component("DeadLetter", {
  id: DeliveryId,
  event_id: nullable(Type.String()),
  agent_id: nullable(Type.String({ description: "Null if the input could not be mapped to an event." })),
  payload: Type.Unknown({
    description: "The whole CloudEvent, or the input that could not be mapped.",
  }),
  attempt_count: Type.Integer(),
  dlq_reason: Type.String({ examples: ["max attempts exceeded (5): lease expired"] }),
  created_at: Timestamp,
  dead_lettered_at: Timestamp,
  source: nullable(Type.String({ description: "The source of the event." })),
});

const { event_id, agent_id, attempt_count, dlq_reason } = DeadLetter.properties;

/** The data of `service.delivery.dead_lettered`. */
export const DeadLetterNotice = component("DeadLetterNotice", {
  delivery_id: DeliveryId,
  event_id,
  agent_id,
  attempt_count,
  dlq_reason,
});

const deadFilter = optional({
  reason: Type.String({ minLength: 1, description: "Only this exact `dlq_reason`." }),
  cause: Type.String({
    minLength: 1,
    description: "Only those of this `cause` of a group (`GET /delivery/dlq/groups`).",
  }),
  agent_id: Id("ag", "Only this agent's."),
  type: Type.String({ description: "Only events whose type matches this glob.", examples: ["com.github.*"] }),
  text: SomeText(200, "Only those with this text, in any case, in reason, type, subject or source."),
});

export const listDeadLetters = operation({
  action: "deliveries.dead_letters",
  route: "GET /delivery/dlq",
  summary: "List dead letters, newest first",
  description:
    "Use this to see what failed and why. Returns the caller's dead letters; for admins, the whole tenant's. With " +
    "`cause`, `type` or `text`, a page may have fewer than `limit` and still a `next_cursor`.",
  access: reader,
  query: {
    ...deadFilter,
    limit: page.limit,
    cursor: Type.Optional(Type.String({ description: "`next_cursor` of the previous page." })),
  },
  answer: Type.Object({
    items: Type.Array(DeadLetter),
    count: Type.Integer({ description: "Number of dead letters on this page." }),
    next_cursor: nullable(Type.String()),
  }),
  errors: ["forbidden"],
  mcp: true,
});

export const listDeadLetterGroups = operation({
  action: "deliveries.dead_letter_groups",
  route: "GET /delivery/dlq/groups",
  summary: "Group dead letters by cause",
  description:
    "Counts the caller's dead letters by their cause, most frequent first; for admins, the whole tenant's. Reasons that " +
    "differ only in numbers, ids, times or the trace of the program have one cause. " +
    "Counts the latest 10,000 that match; `more` is true if there are others.",
  access: reader,
  query: { agent_id: deadFilter.agent_id, type: deadFilter.type, text: deadFilter.text },
  answer: Type.Object({
    groups: Type.Array(
      Type.Object({
        cause: Type.String({ description: "The reason without what differs." }),
        dlq_reason: Type.String({ description: "The latest reason." }),
        count: Type.Integer(),
        agents: Type.Integer({ description: "Number of agents." }),
        latest_at: Timestamp,
      }),
      { description: "At most 100." },
    ),
    total: Type.Integer({ description: "Dead letters of all groups." }),
    more: Type.Boolean(),
  }),
  errors: ["forbidden"],
});

const dryRun = {
  dry_run: Type.Optional(Type.Boolean({ description: "Only report what would happen. Default: false." })),
};

export const replayDeadLetter = operation({
  action: "deliveries.replay",
  route: "POST /delivery/dlq/{id}/replay",
  summary: "Replay a dead letter",
  description:
    "Use this after fixing the cause. The event is matched again: the dead letter's agent gets a new retry budget if it still matches, and matching agents that never received the event get it. Input that could not be mapped is mapped again. Returns `accepted`.",
  access: reader,
  path: { id: DeadLetterId },
  body: dryRun,
  answer: Type.Object({
    id: DeliveryId,
    status: oneOf(["accepted", "dry_run"]),
    receivers: Type.Optional(
      Type.Array(Id("ag"), { description: "On a dry run: the agents that would receive the event." }),
    ),
  }),
  errors: ["forbidden", "conflict", "business_rule_violation"],
  mcp: true,
});

const onMany = {
  access: reader,
  audit: true,
  body: {
    ids: Type.Optional(Type.Array(DeliveryId, { minItems: 1, maxItems: 1000, description: "Only these." })),
    ...deadFilter,
    until: Type.Optional(DateTime("Only those dead-lettered until this time.")),
    ...dryRun,
  },
  answer: Type.Object({
    status: oneOf(["accepted", "dry_run"]),
    count: Type.Integer({ description: "Dead letters selected." }),
    groups: Type.Array(Type.Object({ dlq_reason: Type.String(), count: Type.Integer() })),
    more: Type.Boolean({ description: "Whether others are left: repeat the request." }),
  }),
} as const;

export const replayDeadLetters = operation({
  ...onMany,
  action: "deliveries.replay_many",
  route: "POST /delivery/dlq/replay",
  summary: "Replay many dead letters",
  description:
    "Pass either `ids` or at least one other filter: `until` alone selects all. Replays at most 10,000 per request; " +
    "`more` is true if others are left.",
  errors: ["forbidden", "not_found"],
});

export const discardDeadLetters = operation({
  ...onMany,
  action: "deliveries.discard_many",
  route: "POST /delivery/dlq/discard",
  summary: "Delete many dead letters",
  description:
    "Pass either `ids` or at least one other filter: `until` alone selects all. Deletes at most 10,000 per request; " +
    "`more` is true if others are left. They can no longer be replayed.",
  overQuota: true,
  errors: ["forbidden", "not_found"],
});

export const discardDeadLetter = operation({
  action: "deliveries.discard",
  route: "DELETE /delivery/dlq/{id}",
  summary: "Delete a dead letter",
  access: reader,
  path: { id: DeadLetterId },
  errors: ["forbidden", "conflict"],
});
