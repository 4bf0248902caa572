import { ATTRIBUTES } from "../cloudevents/cloudevents.ts";
import { nearest } from "../contract/nearest.ts";
import { FilterError, type Node, operands, parseTree } from "./cel.ts";
import { compileGlob } from "./glob.ts";

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

/** Names of an event that CloudEvents defines. */
export const DEFINED = [...ATTRIBUTES, "data", "data_base64"];
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
export const OWN = new Set("type int uint double bool string bytes list map dyn".split(" "));

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
    if (!DEFINED.includes(name) && !EXTENSION.test(name)) {
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
  const like = nearest(name, DEFINED);
  return like?.close ? `event.${like.name}` : `data.${name}`;
}

interface Context {
  /** Variables of the macros around. */
  bound: ReadonlySet<string>;
  optional: boolean;
}

function* findReads(node: Node, context: Context): Generator<Read> {
  const { bound, optional } = context;
  const selected = selection(node, bound);
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

/** Returns what `event.x`, `data["x"]`, `event.x.y`, or `key.x` of a key of `data` reads; undefined for other nodes. */
function selection(node: Node, bound: Context["bound"]): Omit<Read, "optional"> | undefined {
  const key = selectedKey(node);
  if (key === undefined) return undefined;
  const [target] = node.args as [Node];
  if (target.op === "id") {
    const of = target.args as string;
    if (bound.has(of) || OWN.has(of)) return undefined;
    if (of === "event" || of === "data") return { of, name: key, position: node.start };
    return { of: "key", name: of, position: target.start, field: key };
  }
  const above = selection(target, bound);
  if (above?.of !== "event" || above.field !== undefined) return undefined;
  return above.name === "data" ? { of: "data", name: key, position: node.start } : { ...above, field: key };
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

/** Returns a warning of a type or glob with an empty part, such as `com..x`, or with spaces; null if it has neither. */
export function malformed(type: string): string | null {
  const hasSpaces = /\s/.test(type);
  if (!hasSpaces && !/^\.|\.\.|\.$/.test(type)) return null;
  const meant = type
    .trim()
    .replace(/[\s.]+/g, ".")
    .replace(/^\.|\.$/g, "");
  const what = hasSpaces ? "spaces" : "an empty part between dots";
  return `The type \`${type}\` has ${what}.${meant ? ` Did you mean \`${meant}\`?` : ""}`;
}

/**
 * Returns a warning of a type or glob that none of the types seen matches, while one would with one letter added, removed
 * or changed, or two swapped; null otherwise.
 */
export function neighbourSeen(glob: string, types: readonly string[]): string | null {
  const compiled = compileGlob(glob);
  const { prefix } = compiled;
  if (types.some((type) => compiled.test(type))) return null;
  const rest = glob.slice(prefix.length);
  for (const type of types) {
    for (const more of [0, -1, 1]) {
      const start = type.slice(0, prefix.length + more);
      const meant = start + rest;
      if (!isSlip(prefix, start) || !isGlobFor(meant, type)) continue;
      return `None of the last events has a type that \`${glob}\` matches. Did you mean \`${meant}\`?`;
    }
  }
  return null;
}

function isGlobFor(glob: string, type: string): boolean {
  try {
    return compileGlob(glob).test(type);
  } catch {
    // A seen type with wildcards in it.
    return false;
  }
}

/** A shorter part, such as a version, differs from its neighbours in one letter as well. */
const LEAST_PART = 4;

/** Whether a text is one edit of letters away from another, within a part of the type. */
function isSlip(name: string, meant: string): boolean {
  const least = Math.min(name.length, meant.length);
  let same = 0;
  while (same < least && name[same] === meant[same]) same++;
  let end = 0;
  while (end < least - same && name.at(-1 - end) === meant.at(-1 - end)) end++;
  const [a, b] = [name.slice(same, name.length - end), meant.slice(same, meant.length - end)];
  const isSwapped = a.length === 2 && a[0] === b[1] && a[1] === b[0] && b.length === 2;
  if (Math.max(a.length, b.length) !== 1 && !isSwapped) return false;
  const part = (text: string, edit: string) =>
    (/[^.]*$/.exec(text.slice(0, same))?.[0].length ?? 0) +
    edit.length +
    (/^[^.]*/.exec(text.slice(same + edit.length))?.[0].length ?? 0);
  return /^\p{L}*$/u.test(a + b) && Math.min(part(name, a), part(meant, b)) >= LEAST_PART;
}
