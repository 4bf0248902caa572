import { PLATFORM_EVENTS } from "../../lib/cloudevents/platform-types.ts";
import type { Operation } from "../../lib/contract/contract.ts";
import { FAULTS, type FaultCode, isRetryable, RULES } from "../../lib/contract/faults.ts";
import type { JsonSchema } from "../../lib/contract/json-schema.ts";
import { SENDERS } from "../../lib/webhooks/senders.ts";
import { safe } from "../../packages/client/cli/colour.ts";
import { COMMANDS } from "../../packages/client/cli/commands.ts";
import { helpFor, overview } from "../../packages/client/cli/help.ts";
import { operations } from "../../services/contracts.ts";
import { findPresets, makeTools } from "../../services/edge/mcp/tools.ts";
import { INSTALLED, RUNNING } from "../../services/extensions.ts";
import { metricsTable } from "./metrics.ts";
import { COMPONENTS, TAGS } from "./openapi/components.ts";
import { openApiDocument } from "./openapi/openapi.ts";
import { Components } from "./openapi/schemas.ts";
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
    "extensions.md": extensionsPage(),
    "mcp-tools.md": toolsPage(),
    "metrics.md": metricsPage(),
    "platform-events.md": eventsPage(),
    "settings.md": settingsPage(),
    "webhook-senders.md": sendersPage(),
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
    row(["[errors](errors.md)", "Every error code, with an example of its details."]),
    row(["[extensions](extensions.md)", "Optional capabilities, each in a separate folder."]),
    row(["[MCP tools](mcp-tools.md)", "The operations that agents can use as tools."]),
    row(["[metrics](metrics.md)", "What `/metrics` of a node shows, and the alerts that read it."]),
    row(["[platform events](platform-events.md)", "The events that the service publishes."]),
    row(["[command line](cli.md)", "`sensorium` and its commands."]),
    row(["[settings](settings.md)", "The environment variables of the server."]),
    row([
      "[webhook senders](webhook-senders.md)",
      "The known senders: signatures, secrets, handshakes and event types.",
    ]),
  ];
  return page(
    "Reference",
    "Every operation of the API, by domain. [`openapi.json`](../openapi.json) has the same for programs,\n[`asyncapi.json`](../asyncapi.json) the events, deliveries, pushes and webhooks (AsyncAPI 3.0). `/docs` of a server lets you try it. A name with `?` is optional. Unknown query parameters are ignored; unknown fields of a body are\nrefused, unless an operation says otherwise. Times are ISO 8601 in UTC with milliseconds. Numbers are doubles: an integer\nbeyond 2^53 is exact only as text, `1e-400` and `-0` are `0`, and numbers beyond the range of a double (`1e400`) are\nrefused. If a name appears twice in an object, the last one counts. Every POST, PATCH and PUT of an authenticated caller\nthat changes something takes an `Idempotency-Key`; operations that only read ignore it and say so.",
    table(["Domain", "About", "Paths"], rows),
    table(["Other pages", "About"], others),
    table(["Header", "In", "Meaning"], headerRows()),
  );
}

function extensionsPage(): string {
  const rows = INSTALLED.map(({ name, about, settings = {}, domains = {} }) =>
    row([
      `[${code(name)}](../../extensions/${name}/README.md)`,
      about,
      Object.keys(domains)
        .map((domain) => `[${domain}](${domain}.md)`)
        .join(", "),
      Object.keys(settings).map(code).join(" "),
    ]),
  );
  return page(
    "Extensions",
    "Optional capabilities of this version. `EXTENSIONS` names those that run, by default all; `GET /v1/limits` of a server lists\nthem. Operations of one that does not run do not exist: `404 not_found`, and absent from `openapi.json`. [How to write\none](../extensions.md).",
    table(["Name", "About", "Operations", "Settings"], rows),
  );
}

function sendersPage(): string {
  const rows = [...SENDERS].map(([name, { title, schemes, secret, sample, delivery, handshake }]) => {
    const proofs = schemes.map(({ header }) => (header ? code(header) : "a token in the body"));
    return row([
      ...[code(name), title, proofs.join(" or "), secret ?? "You enter ours."],
      ...[code(`com.${name}.${sample.type}`), delivery ? code(delivery) : "", handshake?.about ?? ""],
    ]);
  });
  return page(
    "Webhook senders",
    "The presets of `mapping` of `POST /ingest/webhooks`. A webhook with a preset accepts this sender's signature only. The event\ntype begins with `com.` and the webhook's `source`. Signed times may differ by 5 minutes.",
    table(
      ["Preset", "Sender", "Proof", "Secret", "Event type, for example", "Header with the id", "Handshake"],
      rows,
    ),
  );
}

