import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import {
  AnyText,
  Id,
  MOST_LISTED,
  page,
  Timestamp,
  Uuid,
  Whole,
  Words,
} from "../../../lib/contract/schema.ts";

/** Agent-scoped: other callers are not authenticated here (spec: Handoffs). */
const reader = { by: "agent", scope: "memory:read", otherwise: "authentication_failed" } as const;
const writer = { by: "agent", scope: "memory:write", otherwise: "authentication_failed" } as const;
const path = { id: Uuid("handoff") };

/** A list holds many handoffs, and a message between nodes is limited. */
const MAX_BODY = 262_144;
const MOST_CITATIONS = 200;

const HandoffName = Words(200, "Name of the handoff, unique per agent.", "billing-migration");

/** One text, or a list of them. */
const Lines = (description: string, example: string) =>
  nullable(Type.Union([Type.String(), Type.Array(Type.String())], { description, examples: [[example]] }));

const Decision = component(
  "HandoffDecision",
  {
    title: Type.String({ minLength: 1, description: "The decision." }),
    rationale: Type.Optional(nullable(Type.String({ description: "Its reasons." }))),
  },
  { additionalProperties: true },
);

const Payload = Type.Object(
  optional({
    completed: Lines("Finished work.", "Schema migrated"),
    remaining: Lines("Remaining work.", "Backfill of 2023"),
    blockers: Lines("What keeps the work from going on.", "Access to the replica"),
    decisions: nullable(Type.Array(Decision, { description: "Decisions with their reasons." })),
    rejected_options: nullable(
      Type.Array(Type.Union([Type.String(), Decision]), {
        description: "Approaches that failed or were rejected.",
      }),
    ),
    next_action: Lines("The first thing to do.", "Run the backfill in batches"),
    context_notes: Lines("Other useful context.", "The replica lags by a minute"),
  }),
  {
    additionalProperties: true,
    description: "State of the work. Other fields are kept and appear in the brief.",
  },
);

export const Handoff = component("Handoff", {
  id: Uuid("handoff"),
  agent_id: Id("ag"),
  name: HandoffName,
  summary: Type.String(),
  payload: Payload,
  citations: Type.Array(
    Type.Object({
      memory_id: Uuid("memory"),
      title: Type.String({
        description: "The memory's title at the time of saving; empty if it could not be read.",
      }),
    }),
  ),
  artifacts: Type.Array(Type.String()),
  origin_client: nullable(Type.String({ examples: ["terminal-client"] })),
  scope: oneOf(["agent"]),
  version_num: Type.Integer({ minimum: 1, description: "Increases with every save." }),
  pinned_at: nullable(Timestamp),
  last_resumed_at: nullable(Timestamp),
  expires_at: { ...Timestamp, description: "Time at which it expires, unless it is pinned." },
  created_at: Timestamp,
  updated_at: { ...Timestamp, description: "When it was last saved." },
  bundle_id: nullable(Uuid("bundle")),
});

export const saveHandoff = operation({
  action: "handoffs.save",
  route: "POST /handoffs",
  summary: "Save a handoff",
  description:
    "Call this before you stop, so that another client or session can continue the work. A handoff of the same " +
    "name is overwritten, with a higher `version_num`. Kept for 30 days after it was last saved or resumed, or " +
    "while pinned.",
  access: writer,
  body: {
    name: HandoffName,
    ...optional({
      summary: AnyText(20_000, "State of the work in a few sentences.", "Two of three tables are migrated."),
      payload: Payload,
      citations: Type.Array(Type.Object({ memory_id: Uuid("memory") }), {
        maxItems: MOST_CITATIONS,
        description: "Memories that the work relies on.",
      }),
      artifacts: Type.Array(Type.String({ maxLength: 2000 }), {
        maxItems: 200,
        description: "URLs or names of results; stored as given.",
        examples: [["https://git.example/pull/42"]],
      }),
      origin_client: nullable(AnyText(200, "Name of the client that saves it.")),
      scope: oneOf(["agent"], { description: "Always `agent`." }),
      bundle_id: nullable(Uuid("bundle", "Bundle that the work started with.")),
      if_version: Whole({
        description:
          "Save only over this `version_num`, otherwise `conflict`. 0: only if the name is unused.",
      }),
    }),
  },
  maxBody: MAX_BODY,
  results: { 200: Handoff, 201: Handoff },
  errors: ["conflict"],
  mcp: {
    description:
      "Call this before you stop, so that you or another agent can continue the work in a later session. Saving the same name again overwrites it. Kept for 30 days after it was last saved or resumed. Returns its id and version.",
    destructive: true,
    core: [
      "name",
      "summary",
      "next_action",
      "completed",
      "remaining",
      "blockers",
      "decisions",
      "rejected_options",
      "context_notes",
    ],
    aliases: {
      name: ["title"],
      "payload.next_action": ["next_action", "next", "next_steps"],
      "payload.completed": ["completed", "done"],
      "payload.remaining": ["remaining", "todo"],
      "payload.blockers": ["blockers"],
      "payload.decisions": ["decisions"],
      "payload.rejected_options": ["rejected_options", "rejected"],
      "payload.context_notes": ["context_notes", "context", "notes"],
      summary: ["description", "content"],
      artifacts: ["files"],
    },
    answers: ["id", "name", "version_num", "expires_at"],
  },
});

