import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import { LruMap } from "../lru-map.ts";
import {
  ADDED_FUNCTIONS,
  ADDED_OPERATORS,
  FUNCTION_CORRECTIONS,
  OPERATOR_CORRECTIONS,
} from "./corrections.ts";
import { charge, functionPrice, isContainer, OPERATOR_PRICES, rangePrice, requireScalar } from "./cost.ts";

// The adapter of cel-js. It alone knows the properties of checked nodes, which are not public interface: the version is
// pinned, and the tests of filters (`test/unit/filter*.test.ts`) fail if an update changes them.

/** A filter that cannot be compiled; `position` is the offset of the error in the expression. */
export class FilterError extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = "FilterError";
    this.position = position;
  }
}

/** A node of an expression as written, with macros unexpanded. */
export interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
}

/** A node that the type check has prepared. */
interface CheckedNode extends Node {
  /** Absent on nodes that are never evaluated, such as those in `has(…)`. */
  readonly checkedType?: { name: string };
  readonly meta: { evaluate: Evaluate; alternate?: CheckedNode; macro?: object };
  setMeta(key: "evaluate", evaluate: Evaluate): void;
  /** The operation itself, called with the operands' values: one argument each, of calls an array. */
  handle?: (...args: unknown[]) => unknown;
}
type Evaluate = (evaluator: unknown, node: CheckedNode, scope: unknown) => unknown;

/** Runs before an operation, with its operands. May throw, or return the result in place of the operation. */
type Before = (first: unknown, second: unknown, third: unknown) => unknown;

export type Literal = string | number | bigint;

/** A checked, metered expression without its literals, which `run` inserts. */
export interface Program {
  run(names: Map<string, unknown>, literals: Literal[]): unknown;
}

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxDepth: 100 },
  // Never called: `useLinearRegex` replaces it, and the method of the same name, by RE2.
}).registerFunction("matches(string, string): bool", () => false, { async: false });
for (const [signature, handler] of Object.entries(ADDED_FUNCTIONS))
  environment.registerFunction(signature, handler as () => unknown, { async: false });
for (const [signature, handler] of Object.entries(ADDED_OPERATORS))
  environment.registerOperator(signature, handler as () => unknown);

/** Returns the names of all functions, methods and macros of filters. */
export function functionNames(): string[] {
  return [...new Set(environment.getDefinitions().functions.map(({ name }) => name))];
}

/** Returns the plain text of an error: cel-js puts a drawing into `message` and the text into `summary`. */
export function errorText(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string };
  return summary ?? message ?? String(error);
}

/** Returns the syntax tree of an expression. @throws FilterError */
export function parseTree(expression: string): Node {
  return parse(expression).ast;
}

export function operands<N extends Node>(node: N): N[] {
  if (node.op === "value") return [];
  return [node.args].flat(3).filter((arg): arg is N => typeof arg === "object" && arg !== null);
}

/**
 * Compiles an expression. Filters that differ only in their literals, such as a customer's id in each of a hundred
 * thousand, share one program: a program takes 2 kB, a list of literals 100 bytes.
 *
 * @throws FilterError
 */
export function compileProgram(expression: string): { program: Program; literals: Literal[] } {
  const parsed = parse(expression);
  const nodes = [...walk(parsed.ast as unknown as CheckedNode)];
  const patterns = new Set(nodes.map(matchesPattern));
  const literals = nodes.filter((node) => isLiteral(node) && !patterns.has(node));
  const shape = toShape(expression, literals);
  const program = programs.get(shape) ?? build(parsed, nodes, literals);
  programs.set(shape, program);
  return { program, literals: literals.map(({ args }) => args as Literal) };
}

/** Shape → program. Filters hold on to their own program; a forgotten one is only no longer shared with new ones. */
const programs = new LruMap<string, Program>(1000);

function parse(expression: string): ParseResult {
  try {
    return environment.parse(expression);
  } catch (error) {
    throw filterError(error);
  }
}

function filterError(error: unknown): FilterError {
  const { range } = error as { range?: { start: number } };
  return new FilterError(errorText(error), range?.start ?? 0);
}

/** Yields a node and all below it, outermost first. */
function* walk(node: CheckedNode): Generator<CheckedNode> {
  yield node;
  for (const child of operands(node)) yield* walk(child);
}

