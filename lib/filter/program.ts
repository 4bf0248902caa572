import { type ASTNode, Environment, type ParseResult } from "@marcbachmann/cel-js";
import { LruMap } from "../lru-map.ts";
import { correct, extend } from "./corrections.ts";
import { charge } from "./cost.ts";
import { compileRegex, type LinearRegex } from "./linear-regex.ts";
import { type CheckedNode, meter, walk } from "./meter.ts";

/** A filter that cannot be compiled; `position` is the offset of the error in the expression. */
export class FilterError extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = "FilterError";
    this.position = position;
  }
}

/** A checked, metered expression without its literals, which `run` inserts. */
export interface Program {
  run(names: Map<string, unknown>, literals: Literal[]): unknown;
}

export type Literal = string | number | bigint;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxDepth: 100 },
}).registerFunction({
  signature: "matches(string, string): bool",
  // Never called: `useLinearRegex` replaces it by RE2.
  handler: () => false,
  async: false,
});

extend(environment);

const MIXED = [
  ["double", "int"],
  ["int", "double"],
];
const ARITHMETIC: Record<string, (left: number, right: number) => number> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
};

// CEL has no arithmetic of an int with a double, and no `%` of doubles. Numbers of JSON are doubles, so `data.n * 2 >
// 10` and `data.n % 2 == 0` would silently never match.
for (const [operator, apply] of Object.entries(ARITHMETIC)) {
  const handler = (left: unknown, right: unknown) => apply(Number(left), Number(right));
  for (const kinds of operator === "%" ? [...MIXED, ["double", "double"]] : MIXED)
    environment.registerOperator(`${kinds[0]} ${operator} ${kinds[1]}: double`, handler);
}

/** Returns the names of all functions, methods and macros of filters. */
export function functionNames(): string[] {
  return [...new Set(environment.getDefinitions().functions.map(({ name }) => name))];
}

/**
 * Compiles an expression. Filters that differ only in their literals, such as a customer's id in each of a hundred
 * thousand, share one program: a program takes 2 kB, a list of literals 100 bytes.
 *
 * @throws FilterError
 */
export function compileProgram(expression: string): { program: Program; literals: Literal[] } {
  const parsed = parse(expression);
  const nodes = literalNodes(parsed.ast as unknown as CheckedNode);
  const literals = nodes.map((node) => node.args as Literal);
  const shape = shapeOf(expression, nodes);
  const program = programs.get(shape) ?? build(parsed, nodes);
  programs.set(shape, program);
  return { program, literals };
}

/** Shape → program. Filters hold on to their own program; a forgotten one is only no longer shared with new ones. */
const programs = new LruMap<string, Program>(1000);

/** Returns the syntax tree of an expression. @throws FilterError */
export function treeOf(expression: string): CheckedNode {
  return parse(expression).ast as unknown as CheckedNode;
}

function parse(expression: string): ParseResult {
  try {
    return environment.parse(expression);
  } catch (error) {
    throw filterError(error);
  }
}

/** Replaces every literal in the expression by its type, which decides how cel-js compiles the operations on it. */
function shapeOf(expression: string, nodes: CheckedNode[]): string {
  let shape = "";
  let end = 0;
  for (const node of nodes.toSorted((a, b) => a.start - b.start)) {
    shape += `${expression.slice(end, node.start)}\0${typeof node.args}`;
    end = node.end;
  }
  return shape + expression.slice(end);
}

/** Returns the strings and numbers, except patterns of `matches`, which are compiled into the program. */
function literalNodes(ast: CheckedNode): CheckedNode[] {
  const nodes = [...walk(ast)];
  const patterns = new Set(nodes.map((node) => matchesCall(node)?.pattern));
  return nodes.filter((node) => node.op === "value" && isLiteral(node.args) && !patterns.has(node));
}

function isLiteral(value: unknown): value is Literal {
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint";
}

let currentLiterals: Literal[] = [];

function build(parsed: ParseResult, nodes: CheckedNode[]): Program {
  check(parsed);
  correct(parsed.ast);
  useLinearRegex(parsed.ast);
  meter(parsed.ast);
  nodes.forEach((node, i) => {
    node.setMeta("evaluate", () => currentLiterals[i]);
  });
  return {
    run(names, literals) {
      currentLiterals = literals;
      return parsed(names as never);
    },
  };
}

function check(parsed: ParseResult): void {
  const { valid, type, error } = parsed.check();
  if (!valid) throw filterError(error);
  if (type !== "bool" && type !== "dyn") {
    throw new FilterError(`a filter must return a bool, this one returns ${type}`, 0);
  }
}

function filterError(error: unknown): FilterError {
  const { range } = error as { range?: { start: number } };
  return new FilterError(errorText(error), range?.start ?? 0);
}

/** Returns the plain text of an error: cel-js puts a drawing into `message` and the text into `summary`. */
export function errorText(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string };
  return summary ?? message ?? String(error);
}

/** Replaces `matches`, for which cel-js uses the backtracking RegExp, by RE2. */
function useLinearRegex(ast: ASTNode): void {
  for (const node of walk(ast as unknown as CheckedNode)) {
    const call = matchesCall(node);
    if (call !== null) evaluateWithRegex(node, call.text, call.pattern);
  }
}

function matchesCall(node: CheckedNode): { text: CheckedNode; pattern: CheckedNode } | null {
  if (node.op !== "call" && node.op !== "rcall") return null;
  const [name, ...rest] = node.args as [string, ...(CheckedNode | CheckedNode[])[]];
  const [text, pattern] = rest.flat();
  return name === "matches" && text && pattern ? { text, pattern } : null;
}

function evaluateWithRegex(node: CheckedNode, text: CheckedNode, pattern: CheckedNode): void {
  if (pattern.op !== "value" || typeof pattern.args !== "string") {
    throw new FilterError("the pattern of matches() must be a string literal", pattern.start);
  }
  const regex = regexOf(pattern.args, pattern.start);
  node.setMeta("evaluate", (evaluator, _self, scope) => {
    const value = text.evaluate(evaluator, text, scope);
    if (typeof value !== "string") throw new TypeError(`matches() expects a string, got ${typeof value}`);
    charge((value.length * regex.size) / 2);
    return regex.test(value);
  });
}

function regexOf(pattern: string, position: number): LinearRegex {
  try {
    return compileRegex(pattern);
  } catch (error) {
    throw new FilterError((error as Error).message, position);
  }
}