/** The known senders as the console shows them, as JSON. */
export function sendersFile(): string {
  const shown = [...SENDERS].map(([name, { title, secret, sample }]) => {
    const headers = Object.entries(sample.headers ?? {}).map(([header, value]) => `${header}: ${value}`);
    const given = { payload: sample.payload, ...(headers.length && { headers: headers.join("\n") }) };
    return [name, { title, ...(secret && { secret }), sample: given }];
  });
  return `${JSON.stringify(Object.fromEntries(shown), null, 2)}\n`;
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
  // The root of a domain comes before the paths beneath it.
  const ops = declared.toSorted((a, b) => a.url.split("/").length - b.url.split("/").length);
  // Some operations have two paths.
  const byAction = Map.groupBy(ops, ({ action }) => action);
  const sections = [...byAction.values()].map(([op, ...also]) =>
    operationSection(op as Operation, also, components),
  );
  const list = ops.map((op) => row([code(routeOf(op)), `[${cell(op.summary)}](#${anchorOf(op.summary)})`]));
  const objects = Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return page(
    name.charAt(0).toUpperCase() + name.slice(1),
    TAGS[name] as string,
    table(["Route", "Operation"], list),
    ...sections,
    ...(objects.length
      ? ["## Objects", ...objects.map(([title, schema]) => objectSection(title, schema))]
      : []),
  );
}

function objectSection(title: string, schema: JsonSchema): string {
  const variants = (schema.anyOf ?? [schema]).map((each) =>
    table(["Field", "Type", "Meaning"], rowsOf(each)),
  );
  const shape = variants.some(Boolean) ? variants.filter(Boolean).join("\n\nor\n\n") : `${typeOf(schema)}.`;
  return [`### ${title}`, meaningOf(schema), shape].filter(Boolean).join("\n\n");
}

function toolsPage(): string {
  const rows = [...makeTools(operations).values()].map((each) => {
    const { op, tool } = each;
    const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
    const does = readOnlyHint ? "reads" : destructiveHint ? "changes" : "adds";
    const domain = domainOf(op);
    const { scope = "" } = op.access as { scope?: string };
    return row([
      code(tool.name),
      `[${cell(op.summary)}](${domain}.md#${anchorOf(op.summary)})`,
      does,
      findPresets(each)
        .filter((name) => name !== "all")
        .join(", "),
      scope && code(scope),
    ]);
  });
  const told =
    "The operations that clients of the [Model Context Protocol](../mcp.md) can use as tools, if the caller's scopes allow\n" +
    "them. Parameters are those of the operation; results leave out nulls and what a caller cannot use.";
  return page("MCP tools", told, table(["Tool", "Operation", "Effect", "Presets", "Scope"], rows));
}

function eventsPage(): string {
  const rows = [
    ...Object.entries(PLATFORM_EVENTS),
    ...RUNNING.flatMap(({ events = {} }) => Object.entries(events).map(([type, { means }]) => [type, means])),
  ].map(([type = "", means = ""]) => row([code(type), means]));
  const told =
    "Events that the service publishes. Subscribe to them like to any other; only globs that begin with `service.` (for\n`memory.cited`, with `memory.`) match them. [`asyncapi.json`](../asyncapi.json) has the schema of their `data`. They carry ids and states, never content; `subject` is the id of the resource.\nEvents about a memory or a restricted document reach only agents that may read it. Access is checked again on delivery:\nan agent that has left the team receives no more of them.";
  return page("Platform events", told, table(["Type", "Meaning"], rows));
}

function errorsPage(): string {
  const { components } = openApiDocument(operations) as { components: { examples: Record<string, Example> } };
  const rows = Object.entries(FAULTS).map(([name, { status, means }]) => {
    const { details = {} } = components.examples[name]?.value.error ?? {};
    const shown = Object.keys(details).length ? code(JSON.stringify(details)) : "";
    return row([code(name), String(status), isRetryable(name as FaultCode) ? "yes" : "no", means, shown]);
  });
  const told =
    '`{"error": {"code", "message", "request_id", "details"}}` is the form of every error. Codes are stable; messages\nare for people and may change. Retry retryable requests after `Retry-After`, with the same `Idempotency-Key`.';
  const usual =
    "The pages of operations do not repeat the usual errors. Invalid requests: `validation_failed`, `validation_error`,\n`payload_too_large` and `unsupported_media_type`. Callers without permission or over their rate:\n`authentication_failed`, `insufficient_scope` and `rate_limited`. A reused `Idempotency-Key` with another body:\n`conflict`. A storage quota that is reached: `business_rule_violation`, rule `storage_quota`. Failures of the service:\n`internal_error` and `service_unavailable`.";
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
  const told = "See the [guide](../guides/client.md) for installation and use.";
  const commands = Object.entries(COMMANDS).map(
    ([name, command]) => `## ${name}\n\n${fenced(safe(helpFor(name, command)))}`,
  );
  return page("Command line", told, fenced(safe(overview())), ...commands);
}

function settingsPage(): string {
  const told =
    "Environment variables of the server, read once at its start. Malformed values and misspelt names are refused.";
  return page("Settings", told, settingsTable());
}

function metricsPage(): string {
  return page(
    "Metrics",
    "Each node shows these to Prometheus at `GET /metrics`. [Operate](../guides/operate.md#monitor) says what to watch. A histogram has the\nseries `…_bucket`, `…_count` and `…_sum`. Metrics of what a node does not have, such as Redis or the embedded store, are absent\nor stay 0. The process adds `process_…` and `nodejs_…`.",
    metricsTable(),
  );
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