function isLiteral({ op, args }: Node): boolean {
  return op === "value" && (typeof args === "string" || typeof args === "number" || typeof args === "bigint");
}

/** Replaces every literal in the expression by its type, which decides how cel-js compiles the operations on it. */
function toShape(expression: string, literals: Node[]): string {
  let shape = "";
  let end = 0;
  for (const node of literals.toSorted((a, b) => a.start - b.start)) {
    shape += `${expression.slice(end, node.start)}\0${typeof node.args}`;
    end = node.end;
  }
  return shape + expression.slice(end);
}

let currentLiterals: Literal[] = [];

function build(parsed: ParseResult, nodes: CheckedNode[], literals: CheckedNode[]): Program {
  const { valid, type, error } = parsed.check();
  if (!valid) throw filterError(error);
  if (type !== "bool" && type !== "dyn")
    throw new FilterError(`a filter must return a bool, this one returns ${type}`, 0);
  for (const node of nodes) instrument(node);
  literals.forEach((node, i) => {
    node.setMeta("evaluate", () => currentLiterals[i]);
  });
  return {
    run(names, values) {
      currentLiterals = values;
      return parsed(names as never);
    },
  };
}

/** Makes a node pay for the size of its operands before it runs, and corrects its result. */
function instrument(node: CheckedNode): void {
  const { op, meta } = node;
  const pattern = matchesPattern(node);
  if (meta.alternate?.op === "comprehension") meterMacro(meta.alternate, node);
  else if (pattern) useLinearRegex(node, pattern);
  else if (isCall(node)) {
    const [name] = node.args as [string];
    payBefore(node, functionPrice(name), FUNCTION_CORRECTIONS.get(name));
  } else if (op === ".") failFast(node);
  else if (CONDITIONAL.has(op)) meterConditions(node);
  else if (op === "map") for (const [key] of node.args as [CheckedNode][]) onValue(key, requireScalar);
  else {
    const price = OPERATOR_PRICES.get(op);
    if (price) payBefore(node, price, OPERATOR_CORRECTIONS.get(op));
  }
}

const CONDITIONAL = new Set(["&&", "||", "!_", "?:"]);

function payBefore(node: CheckedNode, pay: Before, correct: Before = () => undefined): void {
  before(node, (first, second, third) => {
    pay(first, second, third);
    return correct(first, second, third);
  });
}

const isCall = ({ op }: Node) => op === "call" || op === "rcall";

function matchesPattern(node: CheckedNode): CheckedNode | undefined {
  if (!isCall(node)) return undefined;
  const [name, ...given] = node.args as [string, ...(CheckedNode | CheckedNode[])[]];
  return name === "matches" ? given.flat()[1] : undefined;
}

/** Replaces `matches`, for which cel-js uses the backtracking RegExp, by RE2. */
function useLinearRegex(node: CheckedNode, pattern: CheckedNode): void {
  if (pattern.op !== "value" || typeof pattern.args !== "string")
    throw new FilterError("the pattern of matches() must be a string literal", pattern.start);
  let regex: ReturnType<typeof compileRegex>;
  try {
    regex = compileRegex(pattern.args);
  } catch (error) {
    throw new FilterError((error as Error).message, pattern.start);
  }
  before(node, (text) => {
    if (typeof text !== "string") throw new TypeError(`matches() expects a string, got ${typeof text}`);
    charge((text.length * regex.size) / 2);
    return regex.test(text);
  });
}

/** Creates the error for a missing field once per node instead of once per event, because fields are often missing. */
function failFast(node: CheckedNode): void {
  const [, key] = node.args as [CheckedNode, string];
  let missing: Error | undefined;
  before(node, (map) => {
    if (!isContainer(map) || Array.isArray(map) || Object.hasOwn(map, key)) return;
    missing ??= new ReferenceError(`no such key: ${key}`);
    throw missing;
  });
}

/** A macro pays for its body once per element before it starts; costly operations inside pay separately. */
function meterMacro(operation: CheckedNode, written: CheckedNode): void {
  const [name, , given] = written.args as [string, CheckedNode, CheckedNode[]];
  const size = given.flatMap((each) => [...walk(each)]).length;
  before(operation, (range) => charge(rangePrice(range) * size));
  if (name === "all" || name === "exists") payForErrors(given[1] as CheckedNode);
}

