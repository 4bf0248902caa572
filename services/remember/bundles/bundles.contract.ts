import { Type } from "typebox";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { AnyText, Id, page, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { asOf } from "../memories/memories.contract.ts";

/** Agent-scoped, like handoffs (spec: Bundles). */
const reader = { by: "agent", scope: "memory:read", otherwise: "authentication_failed" } as const;
const path = { id: Uuid("bundle") };

export const BUNDLE_KINDS = ["memory", "output", "handoff"] as const;

const Cap = (usual: number, kind: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 50,
      default: usual,
      description: `Maximum number of ${kind}.`,
      examples: [usual],
    }),
  );
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

export const Bundle = component("Bundle", {
  id: Uuid("bundle"),
  query: nullable(Type.String()),
  items: Type.Array(BundleItem, { description: "By rank." }),
  rendered_brief: Type.String({ description: "Markdown; text by others is fenced." }),
  degraded: Type.Boolean({ description: "A source was unavailable." }),
  degraded_reasons: Type.Array(Type.String({ examples: ["outputs: could not be asked"] })),
  weights_version: Type.String({ description: "The version of the ranking weights." }),
  created_at: Timestamp,
});

export const assembleBundle = operation({
  action: "bundles.assemble",
  route: "POST /bundles",
  summary: "Gather context for a task",
  description:
    "Use this before starting a task. Returns a snapshot of the memories, outputs and own handoffs that match " +
    "the query (without a query, the latest), with a Markdown brief. It may be empty; if a source is " +
    "unavailable, it is `degraded`. Bundles are kept for `BUNDLE_RETENTION_DAYS`, and as long as a handoff or an " +
    "attempt on a step refers to them.",
  access: reader,
  body: {
    query: Type.Optional(nullable(AnyText(10_000, "The task, in words.", "Migrate the billing tables"))),
    since: Time("Only items created at this time or later."),
    until: Time("Only items created before this time."),
    project_id: Type.Optional(nullable(AnyText(100, "Key of a project: only its memories and outputs."))),
    memory_scope: Type.Optional(
      oneOf(["ascending", ...MEMORY_SCOPES] as const, {
        default: "ascending",
        description: "Only memories of this scope. `ascending`: all, with near-ties ranked agent, then team.",
      }),
    ),
    ...asOf,
    ...optional({
      include_possible: Type.Boolean({
        default: false,
        description: "Include memories that may not fit the query.",
      }),
      caps: Type.Object(
        { memories: Cap(12, "memories"), outputs: Cap(5, "outputs"), handoffs: Cap(3, "handoffs") },
        { description: "Maximum items of each kind; 0: none." },
      ),
    }),
  },
  results: { 201: Bundle },
  errors: ["validation_error"],
  mcp: {
    whole: "bundles_brief with its id",
    description:
      "Use this before you start a task. Returns a brief in Markdown, `rendered_brief`, of the memories, outputs and own handoffs that match the query; without one, of the latest. `degraded`: a source was unavailable.",
    core: ["query", "project_id", "as_of", "known_at", "include_possible"],
    aliases: { query: ["q", "task", "text", "goal", "topic", "description"] },
    answers: ["id", "rendered_brief", "degraded?", "degraded_reasons?"],
  },
});

export const getBundle = operation({
  action: "bundles.get",
  route: "GET /bundles/{id}",
  summary: "Read a bundle as it was gathered",
  description:
    "Use this to see the context of earlier work. Returns the stored snapshot, even if its sources have changed since.",
  access: reader,
  path,
  answer: Bundle,
  mcp: true,
});

export const getBundleBrief = operation({
  action: "bundles.brief",
  route: "GET /bundles/{id}/brief",
  summary: "Read a bundle's brief",
  description: "Use this to give a bundle to a model. Returns the stored Markdown; its bytes never change.",
  access: reader,
  path,
  answer: Type.String(),
  produces: ["text/markdown; charset=utf-8"],
  mcp: true,
});

/** Bundles stay the agent's: people only read them, and each read is audited. */
const person = { access: { by: "user" }, audit: true } as const;

export const ListedBundle = component("ListedBundle", {
  id: Uuid("bundle"),
  query: nullable(Type.String({ description: "The beginning of the query." })),
  item_count: Type.Integer({ minimum: 0 }),
  degraded: Type.Boolean(),
  created_at: Timestamp,
});

export const listBundlesOfAgent = operation({
  action: "bundles.list_of_agent",
  route: "GET /agents/{agent_id}/bundles",
  summary: "List an agent's bundles for people, newest first",
  description: "For admins and the agent's owner; recorded in the audit log.",
  ...person,
  query: { limit: page.limit, cursor: Cursor },
  answer: Type.Object({ bundles: Type.Array(ListedBundle), next_cursor: nullable(Type.String()) }),
});

export const getBundleOfAgent = operation({
  action: "bundles.get_of_agent",
  route: "GET /agents/{agent_id}/bundles/{id}",
  summary: "Read an agent's bundle as a person",
  description:
    "For admins and the agent's owner; recorded in the audit log. Items that the caller cannot read have an empty " +
    "title, and the brief, which quotes them, is then null.",
  ...person,
  path: { id: Uuid("bundle") },
  answer: component("BundleForPeople", {
    ...Bundle.properties,
    agent_id: Id("ag"),
    rendered_brief: nullable(
      Type.String({ description: "Markdown. Null if it quotes an item that the caller cannot read." }),
    ),
  }),
});
