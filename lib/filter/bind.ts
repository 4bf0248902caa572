import { FilterError, type Node, operands, parseTree } from "./cel.ts";
import { parseMacro, selectedKey } from "./names.ts";

export type Bindable = string | number | boolean | null | undefined | { readonly [key: string]: Bindable };

/** A part of a filter that reads a name: `run.values.order`, or `has(run.values.order)`. */
interface Use {
  path: string[];
  asks: boolean;
  start: number;
  end: number;
}

/**
 * Replaces what a filter reads of a name (`run.values.order`) by the value as a literal, so that filters which differ
 * only in these values are compiled once. `has(…)` of it becomes `true` or `false`.
 *
 * @throws FilterError if there is no such text, number, truth value or null
 */
export function bindName(expression: string, name: string, value: Bindable): string {
  let bound = "";
  let end = 0;
  for (const use of findUses(parseTree(expression), name)) {
    bound += expression.slice(end, use.start) + toLiteral(use, name, value);
    end = use.end;
  }
  return bound + expression.slice(end);
}

/** Yields the uses of a name in the order of the expression. */
function* findUses(node: Node, name: string): Generator<Use> {
  const { start, end } = node;
  const argument = node.op === "call" && (node.args as [string])[0] === "has" ? operands(node)[0] : undefined;
  const path = pathOf(argument ?? node, name);
  if (path) {
    yield { path, asks: argument !== undefined, start, end };
    return;
  }
  const macro = node.op === "rcall" ? parseMacro(node) : undefined;
  const parts = macro?.variable === name ? macro.outside : operands(node);
  for (const part of parts) yield* findUses(part, name);
}

/** Returns the keys that a node selects of a name; undefined if it is something else. */
function pathOf(node: Node, name: string): string[] | undefined {
  if (node.op === "id") return node.args === name ? [] : undefined;
  const key = selectedKey(node);
  const path = key === undefined ? undefined : pathOf((node.args as [Node])[0], name);
  return path && [...path, key as string];
}

function toLiteral({ path, asks, start }: Use, name: string, value: Bindable): string {
  let current: Bindable = value;
  for (const key of path) current = isMap(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  if (asks) return String(current !== undefined && current !== null);
  if (current === undefined || isMap(current))
    throw new FilterError(`\`${[name, ...path].join(".")}\` has no value`, start);
  // Below zero, a sign could follow another one.
  return typeof current === "number" && current < 0 ? `(${current})` : JSON.stringify(current);
}

function isMap(value: Bindable): value is { readonly [key: string]: Bindable } {
  return typeof value === "object" && value !== null;
}
