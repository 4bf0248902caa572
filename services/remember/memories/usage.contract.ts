import { nullable, operation } from "../../../lib/contract/contract.ts";
import { Id, page, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { path, reader } from "./memories.contract.ts";

const QueryId = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "`originating_query_id` of the search that brought the memory up.",
});

export const citeMemory = operation({
  action: "memories.cite",
  route: "POST /memories/{id}/cite",
  summary: "Say that a memory was of use",
  description:
    "One citation counts for each caller, memory and day (UTC). Citations by others than the owner raise the memory's rank " +
    "for 30 days. Published as `memory.cited`.",
  access: reader,
  overQuota: true,
  path,
  body: { originating_query_id: Type.Optional(nullable(QueryId)) },
  results: { 204: null },
  errors: ["not_found"],
  mcp: { idempotent: true },
});

const Citation = Type.Object(
  {
    document_id: Uuid("document"),
    document_name: Type.String(),
    page: nullable(Type.Integer()),
    snippet: Type.String(),
    source_id: Uuid("source"),
    confidence: nullable(Type.Number()),
    version: nullable(Type.Integer()),
    freshness: Type.Object({
      stale: Type.Boolean({ description: "The document was replaced or deleted since." }),
      stale_since: nullable(Timestamp),
    }),
  },
  { title: "Citation" },
);

export const listCitations = operation({
  action: "memories.citations",
  route: "GET /memories/{id}/citations",
  summary: "List where in documents a memory comes from",
  description: "Only of documents that the caller may see.",
  access: reader,
  path,
  results: { 200: Type.Object({ citations: Type.Array(Citation), total: Type.Integer() }) },
  errors: ["not_found"],
  mcp: true,
});

const Activity = Type.Object(
  {
    kind: Type.Literal("cite"),
    memory_id: Uuid("memory"),
    own: Type.Boolean({ description: "Of a memory of its own: does not rank." }),
    originating_query_id: nullable(QueryId),
    at: Timestamp,
  },
  { title: "Activity" },
);

export const agentActivity = operation({
  action: "memories.activity",
  route: "GET /agents/{agent_id}/activity",
  heavy: true,
  summary: "Read what an agent cited, and how useful its memories were, in the last 30 days",
  description: "For the agent itself, the person who owns it, and admins. Latest first.",
  access: reader,
  path: { agent_id: Id("ag") },
  query: page,
  results: {
    200: Type.Object({
      agent_id: Id("ag"),
      memory_count: Type.Integer({ description: "Its memories in force." }),
      memory_count_with_usefulness_gt_zero: Type.Integer({
        description: "Its memories that others have cited.",
      }),
      cite_count_30d: Type.Integer({ description: "Citations of its memories by others." }),
      activity: Type.Array(Activity),
      total: Type.Integer(),
    }),
  },
  errors: ["not_found", "insufficient_scope"],
});

const Count = (description: string) => Type.Integer({ description });

export const memoryHealth = operation({
  action: "memories.health",
  route: "GET /memories/health",
  heavy: true,
  summary: "Read how the memories that the caller may read are doing",
  description: "Where there are more than 100,000, it is of those that changed last.",
  access: reader,
  results: {
    200: Type.Object(
      {
        duplicate_count: Count("Pairs that are proposed to be merged."),
        orphan_count: Count("Memories in force without any relationship."),
        stale_count: Count("Whose freshness date is more than 90 days ago."),
        embed_gap_count: {
          ...nullable(Type.Integer()),
          description:
            "Of the tenant: found by their text only, their embedding is yet to come. Null while search does not answer.",
        },
        reflection_count: Count("Of the type `reflection`."),
        decay_distribution: Type.Record(Type.String(), Type.Integer(), {
          description: "Memories by how long ago they were last read.",
          examples: [{ under_7d: 12, "7d_to_30d": 3 }],
        }),
      },
      { title: "MemoryHealth" },
    ),
  },
  mcp: true,
});

export const usageOperations = [citeMemory, listCitations, agentActivity, memoryHealth] as const;
