import type { Tool } from "@modelcontextprotocol/server";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault, isFault } from "../../../lib/contract/faults.ts";
import { compileKeyCheck } from "../../../lib/contract/known-keys.ts";
import { oncePer } from "../../../lib/once-per.ts";
import { isRefusedInBand, requireAccess } from "../gateway/access/access.ts";
import { inputSchema, outputSchema } from "./schemas.ts";

/** An operation as MCP offers it. */
export interface OperationTool {
  op: Operation;
  tool: Tool;
}

/** Returns the tools of all operations offered to agents, by name. Pure: equal contracts give equal tools. */
export function toolsOf(operations: readonly Operation[]): ReadonlyMap<string, OperationTool> {
  const tools = operations.filter(({ mcp }) => mcp).map((op) => ({ op, tool: describe(op) }));
  tools.sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  return new Map(tools.map((each) => [each.tool.name, each]));
}

/** Returns the tools in `chosen`, by domain (`memories`) or by name (`memories_search`); all if it is absent. */
export function choose(
  tools: ReadonlyMap<string, OperationTool>,
  chosen: string | undefined,
): ReadonlyMap<string, OperationTool> {
  if (chosen === undefined) return tools;
  const names = chosen.split(",").map((name) => name.trim());
  const unknown = names.find((name) => ![...tools.values()].some((tool) => isNamed(tool, name)));
  if (unknown !== undefined) throw noSuchTool(unknown, tools);
  return new Map([...tools].filter(([, tool]) => names.some((name) => isNamed(tool, name))));
}

function isNamed({ op, tool }: OperationTool, name: string): boolean {
  return tool.name === name || domainOf(op) === name;
}

function domainOf({ action }: Operation): string {
  return action.split(".")[0] as string;
}

/** Builds the message for an unknown tool; it lists the tools of the same domain, because names are easily confused. */
export function noTool(name: string, tools: readonly Tool[]): string {
  const [domain = ""] = name.split(/[_.]/);
  const near = tools.filter((tool) => tool.name.startsWith(`${domain}_`)).map((tool) => tool.name);
  return `You have no tool ${name}. ${near.length ? `Similar: ${near.join(", ")}.` : "tools/list returns the available ones."}`;
}

const keyCheckOf = oncePer(({ inputSchema }: Tool) => compileKeyCheck(inputSchema));

/** Returns a fault that names an unknown argument, for tools with a body or for changes. */
export function unknownArgument({ op, tool }: OperationTool, given: object): Fault | null {
  if (op.method === "GET" || op.wholeBody) return null;
  return keyCheckOf(tool)(given);
}

/**
 * Returns a remark on unknown arguments of a read: they are ignored, as over HTTP, but the model meant something by
 * them.
 */
export function ignoredOf({ op, tool }: OperationTool, given: object): string | undefined {
  if (op.method !== "GET") return undefined;
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const ignored = Object.keys(given).filter((name) => !known.includes(name));
  if (ignored.length === 0) return undefined;
  const allowed = known.length ? known.join(", ") : "none";
  return `Ignored unknown arguments: ${ignored.join(", ")}. Arguments of ${tool.name}: ${allowed}.`;
}

function noSuchTool(value: string, tools: ReadonlyMap<string, OperationTool>): Fault {
  const domains = [...new Set([...tools.values()].map(({ op }) => domainOf(op)))].sort();
  const expected = `${domains.join(", ")}, or names of tools`;
  const details = { field: "tools", value, expected, example: "memories,handoffs" };
  return new Fault(
    "validation_failed",
    `tools: no domain or tool is named ${value}. Expected ${expected}.`,
    details,
  );
}

/** Whether an operation is listed for a caller, who may use it. */
export function isOffered(op: Operation, caller: Caller): boolean {
  try {
    requireAccess(op, caller);
    return !isRefusedInBand(op, caller);
  } catch (err) {
    if (isFault(err)) return false;
    throw err;
  }
}

/** `memories.search` → `memories_search`: many clients accept no dot in a tool's name. */
function describe(op: Operation): Tool {
  const { summary, mcp } = op;
  // Omit the summary, which is the title: clients send both to the model.
  const description =
    (typeof mcp === "object" ? mcp.description : undefined) ?? op.description ?? `${summary}.`;
  const output = outputSchema(op);
  return {
    name: op.action.replace(".", "_"),
    title: summary,
    description,
    inputSchema: inputSchema(op),
    ...(output && { outputSchema: output }),
    annotations: hints(op),
  };
}

/**
 * Returns the annotations by which a client decides whether to ask its user: derived from the method, unless the
 * contract overrides them.
 */
function hints({ method, mcp, takes, reads }: Operation): Tool["annotations"] {
  const given = typeof mcp === "object" ? mcp : {};
  const readOnlyHint = reads ?? (method === "GET" && !takes);
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && (given.destructive ?? method !== "POST"),
    idempotentHint: given.idempotent ?? (readOnlyHint || method !== "POST"),
    openWorldHint: false,
  };
}
