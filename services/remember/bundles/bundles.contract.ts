import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

/** Agent-scoped, like handoffs (spec: Bundles). */
const reader = { by: "agent", scope: "memory:read", otherwise: "authentication_failed" } as const;
const path = { id: Uuid("bundle") };

export const BUNDLE_KINDS = ["memory", "output", "handoff"] as const;

const Cap = (usual: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 50, default: usual, examples: [usual] }));
const Time = (description: string) =>
  Type.Optional(Type.String({ format: "date-time", description, examples: ["2026-01-31T09:30:00.000Z"] }));

const BundleItem = Type.Object({
  kind: oneOf(BUNDLE_KINDS),
  item_id: Type.String({ format: "uuid" }),
  title: Type.String(),
  score: Type.Number({ minimum: 0, maximum: 1 }),
  source: Type.String({ description: "How it was found.", examples: ["vector+bm25"] }),
  why: Type.String({ examples: ["Fits the query in words and in meaning."] }),
  rank: Type.Integer({ minimum: 1, description: "1 is the best of all kinds." }),
});

const Bundle = Type.Object(
  {
    id: Uuid("bundle"),
    query: nullable(Type.String()),
    items: Type.Array(BundleItem, { description: "By rank." }),
    rendered_brief: Type.String({ description: "Markdown; text by others is fenced." }),
    degraded: Type.Boolean({ description: "A source was unavailable." }),
    degraded_reasons: Type.Array(Type.String({ examples: ["outputs: could not be asked"] })),
    weights_version: Type.String({ description: "The version of the ranking weights." }),
    created_at: Timestamp,
  },
  { title: "Bundle" },
);

export const assembleBundle = operation({
  action: "bundles.assemble",
  route: "POST /bundles",
  summary: "Gather context for a task",
  description:
    "Memories, outputs and the agent's own handoffs that fit the query, or the latest ones without a query. The bundle is " +
    "a snapshot, kept for `BUNDLE_RETENTION_DAYS` and while a handoff or an attempt on a step names it. " +
    "A kind that is unavailable only makes the bundle `degraded`. A bundle may be empty.",
  access: reader,
  body: {
    query: Type.Optional(
      nullable(Type.String({ maxLength: 10_000, examples: ["Migrate the billing tables"] })),
    ),
    since: Time("The earliest `created_at` of an item."),
    until: Time("The end of `created_at`, exclusive."),
    project_id: Type.Optional(
      nullable(
        Type.String({
          maxLength: 100,
          description: "A project's key: only memories and outputs of this project.",
        }),
      ),
    ),
    memory_scope: Type.Optional(
      oneOf(["ascending", ...MEMORY_SCOPES] as const, {
        default: "ascending",
        description: "The memories to use. `ascending`: all; near-ties rank agent, then team.",
      }),
    ),
    caps: Type.Optional(
      Type.Object(
        { memories: Cap(12), outputs: Cap(5), handoffs: Cap(3) },
        { description: "Maximum items of each kind; 0: none." },
      ),
    ),
  },
  results: { 201: Bundle },
  errors: ["validation_error"],
  mcp: true,
});

export const getBundle = operation({
  action: "bundles.get",
  route: "GET /bundles/{id}",
  summary: "Read a bundle as it was gathered",
  access: reader,
  path,
  results: { 200: Bundle },
  errors: ["not_found"],
  mcp: true,
});

export const getBundleBrief = operation({
  action: "bundles.brief",
  route: "GET /bundles/{id}/brief",
  summary: "Read a bundle's brief",
  description: "The stored bytes.",
  access: reader,
  path,
  results: { 200: Type.String() },
  produces: ["text/markdown; charset=utf-8"],
  errors: ["not_found"],
  mcp: true,
});

export const bundlesOperations = [assembleBundle, getBundle, getBundleBrief] as const;
