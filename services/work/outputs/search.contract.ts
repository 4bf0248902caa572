import { oneOf, operation } from "../../../lib/contract/contract.ts";
import { Type } from "../../../lib/contract/type.ts";
import { Output, ProjectKey, reader, Scope } from "./outputs.contract.ts";

export const searchOutputs = operation({
  action: "outputs.search",
  route: "POST /outputs/search",
  summary: "Search outputs by words and by meaning",
  description:
    "Each output once, with its best passage. Superseded outputs are included on request, ranked below their successors; " +
    "those of archived projects only on request.",
  access: reader,
  body: {
    query: Type.String({
      minLength: 1,
      maxLength: 4000,
      pattern: "\\S",
      examples: ["release notes for May"],
    }),
    scope: Type.Optional(Scope),
    min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    project_id: Type.Optional(ProjectKey),
    include_superseded: Type.Optional(Type.Boolean({ default: false })),
    include_archived: Type.Optional(Type.Boolean({ default: false })),
  },
  results: {
    200: Type.Object({
      results: Type.Array(
        Type.Object({
          kind: oneOf(["output"]),
          output: Output,
          score: Type.Number({ description: "0..1" }),
          passage: Type.String({ description: "The passage that fits best." }),
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
  mcp: true,
});

export const outputSearchOperations = [searchOutputs] as const;
