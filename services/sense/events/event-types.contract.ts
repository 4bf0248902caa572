import { Type } from "typebox";
import { MAX_TYPE_LENGTH } from "../../../lib/cloudevents/cloudevents.ts";
import { component, nullable, operation } from "../../../lib/contract/contract.ts";
import { AnyText, Id, page, SomeText, Timestamp } from "../../../lib/contract/schema.ts";
import { MAX_LISTENERS } from "../interests/interests.contract.ts";
import { EventSummary } from "./events.contract.ts";

export const MAX_EVENT_TYPES = 1_000;
export const MAX_SOURCES = 10;
/** Types not seen for so long give way to new ones. */
export const UNSEEN_DAYS = 30;

/** Agents that may subscribe to any type may know the types. */
const access = { by: "any", scope: "receive", people: "org_admin" } as const;

const properties = {
  type: Type.String(),
  sources: Type.Array(
    Type.Object({
      source: Type.String(),
      last_seen_at: Timestamp,
    }),
    { description: `The first ${MAX_SOURCES} sources that published it, the latest first.` },
  ),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  count: Type.Integer({ description: "Events accepted since `first_seen_at`." }),
  listeners: Type.Integer({
    description: `Active agents with an interest, or in a channel with a feed, that matches the type; ${MAX_LISTENERS} stands for more, too. A filter may still exclude an event.`,
  }),
};

const EventTypeSummary = component("EventTypeSummary", properties);

const Listener = component("EventTypeListener", {
  agent_id: Id("ag"),
  interest_ids: Type.Array(Type.String()),
  feed_ids: Type.Array(Type.String()),
});

export const listEventTypes = operation({
  action: "events.types",
  route: "GET /events/types",
  summary: "List the types of the organisation's events",
  description:
    "Use this to see which events exist before subscribing to them. Returns who publishes each type, when it was last seen, and how " +
    "many agents listen. The type seen last comes first. Without the service's own types. Counted from the events " +
    `accepted since this list exists, at most 5 seconds late. It has at most ${MAX_EVENT_TYPES.toLocaleString("en")} types: when it is full, types not seen for ${UNSEEN_DAYS} days give way to new ones.`,
  access,
  query: {
    search: Type.Optional(
      SomeText(MAX_TYPE_LENGTH, "Only types that contain this text, in any case.", "order"),
    ),
    limit: page.limit,
    cursor: Type.Optional(AnyText(1_000, "`next` of the previous page.")),
  },
  answer: Type.Object({ types: Type.Array(EventTypeSummary), next: nullable(Type.String()) }),
  errors: ["forbidden"],
  mcp: { answers: ["types.type", "types.count", "types.last_seen_at", "types.listeners", "next"] },
});

export const getEventType = operation({
  action: "events.type",
  route: "GET /events/types/{type}",
  summary: "Read an event type: who listens, and its latest event",
  description:
    "Use this to see who would receive an event of the type, and what its data looks like. Admins see all listeners, " +
    "other agents only themselves.",
  access,
  path: {
    type: Type.String({
      minLength: 1,
      maxLength: MAX_TYPE_LENGTH,
      description: "The whole type.",
      examples: ["com.github.issues.opened"],
      "x-identifier": "event_type",
    }),
  },
  answer: Type.Object({
    ...properties,
    listening: Type.Array(Listener, { description: "Agents that listen, with what matches the type." }),
    last_event: nullable(EventSummary),
  }),
  errors: ["forbidden", "not_found"],
});
