import { Type } from "typebox";
import { component, nullable, operation } from "../../../lib/contract/contract.ts";
import { Id, page, SomeText, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { path, reader } from "./memories.contract.ts";

export const QueryId = SomeText(200, "`originating_query_id` of the search that found the memory.");

export const citeMemory = operation({
  action: "memories.cite",
  route: "POST /memories/{id}/cite",
  summary: "Cite a memory as useful",
  description:
    "Call this when a memory helped. Citations by others than the owner raise its rank for 30 days; one counts per caller, memory and day (UTC). Published as `memory.cited`. Returns nothing.",
  access: reader,
  overQuota: true,
  path,
  body: { originating_query_id: Type.Optional(nullable(QueryId)) },
  mcp: { idempotent: true },
});

export const Citation = component("Citation", {
  document_id: Uuid("document"),
  document_name: Type.String(),
  page: nullable(Type.Integer()),
  snippet: Type.String(),
  source_id: Uuid("source"),
  confidence: nullable(Type.Number()),
  version: nullable(Type.Integer()),
  freshness: Type.Object({
    stale: Type.Boolean({ description: "The document was superseded or deleted since." }),
    stale_since: nullable(Timestamp),
  }),
});

export const listMemoryCitations = operation({
  action: "memories.citations",
  route: "GET /memories/{id}/citations",
  summary: "List the document passages that a memory comes from",
  description:
    "Use this to check a memory against its sources. Returns passages of documents that the caller can read, and " +
    "whether they are stale.",
  access: reader,
  path,
  answer: Type.Object({ citations: Type.Array(Citation), total: Type.Integer() }),
  mcp: true,
});

export const Activity = component("Activity", {
  kind: Type.Literal("cite"),
  memory_id: Uuid("memory"),
  own: Type.Boolean({
    description: "The memory is the agent's own; the citation does not affect ranking.",
  }),
  originating_query_id: nullable(QueryId),
  at: Timestamp,
});

export const getAgentActivity = operation({
  action: "memories.activity",
  route: "GET /agents/{agent_id}/activity",
  summary: "Read an agent's citations of the last 30 days, and those of its memories",
  description: "For the agent itself, its owner, and admins. Newest first.",
  access: reader,
  query: page,
  answer: Type.Object({
    agent_id: Id("ag"),
    memory_count: Type.Integer({ description: "Its active memories." }),
    memory_count_with_usefulness_gt_zero: Type.Integer({
      description: "Its memories that others have cited.",
    }),
    cite_count_30d: Type.Integer({ description: "Citations of its memories by others." }),
    activity: Type.Array(Activity),
    total: Type.Integer(),
  }),
});

const Count = (description: string) => Type.Integer({ description });

export const getMemoryHealth = operation({
  action: "memories.health",
  route: "GET /memories/health",
  summary: "Read the health of the memories that the caller may read",
  description:
    "Use this to find what needs care: returns the number of duplicates, orphans, stale and unembedded memories among the readable ones that changed last, at most 100,000.",
  access: reader,
  answer: component("MemoryHealth", {
    duplicate_count: Count("Pairs proposed for merging."),
    orphan_count: Count("Active memories without relationships."),
    stale_count: Count("Memories whose freshness date is over 90 days old."),
    embed_gap_count: {
      ...nullable(Type.Integer()),
      description:
        "For the whole tenant: memories without an embedding yet, found only by their text. Null if search is unavailable.",
    },
    reflection_count: Count("Memories of the type `reflection`."),
    decay_distribution: Type.Record(Type.String(), Type.Integer(), {
      description: "Memories by the time since they were last read.",
      examples: [{ under_7d: 12, "7d_to_30d": 3 }],
    }),
  }),
  mcp: true,
});
