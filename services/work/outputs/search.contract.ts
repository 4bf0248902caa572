import { Type } from "typebox";
import { oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Limit, Words } from "../../../lib/contract/schema.ts";
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
    query: Words(4000, "Question or keywords.", "release notes for May"),
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
  answer: Type.Object({
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
  errors: ["validation_error"],
  reads: true,
  mcp: {
    description:
      "Use this to find finished texts. Returns the readable outputs that match best in words or meaning, each with its best passage.",
    core: ["query", "limit", "project_id"],
    aliases: {
      query: ["q", "text", "question", "search", "keywords"],
      limit: ["k", "top_k", "max_results", "count"],
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
