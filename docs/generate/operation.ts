import type { Operation } from "../../lib/contract/contract.ts";
import type { FaultCode } from "../../lib/contract/faults.ts";
import type { JsonSchema } from "../../lib/contract/json-schema.ts";
import { nameOf } from "../../packages/client/generate/operations.ts";
import { VERSION_PREFIX } from "../../services/edge/gateway/router.ts";
import { codesOf } from "./openapi/errors.ts";
import type { Components } from "./openapi/schemas.ts";
import { code, meaningOf, row, rowsOf, typeOf } from "./schema.ts";

const WHO: Record<Operation["access"]["by"], string> = {
  public: "Anyone, without a token",
  operator: "The operator, by `OPERATOR_TOKEN`",
  monitor: "Monitoring, by `METRICS_TOKEN` or from the machine itself",
  any: "Agents and people",
  agent: "Agents",
  user: "People",
  org_admin: "People with the role `admin`",
};

/** The codes that any similar operation can return: listed once on the page of errors. */
const USUAL = new Set<FaultCode>([
  "validation_failed",
  "validation_error",
  "authentication_failed",
  "insufficient_scope",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal_error",
  "service_unavailable",
]);

const EVERYWHERE = new Set<FaultCode>(["conflict", "business_rule_violation"]);

export function routeOf({ method, url, root }: Operation): string {
  return `${method} ${root ? "" : VERSION_PREFIX}${url}`;
}

/** Returns the section of an operation in Markdown. @param also its other routes */
export function operationSection(op: Operation, also: Operation[], components: Components): string {
  const parts = [
    `## ${op.summary}`,
    [op, ...also].map((each) => code(routeOf(each))).join(" or "),
    op.description,
    [whoOf(op), reachedBy(op)].filter(Boolean).join(" "),
    op.reads ? "It only reads: an `Idempotency-Key` is ignored." : undefined,
    takenBy(op, components),
    ...answers(op, components),
    errorsOf(op),
  ];
  return parts.filter(Boolean).join("\n\n");
}

function whoOf({ access }: Operation): string {
  const { scope } = access as { scope?: string };
  return `${WHO[access.by]}${scope ? `, with the scope \`${scope}\`` : ""}.`;
}

/** Names the operation's method of the client and its MCP tool. */
function reachedBy(op: Operation): string {
  const tool = op.mcp ? ` MCP: \`${op.action.replace(".", "_")}\`.` : "";
  return op.action === "gateway.mcp" ? "" : `Client: \`${nameOf(op).join(".")}\`.${tool}`;
}

function takenBy(op: Operation, components: Components): string {
  const required = new Set(op.params.required as string[] | undefined);
  const rows = (["path", "query", "body"] as const).flatMap((place) => {
    if (place === "body" && (op.wholeBody || op.consumes === "raw")) return [];
    return Object.entries((op[place] ?? {}) as Record<string, JsonSchema>).flatMap(([name, schema]) => {
      const field = components.use(schema);
      const shown = place === "path" || required.has(name) ? name : `${name}?`;
      const inner = rowsOf({ type: "object", properties: { [name]: field } }).slice(1);
      return [
        row([code(shown), place, typeOf(field), meaningOf(schema)]),
        ...inner.map((line) => line.replace(" | ", ` | ${place} | `)),
      ];
    });
  });
  const whole = op.wholeBody ? Object.values(op.body ?? {})[0] : undefined;
  const raw = op.consumes === "raw" ? "The body is the bytes that the sender signed." : undefined;
  const body = whole ? `The body is ${typeOf(components.use(whole as JsonSchema))}.` : raw;
  return [body, table(["Parameter", "In", "Type", "Meaning"], rows)].filter(Boolean).join("\n\n");
}

/** Groups statuses with the same response. */
function answers(op: Operation, components: Components): string[] {
  const shapes = Object.entries(op.results).map(([status, schema]) => ({
    status,
    text: answer(op, schema, components),
  }));
  const alike = Map.groupBy(shapes, ({ text }) => text);
  return [...alike].map(
    ([text, those]) => `${those.map(({ status }) => `**${status}**`).join(" or ")}${text}`,
  );
}

function answer(op: Operation, schema: unknown, components: Components): string {
  if (schema === null) return ", without a body.";
  if (op.produces) return ` as ${op.produces.map((type) => `\`${type}\``).join(" or ")}.`;
  const shape = components.use(schema as JsonSchema);
  const rows = shape.$ref ? [] : [shape, ...(shape.anyOf ?? [])].flatMap((each) => rowsOf(each));
  const media = op.alsoProduces ? ` as JSON, or \`${op.alsoProduces}\`` : "";
  if (!rows.length) return ` ${typeOf(shape)}${media}.`;
  return `${media}:\n\n${table(["Field", "Type", "Meaning"], rows)}`;
}

function errorsOf(op: Operation): string {
  // Any Idempotency-Key can cause `conflict`, any write `business_rule_violation`: list them only if declared for other reasons.
  const own = codesOf(op).filter(
    (each) => !USUAL.has(each) && (!EVERYWHERE.has(each) || op.errors?.includes(each)),
  );
  return own.length ? `Errors: ${own.map(code).join(", ")}, and [the usual](errors.md).` : "";
}

/** Returns a table in Markdown; "" without rows. */
export function table(heads: string[], rows: string[]): string {
  return rows.length ? [row(heads), row(heads.map(() => "---")), ...rows].join("\n") : "";
}
