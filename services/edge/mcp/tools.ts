import type { Tool } from "@modelcontextprotocol/server";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault, isFault } from "../../../lib/contract/faults.ts";
import { compileKeyCheck, type KeyCheck } from "../../../lib/contract/known-keys.ts";
import { isRefusedInBand, requireAccess } from "../gateway/access/access.ts";
import { inputSchema, outputSchema } from "./schemas.ts";

/** An operation as MCP offers it. */
export interface OperationTool {
  op: Operation;
  tool: Tool;
}

/** The tools of all operations that are offered to agents, by their names. Pure: of the same contracts the same tools. */
export function toolsOf(operations: readonly Operation[]): ReadonlyMap<string, OperationTool> {
  const tools = operations.filter(({ mcp }) => mcp).map((op) => ({ op, tool: describe(op) }));
  tools.sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  return new Map(tools.map((each) => [each.tool.name, each]));
}

/** Those tools that `chosen` names, by domain (`memories`) or one by one (`memories_search`); all where it is absent. */
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

/** What a caller is told that names a tool that is not there: those of the same domain, for names are easily mistaken. */
export function noTool(name: string, tools: readonly Tool[]): string {
  const [domain = ""] = name.split(/[_.]/);
  const near = tools.filter((tool) => tool.name.startsWith(`${domain}_`)).map((tool) => tool.name);
  return `There is no tool ${name}.${near.length ? ` There are: ${near.join(", ")}.` : ""}`;
}

const keyChecks = new WeakMap<Tool, KeyCheck>();

/** A fault that names an argument which a tool with a body, or for a change, does not have. */
export function unknownArgument({ op, tool }: OperationTool, given: object): Fault | null {
  if (op.method === "GET" || op.wholeBody) return null;
  const check = keyChecks.get(tool) ?? compileKeyCheck(tool.inputSchema);
  keyChecks.set(tool, check);
  return check(given);
}

/** Says which arguments a tool that reads does not have: they are ignored, as over HTTP, but a model meant something. */
export function ignoredOf({ op, tool }: OperationTool, given: object): string | undefined {
  if (op.method !== "GET") return undefined;
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const ignored = Object.keys(given).filter((name) => !known.includes(name));
  if (ignored.length === 0) return undefined;
  const takes = known.length ? `takes ${known.join(", ")}` : "takes none";
  return `Ignored, as ${tool.name} has no such argument: ${ignored.join(", ")}. It ${takes}.`;
}

function noSuchTool(value: string, tools: ReadonlyMap<string, OperationTool>): Fault {
  const domains = [...new Set([...tools.values()].map(({ op }) => domainOf(op)))].sort();
  const expected = `${domains.join(", ")}, or names of tools`;
  const details = { field: "tools", value, expected, example: "memories,handoffs" };
  return new Fault(
    "validation_failed",
    `tools: ${value} is neither a domain nor a tool: expected ${expected}.`,
    details,
  );
}

/** Whether a caller may use an operation at all: whether it is listed for it. */
export function isOffered(op: Operation, caller: Caller): boolean {
  try {
    requireAccess(op, caller);
    return !isRefusedInBand(op, caller);
  } catch (err) {
    if (isFault(err)) return false;
    throw err;
  }
}

/** `memories.search` → `memories_search`: many clients take no dot in a tool's name. */
function describe(op: Operation): Tool {
  const { summary, mcp } = op;
  const description = (typeof mcp === "object" ? mcp.description : undefined) ?? op.description;
  const output = outputSchema(op);
  return {
    name: op.action.replace(".", "_"),
    title: summary,
    description: description ? `${summary}. ${description}` : `${summary}.`,
    inputSchema: inputSchema(op),
    ...(output && { outputSchema: output }),
    annotations: hints(op),
  };
}

/** What a client may take for granted when it decides whether to ask its user: the method's meaning, unless the contract knows better. */
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
