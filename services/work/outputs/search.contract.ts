import { oneOf, operation } from "../../../lib/contract/contract.ts";
import { Type } from "../../../lib/contract/type.ts";
import { Output, ProjectKey, reader, Scope } from "./outputs.contract.ts";

export const searchOutputs = operation({
  action: "outputs.search",
  route: "POST /outputs/search",
  summary: "Find outputs by words and by meaning",
  description:
    "Each output once, with the passage that fits best. Superseded ones are found where they are asked for, below " +
    "what took their place; those of archived projects where they are asked for.",
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
          passage: Type.String({ description: "The part of the text that fits best." }),
          superseded: Type.Boolean(),
        }),
      ),
      total_candidates: Type.Integer({ description: "Outputs that fit, beyond the limit too." }),
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
