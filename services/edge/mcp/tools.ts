import type { Tool } from "@modelcontextprotocol/server";
import type { Caller } from "../../../lib/access/caller.ts";
import { type Operation, pathsOfAliases, toolHints } from "../../../lib/contract/contract.ts";
import { Fault, isFault } from "../../../lib/contract/faults.ts";
import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import { compileKeyCheck } from "../../../lib/contract/known-keys.ts";
import { nearest } from "../../../lib/contract/nearest.ts";
import { oncePer } from "../../../lib/once-per.ts";
import { RUNNING } from "../../extensions.ts";
import { isRefusedInBand, requireAccess } from "../gateway/access/access.ts";
import { type Kept, selectKept } from "./results.ts";
import { brief, inputSchema, valueSchema } from "./schemas.ts";

/** An operation as MCP offers it. */
export interface OperationTool {
  op: Operation;
  /** With all parameters. */
  tool: Tool;
  /** As presets list it: the usual parameters, no limits of values. */
  brief: Tool;
  /** The returned part of an answer. */
  kept: Kept;
}

/** The tools for a message. */
export interface Choice {
  /** Those that may be called. */
  callable: ReadonlyMap<string, OperationTool>;
  listed: readonly OperationTool[];
  isBrief: boolean;
}

/** Returns the tools of all operations offered to agents, by name. Pure: equal contracts give equal tools. */
export function makeTools(operations: readonly Operation[]): ReadonlyMap<string, OperationTool> {
  const tools = operations.filter(({ mcp }) => mcp).map(describe);
  tools.sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  return new Map(tools.map((each) => [each.tool.name, each]));
}

/**
 * Returns the tools in `chosen`, by preset (`remember`), domain (`memories`) or name (`memories_search`). Without a
 * choice the default preset is listed, and all may be called. @throws Fault validation_failed for an unknown name
 */
export function choose(tools: ReadonlyMap<string, OperationTool>, chosen: string | undefined): Choice {
  const wanted = (chosen ?? "").split(",").map((name) => name.trim().toLowerCase().replace(".", "_"));
  const isChosen = wanted.some(Boolean);
  const names = isChosen ? wanted.filter(Boolean) : [DEFAULT_PRESET];
  const unknown = names.find((name) => ![...tools.values()].some((tool) => isNamed(tool, name)));
  if (unknown !== undefined) throw noSuchTool(unknown, tools);
  const listed = [...tools.values()].filter((tool) => names.some((name) => isNamed(tool, name)));
  const callable = isChosen ? new Map(listed.map((each) => [each.tool.name, each])) : tools;
  return { callable, listed, isBrief: names.every((name) => name in PRESETS && name !== "all") };
}

/** Returns the presets that contain a tool. */
export function findPresets(tool: OperationTool): string[] {
  return Object.keys(PRESETS).filter((name) => isNamed(tool, name));
}

function isNamed({ op, tool }: OperationTool, name: string): boolean {
  if (name === "all") return true;
  if (name === "core") return toolHints(op).core !== undefined;
  return tool.name === name || domainOf(op) === name || PRESETS[name]?.includes(domainOf(op)) === true;
}

function domainOf({ action }: Operation): string {
  return action.split(".")[0] as string;
}

/** Builds the message for an unknown tool; it lists the tools of the same domain, because names are easily confused. */
export function noTool(name: string, names: readonly string[]): string {
  const [domain = ""] = name.split(/[_.]/);
  const same = names.filter((each) => each.startsWith(`${domain}_`));
  const guess = nearest(name, names);
  const near = same.length ? same : guess?.close ? [guess.name] : [];
  return `You have no tool ${name}. ${near.length ? `Similar: ${near.join(", ")}.` : "tools/list returns the available ones."}`;
}

const keyCheckOf = oncePer(({ op, tool }: OperationTool) =>
  compileKeyCheck(tool.inputSchema, {
    representations: op.representations,
    dropsNulls: op.method !== "PATCH",
  }),
);