function meterConditions(node: CheckedNode): void {
  const [first, ...others] = operands(node) as [CheckedNode, ...CheckedNode[]];
  for (const condition of node.op === "?:" ? [first] : [first, ...others]) onValue(condition, requireScalar);
  if (node.op === "&&" || node.op === "||") payForErrors(first);
}

const ERROR = 50;

/** Charges for errors where CEL may absorb them and continue. */
function payForErrors(node: CheckedNode): void {
  around(node, (evaluate) => (evaluator, self, scope) => {
    try {
      return evaluate(evaluator, self, scope);
    } catch (error) {
      charge(ERROR);
      throw error;
    }
  });
}

function onValue(node: CheckedNode, inspect: (value: unknown) => void): void {
  if (node.checkedType?.name === "bool") return;
  around(node, (evaluate) => (evaluator, self, scope) => {
    const value = evaluate(evaluator, self, scope);
    inspect(value);
    return value;
  });
}

function around(node: CheckedNode, wrap: (evaluate: Evaluate) => Evaluate): void {
  const source = node.meta.alternate ?? node;
  source.setMeta("evaluate", wrap(source.meta.evaluate));
}

/** @throws Error if there is no operation to run before: unmetered, a filter could block the event loop */
function before(node: CheckedNode, run: Before): void {
  const { op, handle, checkedType, meta } = node;
  if (!checkedType || meta.macro) return;
  if (!handle) throw new Error(`cel-js has no operation for ${op}`);
  if (isCall(node))
    node.handle = (values, second, third) => {
      const [receiver, one, two] = values as unknown[];
      return run(receiver, one, two) ?? handle(values, second, third);
    };
  else
    node.handle = (first, second, third, fourth) =>
      // The second argument of an operator with one operand is its node.
      run(first, second === node ? undefined : second, undefined) ?? handle(first, second, third, fourth);
}

/** Bounds compile time (about 2 µs an instruction) and memory; RE2 itself allows 140,000 in 1,000 characters. */
const MAX_PROGRAM_SIZE = 1000;

/** A Unicode class such as `\pL` is one instruction with hundreds of ranges; it compiles as slowly as this many. */
const UNICODE_CLASS_SIZE = 20;

/**
 * Compiles a pattern in RE2 syntax, without backreferences. `test` says whether it matches anywhere in a text, in at most
 * one step per character and instruction, of which it has `size`.
 *
 * @throws Error with the reason if it is invalid
 */
export function compileRegex(pattern: string) {
  const bound = programSizeBound(pattern);
  if (bound > MAX_PROGRAM_SIZE) {
    throw new Error(`the pattern needs about ${bound} instructions; the limit is ${MAX_PROGRAM_SIZE}`);
  }
  const compiled = RE2JS.compile(pattern);
  return { size: compiled.programSize(), test: (text: string) => compiled.test(text) };
}

interface Group {
  /** Instructions before the last atom. */
  before: number;
  /** Instructions of the last atom, which a quantifier repeats. */
  atom: number;
}

/**
 * Estimates the compiled size before compiling, because counted repetitions such as `(…){1000}` make compiling
 * expensive. RE2 refuses patterns that this scanner misreads as a syntax error.
 */
export function programSizeBound(pattern: string): number {
  const outer: Group[] = [];
  let group: Group = { before: 0, atom: 0 };
  const scanner = /\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/gu;
  for (const [token, least, most] of pattern.matchAll(scanner)) {
    if (least !== undefined) group.atom *= Math.max(1, Number(least), Number(most ?? 0));
    else if (token === "(") {
      outer.push(group);
      group = { before: 0, atom: 0 };
    } else if (token === ")" && outer.length > 0) {
      const size = group.before + group.atom + 2;
      group = outer.pop() as Group;
      nextAtom(group, size);
    } else if (token === "*" || token === "+" || token === "?") group.atom += 1;
    else nextAtom(group, 1 + UNICODE_CLASS_SIZE * (token.match(/\\[pP]/g)?.length ?? 0));
  }
  return [...outer, group].reduce((sum, open) => sum + open.before + open.atom, 0);
}

function nextAtom(group: Group, size: number): void {
  group.before += group.atom;
  group.atom = size;
}
