import { Type } from "typebox";
import { nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Limit, Namespace, Uuid, Words } from "../../../lib/contract/schema.ts";
import { TagsInput } from "../../../lib/contract/tags.ts";
import { MetadataFilter, memoryFilters } from "./filters.contract.ts";
import { asOf, Memory, OnlyScope, reader, TypeOfMemory, Valid } from "./memories.contract.ts";

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const Through = Type.String({
  description:
    "The name that it shares with a better result, or the type of its relationship with one, if only that leads to it.",
  examples: ["depends_on"],
});

const Result = Type.Object({
  memory: Memory,
  score: Share("Relevance."),
  sources: Type.Object(
    {
      vector: Type.Optional(Share("Similarity in meaning.")),
      bm25: Type.Optional(Share("Similarity in words.")),
    },
    { additionalProperties: true, description: "The score of each leg." },
  ),
  superseded: Type.Boolean(),
  valid: Valid,
  match: oneOf(["likely", "possible"], {
    description: "`likely`: it probably answers the query. `possible`: it is the best there is, and may not.",
  }),
  through: Type.Optional(Through),
});

const Plan = Type.Object({
  legs: Type.Array(
    Type.Object({
      name: Type.String({ examples: ["vector"] }),
      candidates: Type.Integer(),
      ms: Type.Number(),
    }),
  ),
  funnel: Type.Array(
    Type.Object({ stage: Type.String({ examples: ["floor"] }), in: Type.Integer(), out: Type.Integer() }),
    { description: "Counts per stage, from all readable memories to the results." },
  ),
  results: Type.Array(
    Type.Object({
      memory_id: Uuid("memory"),
      title: nullable(
        Type.String({ description: "Its title; null if it was deleted since it was indexed." }),
      ),
      vector: nullable(Type.Number()),
      bm25: nullable(Type.Number()),
      fused: Share("The score of the content alone."),
      relevance: Type.Optional(Share("Its relevance by the reranker, if that rated it.")),
      confidence: Type.Number(),
      recency: Type.Number(),
      final: Share("The score."),
      through: Type.Optional(Through),
    }),
    { description: "The best candidates, including those below the minimum score or beyond the limit." },
  ),
  expect: Type.Optional(
    Type.Object(
      {
        id: Uuid("memory"),
        found: Type.Boolean(),
        stage: Type.String({ examples: ["limit"] }),
        reason: Type.String(),
      },
      { description: "The outcome for the memory named by `expect`." },
    ),
  ),
});

export const searchMemories = operation({
  action: "memories.search",
  route: "POST /memories/search",
  summary: "Search memories by words and by meaning",
  description:
    "Use this before answering or deciding. Returns the readable memories that best match the query; near-ties " +
    "rank agent, then team, then institutional. If the query's embedding is late, only words count and the " +
    "result is `degraded`.",
  access: reader,
  query: optional({
    expect: Uuid("memory", "With `explain`: a memory for which the plan says where it was dropped, and why."),
  }),
  body: {
    query: Words(10_000, "Question or keywords.", "When are ACME's invoices due?"),
    scope: Type.Optional(OnlyScope),
    memory_types: Type.Optional(Type.Array(TypeOfMemory, { maxItems: 20, description: "Only these types." })),
    limit: Limit(50, 10),
    min_score: Type.Optional(Share("Minimum score.")),
    project_id: Type.Optional(
      Type.Union([
        AnyText(100, "Key of a project; empty: only memories without one."),
        Type.Null({ description: "Only memories without a project." }),
      ]),
    ),
    tags: Type.Optional({ ...TagsInput, description: "Only memories with any of these tags." }),
    namespace: Type.Optional(Namespace("Only memories with a key in this namespace or below it.")),
    ...memoryFilters,
    metadata: Type.Optional(MetadataFilter),
    ...asOf,
    ...optional({
      include_possible: Type.Boolean({
        default: true,
        description: "Include results whose `match` is `possible`.",
      }),
      include_superseded: Type.Boolean({
        default: false,
        description:
          "Include superseded memories. A question that names a time in the past finds those that held then anyway.",
      }),
      explain: Type.Boolean({ default: false, description: "Returns the search plan too, as `plan`." }),
    }),
  },
  answer: Type.Object({
    results: Type.Array(Result),
    total_candidates: Type.Integer({ description: "Memories that were ranked." }),
    sources_contributed: Type.Array(Type.String({ examples: ["bm25"] }), {
      description: "Legs that contributed to the results.",
    }),
    originating_query_id: Uuid("query", "Id of this search, to pass when citing a result."),
    no_match: Type.Boolean({ description: "No memory matches well enough." }),
    degraded: Type.Boolean({ description: "A leg of the search failed." }),
    degraded_reasons: Type.Array(Type.String()),
    plan: Type.Optional(Plan),
  }),
  reads: true,
  mcp: {
    description:
      "Use this before you answer or decide, to recall what is known. Returns the readable memories that match best in words or meaning, with their content. `degraded`: only words counted.",
    core: [
      ...["query", "limit", "memory_types", "tags", "project_id", "scope", "agent_id", "subject"],
      ...["as_of", "known_at", "include_possible"],
    ],
    defaults: { include_possible: false },
    aliases: {
      query: ["q", "text", "question", "search", "keywords"],
      limit: ["k", "top_k", "max_results", "count"],
      memory_types: ["type", "types"],
      min_score: ["threshold"],
    },
    answers: [
      "results.memory.id",
      "results.memory.title",
      "results.memory.content",
      "results.memory.type",
      "results.memory.source_url",
      "results.memory.updated_at",
      "results.valid",
      "results.match",
      "results.through?",
      "results.score",
      "no_match?",
      "degraded?",
      "degraded_reasons?",
      "originating_query_id",
      "plan",
    ],
  },
});
