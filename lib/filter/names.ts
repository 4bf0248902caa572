import { nearest } from "../contract/nearest.ts";
import { type CheckedNode, operands } from "./meter.ts";
import { FilterError, treeOf } from "./program.ts";

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
export function readsOf(expression: string): Read[] {
  const reads: Read[] = [];
  visit(treeOf(expression), { bound: new Set(), optional: false, reads });
  return reads;
}

/**
 * Refuses a filter that reads what no event can have: `event.event_type`. Any key may be in `data`, and any extension
 * attribute in an event, but its name has lower-case letters and digits only, and its value no fields.
 *
 * @throws FilterError
 */
export function requirePossibleNames(expression: string): void {
  for (const { of, name, position, field } of readsOf(expression)) {
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

interface Place {
  /** Variables of the macros around. */
  bound: ReadonlySet<string>;
  optional: boolean;
  reads: Read[];
}

function visit(node: CheckedNode, place: Place): void {
  if (node.op === "id") {
    const name = node.args as string;
    if (!place.bound.has(name) && !OWN.has(name)) add(place, { of: "key", name, position: node.start });
    return;
  }
  const selected = selection(node, place);
  if (selected) {
    add(place, selected);
    return;
  }
  if (node.op === "call" && (node.args as [string])[0] === "has") {
    for (const each of operands(node)) visit(each, { ...place, optional: true });
    return;
  }
  if (node.op === "rcall" && visitMacro(node, place)) return;
  for (const each of operands(node)) visit(each, place);
}

/** Returns what `event.x`, `data.x`, `data["x"]` or `event.x.y` reads; undefined for other nodes. */
function selection(node: CheckedNode, { bound }: Place): Omit<Read, "optional"> | undefined {
  const key = keyOf(node);
  if (key === undefined) return undefined;
  const [target] = node.args as [CheckedNode];
  if (target.op === "id") {
    const of = target.args as string;
    if ((of !== "event" && of !== "data") || bound.has(of)) return undefined;
    return { of, name: key, position: node.start };
  }
  const above = selection(target, { bound } as Place);
  if (!above || above.field !== undefined) return undefined;
  if (above.of !== "event") return undefined;
  return above.name === "data" ? { of: "data", name: key, position: node.start } : { ...above, field: key };
}

/** Returns the literal key that a node selects. */
function keyOf({ op, args }: CheckedNode): string | undefined {
  if (op !== "." && op !== "[]") return undefined;
  const [, key] = args as [CheckedNode, string | CheckedNode];
  if (typeof key === "string") return key;
  return op === "[]" && key.op === "value" && typeof key.args === "string" ? key.args : undefined;
}

/** Visits a macro with its variable bound; false for other calls. */
function visitMacro(node: CheckedNode, place: Place): boolean {
  const [name, receiver, [variable, ...others]] = node.args as [string, CheckedNode, CheckedNode[]];
  const isBind = name === "bind" && receiver.op === "id" && receiver.args === "cel";
  if (variable?.op !== "id" || !(isBind || MACROS.has(name))) return false;
  const within = { ...place, bound: new Set([...place.bound, variable.args as string]) };
  if (isBind) visit(others.shift() as CheckedNode, place);
  else visit(receiver, place);
  for (const each of others) visit(each, within);
  return true;
}

function add({ optional, reads }: Place, read: Omit<Read, "optional">): void {
  reads.push({ ...read, optional });
}
