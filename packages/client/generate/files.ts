import type { Operation as Contract } from "../../../lib/contract/contract.ts";
import { FAULTS } from "../../../lib/contract/faults.ts";
import { describe, nameOf, pagesOf } from "./operations.ts";
import { comment, declare, type JsonSchema, SchemaTypes } from "./schema-types.ts";

const NOTE = "// Written by `npm run openapi` from the contracts: change those.\n";

/** Returns the generated files by name. Pure: the same contracts give the same files. */
export function generated(contracts: readonly Contract[]): Record<string, string> {
  const services = new Map<string, Map<string, Contract>>();
  for (const op of contracts) {
    // Separate protocols with their own clients.
    if (op.action === "gateway.mcp" || op.oauth) continue;
    const [service, name] = nameOf(op);
    if (!services.has(service)) services.set(service, new Map());
    const calls = services.get(service) as Map<string, Contract>;
    // For an operation at two paths, use the one under /v1.
    if (!calls.has(name) || !op.root) calls.set(name, op);
  }
  const sorted = [...services].sort(([a], [b]) => (a < b ? -1 : 1));
  return { "operations.ts": tableOf(sorted), "types.ts": indent(typesOf(sorted)) };
}

type Services = [string, Map<string, Contract>][];

function tableOf(services: Services): string {
  const groups = services.map(([service, calls]) => {
    const rows = [...calls].map(([name, op]) => `    ${name}: ${JSON.stringify(describe(op))},\n`);
    return `  ${service}: {\n${rows.join("")}  },\n`;
  });
  const head = 'import type { Operation } from "../operation.ts";\n\n';
  const table = `export const OPERATIONS = {\n${groups.join("")}} as const satisfies Record<string, Record<string, Operation>>;\n`;
  return NOTE + head + table;
}

function typesOf(services: Services): string {
  const types = new SchemaTypes();
  const own: string[] = [];
  const groups = services.map(([service, calls]) => {
    const rows = [...calls].map(([name, op]) => {
      const prefix = capital(service) + capital(name);
      own.push(
        declare(`${prefix}Params`, paramsOf(op, types)),
        declare(`${prefix}Result`, resultOf(op, types)),
      );
      return `${comment(documentation(op))}${name}: ${callOf(op, prefix)};\n`;
    });
    return `${service}: {\n${rows.join("")}};\n`;
  });
  return [
    `${NOTE}import type { Call, PagedCall, StreamCall } from "../operation.ts";\n`,
    `/** Every operation of the service: \`api.<domain>.<operation>(params)\`. */\nexport interface Api {\n${groups.join("")}}\n`,
    `${comment("The codes of errors.")}export type FaultCode =\n${Object.keys(FAULTS)
      .map((code) => `| "${code}"`)
      .join("\n")};\n`,
    ...own,
    ...types.declarations,
  ].join("\n");
}

function callOf(op: Contract, prefix: string): string {
  if (op.stream) return `StreamCall<${prefix}Params>`;
  const pages = pagesOf(op);
  if (!pages) return `Call<${prefix}Params, ${prefix}Result>`;
  const item = pages.items === "" ? `${prefix}Result[number]` : `${prefix}Result["${pages.items}"][number]`;
  return `PagedCall<${prefix}Params, ${prefix}Result, ${item}>`;
}

function paramsOf(op: Contract, types: SchemaTypes): string {
  const { required = [] } = op.params as unknown as JsonSchema;
  const fields = { ...op.path, ...op.query, ...op.body } as Record<string, JsonSchema>;
  return Object.keys(fields).length ? types.fields(fields, required) : "Record<never, never>";
}

function resultOf(op: Contract, types: SchemaTypes): string {
  // In the requested format.
  if (op.produces) return op.produces.every((type) => type.startsWith("text/")) ? "string" : "string | Blob";
  const good = Object.entries(op.results).filter(([status]) => Number(status) < 300);
  const written = good.map(([, schema]) => (schema === null ? "undefined" : types.of(schema as JsonSchema)));
  if (op.alsoProduces) written.push("string");
  return [...new Set(written)].join(" | ");
}

function documentation({ summary, description, access }: Contract): string {
  const { scope } = access as { scope?: string };
  return [`${summary}.`, description, scope && `Needs the scope \`${scope}\`.`].filter(Boolean).join("\n\n");
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Indents by two spaces per open brace. */
function indent(text: string): string {
  let depth = 0;
  return text
    .split("\n")
    .map((line) => {
      if (isComment(line)) return `${"  ".repeat(depth)}${line}`.trimEnd();
      if (/^[}\]]/.test(line)) depth--;
      const written = `${"  ".repeat(depth)}${line}`.trimEnd();
      depth += count(line, "{") - count(line, "}") + (/^[}\]]/.test(line) ? 1 : 0);
      return written;
    })
    .join("\n");
}

function isComment(line: string): boolean {
  return /^(\/\/|\/\*| \*)/.test(line);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
