import { Type } from "typebox";
import { oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Limit } from "../../../lib/contract/schema.ts";
import { Output, ProjectKey, reader, Scope } from "./outputs.contract.ts";

export const searchOutputs = operation({
  action: "outputs.search",
  route: "POST /outputs/search",
  summary: "Search outputs by words and by meaning",
  description:
    "Returns the readable outputs that best match the query, each with its best passage. Superseded outputs, " +
    "ranked below their successors, and those of archived projects are included only on request.",
  access: reader,
  body: {
    query: Type.String({
      minLength: 1,
      maxLength: 4000,
      pattern: "\\S",
      description: "Question or keywords.",
      examples: ["release notes for May"],
    }),
    ...optional({
      scope: { ...Scope, description: "Only outputs of this scope." },
      min_score: Type.Number({ minimum: 0, maximum: 1, description: "Minimum score." }),
    }),
    limit: Limit(50, 10),
    ...optional({
      project_id: { ...ProjectKey, description: "Only outputs of the project with this key." },
      include_superseded: Type.Boolean({ default: false, description: "Include superseded outputs." }),
      include_archived: Type.Boolean({
        default: false,
        description: "Include outputs of archived projects.",
      }),
    }),
  },
  results: {
    200: Type.Object({
      results: Type.Array(
        Type.Object({
          kind: oneOf(["output"]),
          output: Output,
          score: Type.Number({ description: "Relevance, from 0 to 1." }),
          passage: Type.String({ description: "The passage that matches best." }),
          superseded: Type.Boolean(),
        }),
      ),
      total_candidates: Type.Integer({ description: "Matching outputs, including those beyond the limit." }),
      no_match: Type.Boolean(),
      degraded: Type.Boolean(),
      degraded_reasons: Type.Array(Type.String()),
    }),
  },
  errors: ["validation_error"],
  reads: true,
  mcp: {
    description:
      "Use this to find finished texts. Returns the readable outputs that match best in words or meaning, each with its best passage.",
    core: ["query", "limit", "project_id"],
    aliases: {
      ...{ q: "query", text: "query", question: "query", search: "query", keywords: "query" },
      ...{ k: "limit", top_k: "limit", max_results: "limit", count: "limit" },
    },
    answers: [
      "results.output.slug",
      "results.output.title",
      "results.output.updated_at",
      "results.passage",
      "results.score",
      "no_match?",
      "degraded?",
      "degraded_reasons?",
    ],
  },
});
