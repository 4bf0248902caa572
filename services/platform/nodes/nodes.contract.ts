import { type Static, Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Timestamp } from "../../../lib/contract/schema.ts";
import { LOG_LEVELS } from "../../../lib/settings.ts";

const operator = { by: "operator" } as const;

const Numbers = Type.Record(Type.String(), Type.Number());

export const NodeReport = component("NodeReport", {
  node: Type.String({ examples: ["worker-1-4711"] }),
  version: Type.String({
    description: "With the commit of its build, if that is known.",
    examples: ["1.2.0+1a2b3c4d"],
  }),
  status: oneOf(["ready", "not_ready"]),
  started_at: Timestamp,
  services: Type.Array(Type.String()),
  checks: Type.Record(Type.String(), Type.String(), { description: "As `/readyz` answers." }),
  clock: Type.Object({
    at: { ...Timestamp, description: "This machine's clock." },
    error_seconds: Type.Number({
      description: "How far the node's knowledge of the record's time may be wrong.",
    }),
  }),
  disk: nullable(
    Type.Object(
      { free_bytes: Type.Number(), total_bytes: Type.Number() },
      { description: "Of `DATA_DIR`: the store, or the node's search index. Null if it cannot be read." },
    ),
  ),
  memory_bytes: Type.Integer(),
  links: Type.Object(
    {
      peers: Numbers,
      breakers: Numbers,
      nats_connected: nullable(Type.Boolean()),
      redis: nullable(Type.Boolean()),
    },
    {
      description:
        "Other nodes that are available or lost, circuit breakers by state, and whether NATS and Redis are connected; " +
        "null if they are not used.",
    },
  ),
  indexes: Type.Object({
    without_vector: Type.Number({ description: "Search entries that wait for a vector." }),
  }),
  queues: Type.Object({
    fan_out: Type.Number({ description: "Events in memory that are being fanned out." }),
    waiting: { ...Numbers, description: "Units of work that wait for a resource, if any do." },
  }),
  modes: Type.Object({ maintenance: Type.Boolean(), log_level: Type.String() }),
});
export type NodeReport = Static<typeof NodeReport>;

export const Problem = component("NodeProblem", {
  node: nullable(Type.String({ description: "Null: the installation." })),
  check: Type.String({ examples: ["disk"] }),
  severity: oneOf(["wrong", "note"]),
  text: Type.String(),
});
export type Problem = Static<typeof Problem>;

export const listNodes = operation({
  action: "nodes.list",
  route: "GET /nodes",
  summary: "List the nodes with what is wrong with them",
  description:
    "Each node reports its version, clock, links, indexes, queues and disk. A node that does not report within 5 s, or of a " +
    "version before this operation, is a problem.",
  access: operator,
  answer: Type.Object({
    ok: Type.Boolean({ description: "Whether no problem is `wrong`." }),
    problems: Type.Array(Problem),
    ages: Type.Object(
      { fan_out_seconds: nullable(Type.Number()), delivery_seconds: nullable(Type.Number()) },
      {
        description:
          "Age of the oldest event that is due for fan-out, and how late the most overdue delivery is whose lease or " +
          "wait has ended. Null without one.",
      },
    ),
    nodes: Type.Array(NodeReport),
  }),
});

const Installation = component("Installation", {
  maintenance: nullable(
    Type.Object(
      { reason: nullable(Type.String()), since: Timestamp },
      { description: "Null: reads and writes are served." },
    ),
  ),
  log_level: nullable(oneOf(LOG_LEVELS, { description: "Null: `LOG_LEVEL` of each node applies." })),
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      applied: Type.Boolean({
        description:
          "False: the node did not answer, and follows within 30 s; or it is lost or stopped, or of a version that does " +
          "not follow. A node that is gone is listed for 10 minutes.",
      }),
    }),
  ),
});

export const getInstallation = operation({
  action: "nodes.installation",
  route: "GET /installation",
  summary: "Read the modes of the installation",
  access: operator,
  answer: Installation,
});

export const updateInstallation = operation({
  action: "nodes.update_installation",
  route: "PATCH /installation",
  summary: "Begin or end maintenance, or set the log level, on all nodes",
  description:
    "Takes effect before the answer, without a restart, and outlives restarts. During maintenance everything can be read; " +
    "writes get `503 service_unavailable`, except those of the operator, signing in and its renewal, and what receives or " +
    "settles deliveries. New connections of devices and clients wait. Connectors leave messages at their brokers, " +
    "schedules wait. Events accepted before are still delivered.",
  access: operator,
  body: optional({
    maintenance: Type.Boolean({ description: "Whether writes are refused.", examples: [true] }),
    reason: nullable(AnyText(200, "Why, for the callers whose writes are refused.", "moving to a cluster")),
    log_level: nullable(
      oneOf(LOG_LEVELS, {
        description: "Least severity to log. Null: `LOG_LEVEL` of each node applies.",
        examples: ["debug"],
      }),
    ),
  }),
  answer: Installation,
});
