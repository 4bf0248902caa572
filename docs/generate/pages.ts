import { PLATFORM_EVENTS } from "../../lib/cloudevents/platform-types.ts";
import type { Operation } from "../../lib/contract/contract.ts";
import { FAULTS, RULES } from "../../lib/contract/faults.ts";
import { COMMANDS } from "../../packages/client/cli/commands.ts";
import { helpFor, overview } from "../../packages/client/cli/help.ts";
import { operations } from "../../services/contracts.ts";
import { COMPONENTS, TAGS } from "../../services/edge/gateway/openapi/components.ts";
import { openApiDocument } from "../../services/edge/gateway/openapi/openapi.ts";
import { Components, type JsonSchema } from "../../services/edge/gateway/openapi/schemas.ts";
import { toolsOf } from "../../services/edge/mcp/tools.ts";
import { operationSection, routeOf, table } from "./operation.ts";
import { cell, code, meaningOf, row, rowsOf, typeOf } from "./schema.ts";
import { settingsTable } from "./settings.ts";

const NOTE = "<!-- Written by `npm run openapi` from the code: change that. -->";

/** The pages of the reference, by the names of their files. Pure: the same code makes the same pages. */
export function referencePages(): Record<string, string> {
  const domains = Map.groupBy(operations, domainOf);
  const names = [...domains.keys()].sort();
  const pages = names.map((name) => [`${name}.md`, domainPage(name, domains.get(name) as Operation[])]);
  return {
    "README.md": indexPage(names, domains),
    ...Object.fromEntries(pages),
    "cli.md": cliPage(),
    "errors.md": errorsPage(),
    "mcp-tools.md": toolsPage(),
    "platform-events.md": eventsPage(),
    "settings.md": settingsPage(),
  };
}

function domainOf({ action }: Operation): string {
  return action.split(".")[0] as string;
}

function page(title: string, ...parts: string[]): string {
  return `${[NOTE, `# ${title}`, ...parts].join("\n\n")}\n`;
}

function indexPage(names: string[], domains: Map<string, Operation[]>): string {
  const rows = names.map((name) => {
    const routes = [...new Set((domains.get(name) as Operation[]).map((op) => `/${op.url.split("/")[1]}`))];
    return row([`[${name}](${name}.md)`, TAGS[name] as string, routes.map(code).join(" ")]);
  });
  const others = [
    row(["[errors](errors.md)", "Every code that is answered, with an example of its details."]),
    row(["[MCP tools](mcp-tools.md)", "The operations that agents have as tools."]),
    row(["[platform events](platform-events.md)", "What the service itself publishes."]),
    row(["[command line](cli.md)", "`afferent` and its commands."]),
    row(["[settings](settings.md)", "The environment variables of the server."]),
  ];
  return page(
    "Reference",
    "Every operation of the API, by domain; the same stands in [`openapi.json`](../openapi.json) for programs, and at\n`/docs` of a server, where it can be tried. A name with `?` may be left out. A name that an operation\ndoes not know is ignored, in queries and in bodies, unless it says otherwise: what is misspelt is as if it were left out.\nTimes are ISO 8601 in UTC with milliseconds. Numbers are doubles, everywhere: an integer beyond 2^53 is exact as text only,\n`1e-400` and `-0` are `0`, and what no double holds (`1e400`) is refused. Of a name that stands twice in an object the\nlast counts. Every POST, PATCH and PUT of a known caller\nthat changes something takes an `Idempotency-Key`; where the page of an operation says that it only reads, the key is ignored.",
    table(["Domain", "About", "Paths"], rows),
    table(["Besides", ""], others),
    table(["Header", "of", ""], headerRows()),
  );
}

function headerRows(): string[] {
  const { parameters, headers, securitySchemes } = COMPONENTS;
  const answered = Object.entries(headers).map(([name, { description }]) =>
    row([code(name), "answers", description]),
  );
  return [
    row([code("Authorization: Bearer …"), "requests", securitySchemes.bearer.description]),
    row([code("Idempotency-Key"), "requests", parameters["Idempotency-Key"].description]),
    ...answered,
  ];
}

