import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Timestamp, Uuid, Whole } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

/** Agent-scoped: other callers are not authenticated here (spec: Handoffs). */
const reader = { by: "agent", scope: "memory:read", otherwise: "authentication_failed" } as const;
const writer = { by: "agent", scope: "memory:write", otherwise: "authentication_failed" } as const;
const path = { id: Uuid("handoff") };

/** A list holds many handoffs, and a message between nodes is limited. */
const MAX_BODY = 262_144;
const MOST_CITATIONS = 200;

const HandoffName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "\\S",
  examples: ["billing-migration"],
});

/** One text, or a list of them. */
const Lines = (description: string, example: string) =>
  nullable(Type.Union([Type.String(), Type.Array(Type.String())], { description, examples: [[example]] }));

const Decision = Type.Object(
  { title: Type.String({ minLength: 1 }), rationale: Type.Optional(nullable(Type.String())) },
  { title: "HandoffDecision", additionalProperties: true },
);

const Payload = Type.Object(
  {
    completed: Type.Optional(Lines("What is done.", "Schema migrated")),
    remaining: Type.Optional(Lines("What is left to do.", "Backfill of 2023")),
    blockers: Type.Optional(Lines("What is in the way.", "Access to the replica")),
    decisions: Type.Optional(nullable(Type.Array(Decision, { description: "What was decided, and why." }))),
    rejected_options: Type.Optional(
      nullable(
        Type.Array(Type.Union([Type.String(), Decision]), {
          description: "Dead ends: what not to try again.",
        }),
      ),
    ),
    next_action: Type.Optional(Lines("What to do first.", "Run the backfill in batches")),
    context_notes: Type.Optional(Lines("What else to know.", "The replica lags by a minute")),
  },
  { additionalProperties: true, description: "Fields of other names are kept, and stand in the brief too." },
);

const Handoff = Type.Object(
  {
    id: Uuid("handoff"),
    agent_id: Id("ag"),
    name: HandoffName,
    summary: Type.String(),
    payload: Payload,
    citations: Type.Array(
      Type.Object({
        memory_id: Uuid("memory"),
        title: Type.String({
          description: "The memory's when it was saved; empty if it was not there to be seen.",
        }),
      }),
    ),
    artifacts: Type.Array(Type.String()),
    origin_client: nullable(Type.String({ examples: ["terminal-client"] })),
    scope: oneOf(["agent"]),
    version_num: Type.Integer({ minimum: 1, description: "Raised by every saving." }),
    pinned_at: nullable(Timestamp),
    last_resumed_at: nullable(Timestamp),
    expires_at: { ...Timestamp, description: "When it is removed, unless it is pinned." },
    created_at: Timestamp,
    updated_at: { ...Timestamp, description: "When it was saved last." },
    bundle_id: nullable(Uuid("bundle")),
  },
  { title: "Handoff" },
);

export const saveHandoff = operation({
  action: "handoffs.save",
  route: "POST /handoffs",
  summary: "Save where the work stands, for another client to go on",
  description:
    "One of the same name is overwritten in place (200), its `version_num` raised; nothing of it stays. A saved handoff is kept for 30 days, from the last saving or resuming.",
  access: writer,
  body: {
    name: HandoffName,
    summary: Type.Optional(
      Type.String({ maxLength: 20_000, examples: ["Two of three tables are migrated."] }),
    ),
    payload: Type.Optional(Payload),
    citations: Type.Optional(
      Type.Array(Type.Object({ memory_id: Uuid("memory") }), { maxItems: MOST_CITATIONS }),
    ),
    artifacts: Type.Optional(
      Type.Array(Type.String({ maxLength: 2000 }), {
        maxItems: 200,
        description: "Kept as given.",
        examples: [["https://git.example/pull/42"]],
      }),
    ),
    origin_client: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
    scope: Type.Optional(oneOf(["agent"])),
    bundle_id: Type.Optional(nullable(Uuid("bundle"))),
    if_version: Type.Optional(
      Whole({
        description:
          "Saves only over this `version_num`, 0: only if there is none of the name; otherwise 409 `conflict`.",
      }),
    ),
  },
  maxBody: MAX_BODY,
  results: { 200: Handoff, 201: Handoff },
  errors: ["validation_error", "conflict", "payload_too_large"],
  mcp: { destructive: true },
});

