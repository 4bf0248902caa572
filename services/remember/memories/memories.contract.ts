import { Type } from "typebox";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { Instant } from "../../../lib/contract/instant.ts";
import {
  AnyText,
  DateTime,
  Id,
  Namespace,
  page,
  SomeText,
  Timestamp,
  Uuid,
  WebLink,
  Words,
} from "../../../lib/contract/schema.ts";
import { SubjectOfMetadata } from "../../../lib/contract/subject.ts";
import { TagsInput } from "../../../lib/contract/tags.ts";
import { memoryFilters } from "./filters.contract.ts";

export const MEMORY_TYPES = [
  "episodic",
  "semantic",
  "procedural",
  "entity",
  "reflection",
  "reasoning",
] as const;

export const MEMORY_STATUSES = ["active", "forgotten", "superseded", "merged"] as const;
export type MemoryStatus = (typeof MEMORY_STATUSES)[number];

export const SORTS = ["created_at", "title", "confidence", "importance"] as const;
export type MemorySort = (typeof SORTS)[number];

/** spec: Limits. */
const MAX_BODY = 10 * 1_048_576;
const BATCH_MAX_BODY = 4 * 1_048_576;
export const MAX_CONTENT = 32_768;
export const MAX_BATCH = 500;

export const reader = { by: "any", scope: "memory:read" } as const;
export const writer = { by: "any", scope: "memory:write" } as const;
export const path = { id: Uuid("memory") };

export const TypeOfMemory = oneOf(MEMORY_TYPES, {
  description: "Kind of knowledge.",
  examples: ["semantic"],
  "x-value": true,
});
export const ScopeOfMemory = oneOf(MEMORY_SCOPES, {
  examples: ["agent"],
  description:
    "Who can read it: its owner (`agent`), a team, or the whole tenant (`institutional`). It can only be widened.",
});

export const OnlyScope = oneOf(MEMORY_SCOPES, {
  examples: ["institutional"],
  description: "Only memories of this scope. Default: all readable.",
});

const Title = Words(500, "Short summary.", "Invoices are due in 30 days");
export const Content = SomeText(
  MAX_CONTENT,
  "Text of the memory.",
  "ACME pays 30 days after the end of the month.",
);
const Share = (description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: 0.5, description, examples: [0.8] });
const Confidence = Share("How certain it is, from 0 to 1.");
const Importance = Share("How much it matters, from 0 to 1.");
export const Metadata = Type.Object(
  {},
  { additionalProperties: true, description: "Free-form data of the caller, at most 64 KB as JSON." },
);
const Freshness = nullable(DateTime("When the content was last known to be true."));
const Expiry = nullable(DateTime("After this time it is no longer listed or found."));
const Begins = "When it begins to hold. Default: `freshness_date`, else when it was recorded.";
const Ends =
  "When it stops holding, exclusive. Default: once it is superseded, when its successor begins to hold.";
export const Reason = SomeText(500, "Why, for its history.");
/** The times of a question about the past. */
export const asOf = optional({
  as_of: Instant("Only what held then, whatever superseded it since. Of a day, what held at its end."),
  known_at: Instant("As far as had been recorded by then. Default of `as_of`, if that is not given."),
});
/** When a memory holds. */
export const Valid = Type.Object(
  { from: Timestamp, until: nullable(Timestamp) },
  { description: "When it holds; `until` is exclusive, and null without an end." },
);
const ProjectKey = nullable(AnyText(100, "Key of the project; empty: none."));
const Text = (maxLength: number, description: string) => nullable(SomeText(maxLength, description));

const source = {
  source_type: Text(
    100,
    "Kind of source, such as `ticket`. With `document_chunk` or `document` the memory cites what `source_id` names.",
  ),
  source_id: Text(500, "Id within the source system; of a chunk or a document for the memory to cite it."),
  source_url: nullable(Type.String()),
  source_event_id: nullable(
    SomeText(256, "Event that it comes from: `event_id` or the producer's id. It need not exist."),
  ),
};