export const listHandoffs = operation({
  action: "handoffs.list",
  route: "GET /handoffs",
  summary: "List the calling agent's handoffs, last saved first",
  description:
    "Use this to find work to continue. With `q`, returns the best matches in words or meaning; if search is " +
    "unavailable or incomplete, those with `q` in their name or summary, and the header `X-Degraded` gives the " +
    "reason. Without `q`, the header `X-Total-Count` has the number of handoffs.",
  access: reader,
  inPages: MOST_LISTED,
  query: {
    q: Type.Optional(AnyText(1000, "Search text.", "billing")),
    limit: page.limit,
    offset: Type.Optional(Whole({ default: 0, description: "Results to skip; not with `q`." })),
  },
  answer: Type.Array(Handoff),
  mcp: {
    description: "Use this to find work to continue. With `q`, returns the best matches in words or meaning.",
  },
});

export const resumeHandoff = operation({
  action: "handoffs.resume",
  route: "POST /handoffs/resume",
  summary: "Resume a handoff",
  description:
    "Use this to continue saved work. Looks up the exact name, then the id, then the meaning. A single match is " +
    "resumed: returns its brief, and its 30 days begin again. If several match equally well, returns them and " +
    "resumes none.",
  access: reader,
  overQuota: true,
  body: {
    query: Words(1000, "Name, id or free text.", "billing-migration"),
  },
  answer: component("HandoffCandidates", {
    candidates: Type.Array(
      Type.Object({
        id: Uuid("handoff"),
        name: HandoffName,
        summary: Type.String(),
        score: Type.Number({ minimum: 0, maximum: 1 }),
        updated_at: Timestamp,
      }),
    ),
  }),
  alsoProduces: "text/markdown",
  errors: ["not_found"],
  mcp: {
    whole: "handoffs_export with its id",
    idempotent: true,
    core: ["query"],
    aliases: { query: ["name", "title", "handoff", "id", "handoff_id", "q", "text", "search"] },
  },
});

export const getHandoff = operation({
  action: "handoffs.get",
  route: "GET /handoffs/{id}",
  summary: "Read a handoff",
  description:
    "Use this to inspect a handoff without resuming it. Returns its fields, payload and citations.",
  access: reader,
  path,
  answer: Handoff,
  mcp: true,
});

export const deleteHandoff = operation({
  action: "handoffs.delete",
  route: "DELETE /handoffs/{id}",
  summary: "Delete a handoff and its search entries",
  description:
    "Use this for a handoff that nobody will continue. Cannot be undone; unpinned handoffs also expire by themselves. Returns nothing.",
  access: writer,
  path,
  mcp: true,
});

export const exportHandoff = operation({
  action: "handoffs.export",
  route: "GET /handoffs/{id}/export",
  summary: "Read a handoff's brief without resuming it",
  description:
    "Use this to read a handoff that stays for another. Returns the same Markdown as resuming it, but does not extend its expiry.",
  access: reader,
  path,
  answer: Type.String(),
  produces: ["text/markdown; charset=utf-8"],
  mcp: true,
});

export const pinHandoff = operation({
  action: "handoffs.pin",
  route: "POST /handoffs/{id}/pin",
  summary: "Pin a handoff until it is unpinned or deleted",
  description: "Use this for work that pauses longer than 30 days. Returns the handoff.",
  access: writer,
  path,
  answer: Handoff,
  mcp: { idempotent: true },
});

export const unpinHandoff = operation({
  action: "handoffs.unpin",
  route: "POST /handoffs/{id}/unpin",
  summary: "Unpin a handoff: it expires in 30 days",
  description:
    "Use this when pinned work goes on or has ended. Returns the handoff with its new `expires_at`.",
  access: writer,
  overQuota: true,
  path,
  answer: Handoff,
  mcp: { idempotent: true },
});

/** Handoffs stay the agent's: people only read them, and each read is audited. */
const person = { access: { by: "user" }, audit: true } as const;

const { name, version_num, origin_client, pinned_at, last_resumed_at, expires_at, updated_at, bundle_id } =
  Handoff.properties;

export const ListedHandoff = component("ListedHandoff", {
  id: Uuid("handoff"),
  name,
  summary: Type.String({ description: "The beginning of the summary." }),
  ...{ version_num, origin_client, pinned_at, last_resumed_at, expires_at, updated_at, bundle_id },
});

export const listHandoffsOfAgent = operation({
  action: "handoffs.list_of_agent",
  route: "GET /agents/{agent_id}/handoffs",
  summary: "List an agent's handoffs for people, last saved first",
  description:
    "For admins and the agent's owner; recorded in the audit log. Agents list their own with `GET /handoffs`.",
  ...person,
  query: { limit: page.limit, cursor: Cursor },
  answer: Type.Object({ handoffs: Type.Array(ListedHandoff), next_cursor: nullable(Type.String()) }),
});

export const getHandoffOfAgent = operation({
  action: "handoffs.get_of_agent",
  route: "GET /agents/{agent_id}/handoffs/{id}",
  summary: "Read an agent's handoff as a person",
  description:
    "For admins and the agent's owner; recorded in the audit log. Does not resume it. Titles of cited memories that " +
    "the caller cannot read are empty.",
  ...person,
  path: { id: Uuid("handoff") },
  answer: component("HandoffForPeople", {
    ...Handoff.properties,
    created_at: Timestamp,
    brief: Type.String({ description: "Markdown: what a successor gets when it resumes the handoff." }),
  }),
});