function domainPage(name: string, declared: Operation[]): string {
  const components = new Components();
  // What is at the root of a domain before what is beneath it.
  const ops = declared.toSorted((a, b) => a.url.split("/").length - b.url.split("/").length);
  // Some stand at two paths.
  const byAction = Map.groupBy(ops, ({ action }) => action);
  const sections = [...byAction.values()].map(([op, ...also]) =>
    operationSection(op as Operation, also, components),
  );
  const list = ops.map((op) => row([code(routeOf(op)), `[${cell(op.summary)}](#${anchorOf(op.summary)})`]));
  const objects = Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return page(
    name.charAt(0).toUpperCase() + name.slice(1),
    TAGS[name] as string,
    table(["Operation", ""], list),
    ...sections,
    ...(objects.length
      ? ["## Objects", ...objects.map(([title, schema]) => objectSection(title, schema))]
      : []),
  );
}

function objectSection(title: string, schema: JsonSchema): string {
  const variants = (schema.anyOf ?? [schema]).map((each) => table(["Field", "type", ""], rowsOf(each)));
  const shape = variants.some(Boolean) ? variants.filter(Boolean).join("\n\nor\n\n") : `${typeOf(schema)}.`;
  return [`### ${title}`, meaningOf(schema), shape].filter(Boolean).join("\n\n");
}

function toolsPage(): string {
  const rows = [...toolsOf(operations).values()].map(({ op, tool }) => {
    const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
    const does = readOnlyHint ? "reads" : destructiveHint ? "changes" : "adds";
    const domain = domainOf(op);
    const { scope = "" } = op.access as { scope?: string };
    return row([
      code(tool.name),
      `[${cell(op.summary)}](${domain}.md#${anchorOf(op.summary)})`,
      does,
      scope && code(scope),
    ]);
  });
  const told =
    "The operations that clients of the [Model Context Protocol](../mcp.md) see as tools: those that the caller's scopes\nallow. What they take and give is what the operation does.";
  return page("MCP tools", told, table(["Tool", "Operation", "", "Scope"], rows));
}

function eventsPage(): string {
  const rows = Object.entries(PLATFORM_EVENTS).map(([type, means]) => row([code(type), means]));
  const told =
    "Events that the service publishes itself, to be subscribed to like any other. Only a glob that begins with `service.`\n(or `memory.` for the cited one) matches them. They carry ids and states, never content; those about a memory or a\nrestricted document reach only agents that may read it, also when they are handed out: whoever left the team meanwhile\ngets none that wait. `subject` is the id of what they are about.";
  return page("Platform events", told, table(["Type", "Tells"], rows));
}

function errorsPage(): string {
  const { components } = openApiDocument(operations) as { components: { examples: Record<string, Example> } };
  const rows = Object.entries(FAULTS).map(([name, { status, retryable, means }]) => {
    const { details = {} } = components.examples[name]?.value.error ?? {};
    const shown = Object.keys(details).length ? code(JSON.stringify(details)) : "";
    return row([code(name), String(status), retryable ? "yes" : "no", means, shown]);
  });
  const told =
    '`{"error": {"code", "message", "request_id", "details"}}` is the form of every error. A code is stable; a message is\nfor people and may change. What may be retried is sent again after `Retry-After`, with the same `Idempotency-Key`.';
  const usual =
    "The usual ones, which the pages of operations do not repeat: `validation_failed`, `validation_error`,\n`payload_too_large` and `unsupported_media_type` for what is sent; `authentication_failed`, `insufficient_scope` and\n`rate_limited` for who sends it; `conflict` for an `Idempotency-Key` that came with another body before;\n`business_rule_violation`, rule `storage_quota`, where the organisation stores as much as it may;\n`internal_error` and `service_unavailable` for the service.";
  return page(
    "Errors",
    told,
    table(["Code", "Status", "Retry", "Meaning", "`details`, for example"], rows),
    usual,
    "`details.rule` of a `business_rule_violation` is one of these:",
    table(
      ["Rule", "Meaning"],
      Object.entries(RULES).map(([name, means]) => row([code(name), means])),
    ),
  );
}

interface Example {
  value: { error: { details: object } };
}

function cliPage(): string {
  const told = "How to get it, and what it is good for, says the [guide](../guides/client.md).";
  const commands = Object.entries(COMMANDS).map(
    ([name, command]) => `## ${name}\n\n${fenced(helpFor(name, command))}`,
  );
  return page("Command line", told, fenced(overview()), ...commands);
}

function settingsPage(): string {
  const told =
    "Environment variables of the server, read once at its start. What is malformed or misspelt is refused.";
  return page("Settings", told, settingsTable());
}

function fenced(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}

/** The anchor that a heading has on GitHub. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