export const listHandoffs = operation({
  action: "handoffs.list",
  route: "GET /handoffs",
  summary: "List the calling agent's handoffs, most recently saved first",
  description:
    "With `q` those that fit it best, in words or in meaning: while search does not answer, or half of it, those that " +
    "have it in their name or summary, and the header `X-Degraded` says why. A page of very long ones has fewer than `limit`.",
  access: reader,
  query: {
    q: Type.Optional(Type.String({ maxLength: 1000, examples: ["billing"] })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    offset: Type.Optional(Whole({ default: 0, description: "How many to pass over; not with `q`." })),
  },
  results: { 200: Type.Array(Handoff) },
  mcp: true,
});

export const resumeHandoff = operation({
  action: "handoffs.resume",
  route: "POST /handoffs/resume",
  summary: "Go on where a handoff stands",
  description:
    "Looks for the exact name, then for the id, then for the meaning. One match is resumed: its brief is the answer, and " +
    "its 30 days begin again. Several that fit about as well are listed instead, and none is resumed.",
  access: reader,
  overQuota: true,
  body: {
    query: Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: "\\S",
      description: "A name, an id, or free text.",
      examples: ["billing-migration"],
    }),
  },
  results: {
    200: Type.Object(
      {
        candidates: Type.Array(
          Type.Object({
            id: Uuid("handoff"),
            name: HandoffName,
            summary: Type.String(),
            score: Type.Number({ minimum: 0, maximum: 1 }),
            updated_at: Timestamp,
          }),
        ),
      },
      { title: "HandoffCandidates" },
    ),
  },
  alsoProduces: "text/markdown",
  errors: ["not_found"],
  mcp: { idempotent: true },
});

export const getHandoff = operation({
  action: "handoffs.get",
  route: "GET /handoffs/{id}",
  summary: "Read a handoff",
  access: reader,
  path,
  results: { 200: Handoff },
  errors: ["not_found"],
  mcp: true,
});

export const deleteHandoff = operation({
  action: "handoffs.delete",
  route: "DELETE /handoffs/{id}",
  summary: "Delete a handoff, and what search knows of it",
  access: writer,
  path,
  results: { 204: null },
  errors: ["not_found"],
  mcp: true,
});

export const exportHandoff = operation({
  action: "handoffs.export",
  route: "GET /handoffs/{id}/export",
  summary: "Read a handoff's brief without resuming it",
  description: "The same bytes as `resume` gives.",
  access: reader,
  path,
  results: { 200: Type.String() },
  produces: ["text/markdown; charset=utf-8"],
  errors: ["not_found"],
  mcp: true,
});

export const pinHandoff = operation({
  action: "handoffs.pin",
  route: "POST /handoffs/{id}/pin",
  summary: "Keep a handoff until it is unpinned or deleted",
  access: writer,
  path,
  results: { 200: Handoff },
  errors: ["not_found"],
  mcp: { idempotent: true },
});

export const unpinHandoff = operation({
  action: "handoffs.unpin",
  route: "POST /handoffs/{id}/unpin",
  summary: "Let a handoff expire again, 30 days from now",
  access: writer,
  overQuota: true,
  path,
  results: { 200: Handoff },
  errors: ["not_found"],
  mcp: { idempotent: true },
});

export const handoffsOperations = [
  saveHandoff,
  listHandoffs,
  resumeHandoff,
  getHandoff,
  deleteHandoff,
  exportHandoff,
  pinHandoff,
  unpinHandoff,
] as const;
