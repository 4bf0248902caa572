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
    rendered_brief: Type.String({ description: "Markdown; what others wrote stands in fences." }),
    degraded: Type.Boolean({ description: "A part of what was looked for could not be had." }),
    degraded_reasons: Type.Array(Type.String({ examples: ["outputs: could not be asked"] })),
    weights_version: Type.String({ description: "Which weights put the items in order." }),
    created_at: Timestamp,
  },
  { title: "Bundle" },
);

export const assembleBundle = operation({
  action: "bundles.assemble",
  route: "POST /bundles",
  summary: "Gather what an agent may need for a task",
  description:
    "Memories, outputs and the agent's own handoffs that fit the query, or the latest when there is none; kept as they are now, " +
    "for `BUNDLE_RETENTION_DAYS`, and as long as a handoff or an attempt on a step names the bundle. " +
    "A kind that cannot be had makes the bundle `degraded`, and no more. Nothing to gather is a bundle too.",
  access: reader,
  body: {
    query: Type.Optional(
      nullable(Type.String({ maxLength: 10_000, examples: ["Migrate the billing tables"] })),
    ),
    since: Time("The earliest `created_at` of what is gathered."),
    until: Time("What `created_at` must be before."),
    project_id: Type.Optional(
      nullable(
        Type.String({
          maxLength: 100,
          description: "A project's key: only memories and outputs that are filed under it.",
        }),
      ),
    ),
    memory_scope: Type.Optional(
      oneOf(["ascending", ...MEMORY_SCOPES] as const, {
        default: "ascending",
        description:
          "Which memories; `ascending`: all, and of those that fit as well the agent's, then the team's.",
      }),
    ),
    caps: Type.Optional(
      Type.Object(
        { memories: Cap(12), outputs: Cap(5), handoffs: Cap(3) },
        { description: "How many of each kind at the most; 0: none." },
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
  description: "The bytes that were kept when it was gathered.",
  access: reader,
  path,
  results: { 200: Type.String() },
  produces: ["text/markdown; charset=utf-8"],
  errors: ["not_found"],
  mcp: true,
});

export const bundlesOperations = [assembleBundle, getBundle, getBundleBrief] as const;