/** Also knows the names that the short form lists for fields of parameters, to suggest them. */
const listedCheckOf = oncePer(({ tool, brief }: OperationTool) => {
  const properties = { ...brief.inputSchema.properties, ...tool.inputSchema.properties };
  return compileKeyCheck({ ...tool.inputSchema, properties });
});

/** Returns a fault that names an unknown argument, for tools with a body or for changes. */
export function unknownArgument(called: OperationTool, args: object): Fault | null {
  const { op } = called;
  if (op.method === "GET" || op.wholeBody) return null;
  const fault = keyCheckOf(called)(args);
  return fault && (listedCheckOf(called)(args) ?? fault);
}

/**
 * Returns a remark on unknown arguments that have no effect, or not the one that the model may mean: a read ignores them,
 * as over HTTP, and an event keeps them.
 */
export function remarkOn(
  { op, tool }: OperationTool,
  args: object,
  { status }: { status: number },
): string | undefined {
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const unknown = Object.keys(args).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  if (op.consumes === "cloudevents" && status < 400)
    return `Stored as extension attributes of the event: ${unknown.join(", ")}. They choose no receivers: interests do.`;
  if (op.method !== "GET") return undefined;
  const allowed = known.length ? known.join(", ") : "none";
  return `Ignored unknown arguments: ${unknown.join(", ")}. Arguments of ${tool.name}: ${allowed}.`;
}

function noSuchTool(value: string, tools: ReadonlyMap<string, OperationTool>): Fault {
  const domains = [...new Set([...tools.values()].map(({ op }) => domainOf(op)))].sort();
  const expected = `${Object.keys(PRESETS).join(", ")}; ${domains.join(", ")}; or names of tools`;
  const details = { field: "tools", value, expected, example: "core,documents" };
  const message = `tools: no preset, domain or tool is named ${value}. Expected ${expected}.`;
  return new Fault("validation_failed", message, details);
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
function describe(op: Operation): OperationTool {
  const { summary } = op;
  const { description, core, answers } = toolHints(op);
  const value = valueSchema(op);
  const kept = value ? selectKept(value, answers) : true;
  const input = inputSchema(op);
  const tool: Tool = {
    name: op.action.replace(".", "_"),
    title: summary,
    // Omit the summary, which is the title: clients send both to the model.
    description: description ?? op.description ?? `${summary}.`,
    inputSchema: input,
    annotations: annotationsOf(op),
  };
  return {
    op,
    tool,
    brief: { ...tool, inputSchema: brief(input as JsonSchema, core, pathsOfAliases(op)) },
    kept,
  };
}

/**
 * Returns the annotations by which a client decides whether to ask its user: derived from the method, unless the
 * contract overrides them.
 */
function annotationsOf(op: Operation): Tool["annotations"] {
  const { method, takes, reads } = op;
  const hints = toolHints(op);
  const readOnlyHint = reads ?? (method === "GET" && !takes);
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && (hints.destructive ?? method !== "POST"),
    idempotentHint: hints.idempotent ?? (readOnlyHint || method !== "POST"),
    openWorldHint: false,
  };
}

/** The domains of running extensions whose tools belong to a preset. */
function ofExtensions(preset: string): string[] {
  return RUNNING.flatMap((each) => (each.preset === preset ? Object.keys(each.domains ?? {}) : []));
}

/** The sets of tools that have a name; the domains of each. `core`: those whose contract says so. */
export const PRESETS: Record<string, readonly string[]> = {
  core: [],
  sense: ["events", "interests", "deliveries", "channels", "findings"],
  remember: [
    "memories",
    "merges",
    "relationships",
    "documents",
    "bundles",
    "handoffs",
    "findings",
    ...ofExtensions("remember"),
  ],
  work: ["runs", "templates", "handoffs", "outputs", "exemplars", "specialists", "projects"],
  all: [],
};

/** Listed if nobody chooses another. */
const DEFAULT_PRESET = "core";