/** A memory as callers see it. */
const memoryFields = {
  id: Uuid("memory"),
  tenant_id: Id("tn"),
  agent_id: nullable(Id("ag", "The owner; null if a person wrote it.")),
  user_id: nullable(Id("usr", "The person who wrote it; null if an agent did.")),
  scope: ScopeOfMemory,
  team_id: nullable(Id("team")),
  type: TypeOfMemory,
  status: oneOf(MEMORY_STATUSES),
  title: Title,
  content: Content,
  subject: SubjectOfMetadata,
  confidence: Confidence,
  importance: Importance,
  metadata: Metadata,
  ...source,
  freshness_date: nullable(Timestamp),
  expires_at: nullable(Timestamp),
  valid_from: Timestamp,
  valid_until: nullable(Timestamp),
  project_id: ProjectKey,
  tags: Type.Array(Type.String()),
  namespace: nullable(Type.String({ description: "Namespace of its key; null: it has none." })),
  key: nullable(Type.String({ description: "Key under which its owner saved it." })),
  supersedes_id: nullable(Uuid("memory", "Memory that it superseded; null if the caller cannot read that.")),
  invalid_at: nullable(Timestamp),
  superseded_by: nullable(
    Uuid(
      "memory",
      "Memory that superseded it or that it was merged into; null if the caller cannot read that.",
    ),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
  accessed_at: Timestamp,
};

export const Memory = component("Memory", memoryFields);

/** Usage and trust of a memory (api: Memories). */
const Usage = component("Usage", {
  cite_count_30d: Type.Integer({ description: "Citations in the last 30 days, including the owner's." }),
  last_cited_at: nullable(Timestamp),
  trust: Type.Number({
    description:
      "The lowest confidence of the memory and its lineage: the memories that it superseded, absorbed in a merge or was " +
      "derived from.",
    examples: [0.5],
  }),
});

/** Fields for creating a memory. Owner and tenant come from the token. */
export const newMemoryFields = {
  title: Title,
  content: Content,
  type: TypeOfMemory,
  scope: ScopeOfMemory,
  team_id: Type.Optional(nullable(Id("team", "Team, for the scope `team`. Default: the calling agent's."))),
  project_id: Type.Optional(ProjectKey),
  tags: Type.Optional(nullable(TagsInput)),
  subject: Type.Optional(SubjectOfMetadata),
  confidence: Type.Optional(Confidence),
  importance: Type.Optional(Importance),
  metadata: Type.Optional(nullable(Metadata)),
  source_type: Type.Optional(source.source_type),
  source_id: Type.Optional(source.source_id),
  source_url: Type.Optional(nullable(WebLink)),
  source_event_id: Type.Optional(source.source_event_id),
  freshness_date: Type.Optional(Freshness),
  expires_at: Type.Optional(Expiry),
  valid_from: Type.Optional(nullable(Instant(Begins))),
  valid_until: Type.Optional(nullable(Instant(Ends))),
  supersedes_id: Type.Optional(
    nullable(Uuid("memory", "Active memory of the caller that this one supersedes.")),
  ),
  reason: Type.Optional({ ...Reason, description: "Why it supersedes `supersedes_id`, for its history." }),
};

export const listMemories = operation({
  action: "memories.list",
  route: "GET /memories",
  summary: "List memories",
  description:
    "Use this to browse or filter; to find by meaning, search. Returns active, unexpired memories that the " +
    "caller can read. A page of very long ones may have fewer than `limit`: continue with `next_cursor`.",
  access: reader,
  query: {
    ...page,
    cursor: Cursor,
    ...optional({
      type: { ...TypeOfMemory, description: "Only memories of this type." },
      scope: OnlyScope,
      search: AnyText(
        200,
        "Part of the title or the content; case is ignored. Searches the latest 100,000 memories per owner, per team and " +
          "of the institution.",
      ),
      project_id: AnyText(100, "Key of a project; empty: only memories without one."),
      tags: Type.Array(Type.String(), {
        maxItems: 50,
        description: "Only with any of these tags; repeated or comma-separated.",
      }),
      namespace: Namespace("Only memories with a key in this namespace or below it."),
    }),
    ...memoryFilters,
    metadata: Type.Optional(
      AnyText(
        10_000,
        "Only memories whose metadata has these values: the field `metadata` of `POST /memories/search`, as JSON. " +
          "Searches as many memories as `search`.",
        '{"customer":"acme","amount":{"gte":100}}',
      ),
    ),
    never_cited: Type.Optional(Type.Boolean({ description: "Only memories without citations." })),
    ...asOf,
    include_superseded: Type.Optional(
      Type.Boolean({ default: false, description: "Include superseded memories." }),
    ),
    sort: Type.Optional(oneOf(SORTS, { default: "created_at", description: "Field to sort by." })),
    order: Type.Optional(oneOf(["asc", "desc"] as const, { default: "desc", description: "Sort order." })),
  },
  answer: Type.Object({
    memories: Type.Array(Memory),
    total: Type.Integer(),
    next_cursor: nullable(Type.String()),
  }),
  mcp: true,
});

export const createMemory = operation({
  action: "memories.create",
  route: "POST /memories",
  summary: "Create a memory",
  description:
    "Use this to keep a fact, decision or lesson for later. Its text can be searched at once. Returns the memory.",
  access: writer,
  body: newMemoryFields,
  needs: { valid_from: 1, valid_until: 1 },
  maxBody: MAX_BODY,
  results: { 201: Memory },
  errors: ["business_rule_violation", "forbidden", "not_found", "conflict"],
  mcp: {
    description:
      "Use this to keep a fact, decision or lesson for later. Only `content` is needed. It is found by memories_search at once. Returns its id.",
    core: ["content", "title", "type", "scope", "tags", "project_id", "importance"],
    aliases: {
      content: ["text", "memory", "body", "fact", "note"],
      title: ["name"],
      type: ["memory_type", "kind"],
      tags: ["labels"],
      scope: ["visibility"],
    },
    defaults: { type: "semantic" },
    answers: ["id", "title", "type", "scope", "tags?"],
  },
});

export const createMemoryBatch = operation({
  action: "memories.create_batch",
  route: "POST /memories/batch",
  summary: "Create many memories",
  description:
    "Memories are independent: a refused one does not affect the others. Results are in the order of the request. The body has at most 4 MB.",
  access: writer,
  body: {
    // Validated one by one, so that an invalid one does not refuse the rest.
    memories: Type.Array(
      Type.Unknown({
        description: "The fields of `POST /memories`.",
        examples: [{ title: "A title", content: "Some content", type: "semantic", scope: "agent" }],
      }),
      {
        minItems: 1,
        maxItems: MAX_BATCH,
        description: `Memories to create, 1 to ${MAX_BATCH}.`,
      },
    ),
  },
  needs: { "memories.valid_from": 1, "memories.valid_until": 1 },
  maxBody: BATCH_MAX_BODY,
  results: {
    201: Type.Object({
      results: Type.Array(
        Type.Object({
          status: Type.Integer({
            description: "The response of `POST /memories`.",
            examples: [201],
          }),
          memory: Type.Optional(Memory),
          error: Type.Optional(
            Type.Object({
              code: Type.String(),
              message: Type.String(),
              details: Type.Object({}, { additionalProperties: true }),
            }),
          ),
        }),
      ),
    }),
  },
});

export const getMemory = operation({
  action: "memories.get",
  route: "GET /memories/{id}",
  summary: "Read a memory",
  description:
    "Use this to see where a memory comes from and how it is used. Returns it with its usage and trust. Forgotten and expired memories can be read only by their owner, until they are purged.",
  access: reader,
  path,
  answer: component("MemoryWithUsage", { ...memoryFields, usage: Usage }),
  mcp: true,
});

export const updateMemory = operation({
  action: "memories.update",
  route: "PATCH /memories/{id}",
  summary: "Update a memory",
  description:
    "Use this to correct a memory; to keep the old version, supersede it. Omitted fields do not change; null clears a field. Only for the owner and org admins. Returns the memory.",
  access: writer,
  path,
  body: optional({
    title: Title,
    content: Content,
    subject: SubjectOfMetadata,
    confidence: Confidence,
    importance: Importance,
    metadata: nullable(Metadata),
    expires_at: Expiry,
    freshness_date: Freshness,
    valid_from: nullable(Instant(Begins)),
    valid_until: nullable(Instant(Ends)),
    reason: {
      ...Reason,
      description: "Why `valid_from` or `valid_until` is corrected, for its history.",
    },
    project_id: ProjectKey,
    tags: nullable(TagsInput),
  }),
  needs: { valid_from: 1, valid_until: 1 },
  maxBody: MAX_BODY,
  answer: Memory,
  errors: ["forbidden", "conflict"],
  mcp: true,
});
