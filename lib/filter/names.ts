import { nearest } from "../contract/nearest.ts";
import { FilterError, type Node, operands, parseTree } from "./cel.ts";

/** A name of an event that a filter reads: `event.subject`, `data.total`, or `total` for the key of `data`. */
export interface Read {
  of: "event" | "data" | "key";
  name: string;
  /** Whether the filter asks whether it exists. */
  optional: boolean;
  /** Offset in the expression. */
  position: number;
  /** A field that is read of the value. */
  field?: string;
}

/** Attributes of an event that CloudEvents defines, and its data. */
export const ATTRIBUTES = [
  ...["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema"],
  ...["data", "data_base64"],
];
const EXTENSION = /^[a-z0-9]+$/;
/** Macros that bind their first argument to each element. */
const MACROS = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** Literals of other languages. A key of `data` with such a name can be read as `data.None`. */
const LITERALS = new Map([
  ...["True", "TRUE"].map((name) => [name, "true"] as const),
  ...["False", "FALSE"].map((name) => [name, "false"] as const),
  ...["None", "NULL", "nil", "undefined"].map((name) => [name, "null"] as const),
]);

/** Types of CEL, which are no keys of `data`. */
export const OWN = new Set([
  "type",
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "bytes",
  "list",
  "map",
  "dyn",
]);

/** Returns the names that a filter reads of an event, in the order of the expression. @throws FilterError */
export function listReads(expression: string): Read[] {
  return [...findReads(parseTree(expression), { bound: new Set(), optional: false })];
}

/**
 * Refuses a filter that reads what no event can have: `event.event_type`. Any key may be in `data`, and any extension
 * attribute in an event, but its name has lower-case letters and digits only, and its value no fields.
 *
 * @throws FilterError
 */
export function requirePossibleNames(expression: string): void {
  for (const { of, name, position, field } of listReads(expression)) {
    const literal = of === "key" && LITERALS.get(name);
    if (literal) throw new FilterError(`CEL writes \`${literal}\` for \`${name}\``, position);
    if (of !== "event" || name === "data") continue;
    if (!ATTRIBUTES.includes(name) && !EXTENSION.test(name)) {
      const message = `\`event.${name}\` is not a variable: attributes of an event have lower-case letters and digits`;
      throw new FilterError(`${message}. Did you mean \`${attributeLike(name)}\`?`, position);
    }
    if (field !== undefined) {
      const message = `\`event.${name}.${field}\` is not a variable: the attribute \`${name}\` has no fields`;
      throw new FilterError(`${message}. Did you mean \`data.${field}\`?`, position);
    }
  }
}

function attributeLike(name: string): string {
  const like = nearest(name, ATTRIBUTES);
  return like?.close ? `event.${like.name}` : `data.${name}`;
}

interface Context {
  /** Variables of the macros around. */
  bound: ReadonlySet<string>;
  optional: boolean;
}

function* findReads(node: Node, context: Context): Generator<Read> {
  const { bound, optional } = context;
  const selected = selection(node, bound) ?? keySelection(node, bound);
  if (selected) yield { ...selected, optional };
  else if (node.op === "id") {
    const name = node.args as string;
    if (!bound.has(name) && !OWN.has(name)) yield { of: "key", name, optional, position: node.start };
  } else {
    const [name] = node.op === "call" || node.op === "rcall" ? (node.args as [string]) : [];
    const inner = node.op === "call" && name === "has" ? { ...context, optional: true } : context;
    const macro = node.op === "rcall" ? parseMacro(node) : undefined;
    for (const each of macro?.outside ?? operands(node)) yield* findReads(each, inner);
    if (!macro) return;
    const within = { ...inner, bound: new Set([...bound, macro.variable]) };
    for (const each of macro.inside) yield* findReads(each, within);
  }
}

/** Returns what `event.x`, `data.x`, `data["x"]` or `event.x.y` reads; undefined for other nodes. */
function selection(node: Node, bound: Context["bound"]): Omit<Read, "optional"> | undefined {
  const key = selectedKey(node);
  if (key === undefined) return undefined;
  const [target] = node.args as [Node];
  if (target.op === "id") {
    const of = target.args as string;
    if ((of !== "event" && of !== "data") || bound.has(of)) return undefined;
    return { of, name: key, position: node.start };
  }
  const above = selection(target, bound);
  if (above?.of !== "event" || above.field !== undefined) return undefined;
  return above.name === "data" ? { of: "data", name: key, position: node.start } : { ...above, field: key };
}

/** Returns what `key.x` or `key["x"]` reads of a key of `data`. */
function keySelection(node: Node, bound: Context["bound"]): Omit<Read, "optional"> | undefined {
  const field = selectedKey(node);
  if (field === undefined) return undefined;
  const [target] = node.args as [Node];
  const name = target.op === "id" ? (target.args as string) : "";
  if (!name || name === "event" || name === "data" || bound.has(name) || OWN.has(name)) return undefined;
  return { of: "key", name, position: target.start, field };
}

export function selectedKey({ op, args }: Node): string | undefined {
  if (op !== "." && op !== "[]") return undefined;
  const [, key] = args as [Node, string | Node];
  if (typeof key === "string") return key;
  return op === "[]" && key.op === "value" && typeof key.args === "string" ? key.args : undefined;
}

/** Returns the variable of a macro, and its parts by whether they see it; undefined for other calls. */
export function parseMacro(node: Node): { variable: string; outside: Node[]; inside: Node[] } | undefined {
  const [name, receiver, [variable, ...others]] = node.args as [string, Node, Node[]];
  if (variable?.op !== "id") return undefined;
  const of = (outside: Node[], inside: Node[]) => ({ variable: variable.args as string, outside, inside });
  if (MACROS.has(name)) return of([receiver], others);
  const isBind = name === "bind" && receiver.op === "id" && receiver.args === "cel";
  return isBind ? of(others.slice(0, 1), others.slice(1)) : undefined;
}
