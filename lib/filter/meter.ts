import type { ASTNode } from "@marcbachmann/cel-js";
import {
  charge,
  chargeCall,
  chargeComparison,
  chargeMembership,
  chargeOperand,
  isContainer,
  rangePrice,
} from "./cost.ts";

/**
 * A node of a checked expression with its undeclared properties. They are not public interface of cel-js: the version
 * is pinned, and `test/unit/filter-budget.test.ts` fails if an update changes them.
 */
export interface CheckedNode {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  readonly checkedType: { name: string };
  readonly meta: { alternate?: CheckedNode; evaluate: Evaluate };
  setMeta(key: "evaluate", evaluate: Evaluate): void;
  evaluate: Evaluate;
  /** The operation itself, called with the operands' values (one argument each, or an array for calls). */
  handle?: (first: unknown, second: unknown, third: unknown, fourth: unknown) => unknown;
}
type Evaluate = (evaluator: unknown, node: CheckedNode, scope: unknown) => unknown;

/** Makes every operation of a checked expression pay for the size of its operands before it runs. */
export function meter(ast: ASTNode): void {
  for (const node of walk(ast as unknown as CheckedNode)) meterNode(node);
}

/** Yields the nodes of an expression as written, with macros unexpanded, outermost first. */
export function* walk(node: CheckedNode): Generator<CheckedNode> {
  yield node;
  for (const child of operands(node)) yield* walk(child);
}

/** Returns the nodes directly below one. */
export function operands(node: CheckedNode): CheckedNode[] {
  if (node.op === "value") return [];
  return [node.args].flat(3).filter((arg): arg is CheckedNode => typeof arg === "object" && arg !== null);
}

function meterNode(node: CheckedNode): void {
  const expanded = node.meta.alternate;
  if (expanded?.op === "comprehension") meterComprehension(expanded, node);
  else METERS.get(node.op)?.(node);
}

const METERS = new Map<string, (node: CheckedNode) => void>([
  ...["==", "!=", "<", "<=", ">", ">="].map(payingBy(chargeComparison)),
  ...["+", "-", "*", "/", "%"].map(payingBy(chargeOperands)),
  payingBy(chargeOperand)("-_"),
  payingBy(chargeMembership)("in"),
  payingBy((_collection, index) => requireScalar(index))("[]"),
  ...["&&", "||", "!_", "?:"].map((op): Meter => [op, meterConditions]),
  ...["call", "rcall"].map((op): Meter => [op, meterCall]),
  ["map", meterKeys],
  [".", failFast],
]);

type Meter = [op: string, (node: CheckedNode) => void];

function payingBy(pay: (first: unknown, second: unknown) => void): (op: string) => Meter {
  return (op) => [op, (node) => beforeOperation(node, pay)];
}

function chargeOperands(left: unknown, right: unknown): void {
  chargeOperand(left);
  chargeOperand(right);
}

function meterCall(node: CheckedNode): void {
  const [name] = node.args as [string];
  beforeOperation(node, (values) => chargeCall(name, values as unknown[]));
}

function meterKeys(node: CheckedNode): void {
  for (const [key] of node.args as [CheckedNode, CheckedNode][]) onValue(key, requireScalar);
}

/** Creates the error for a missing field once per node instead of once per event, because fields are often missing. */
function failFast(node: CheckedNode): void {
  const [, key] = node.args as [CheckedNode, string];
  let missing: Error | undefined;
  beforeOperation(node, (map) => {
    if (!isContainer(map) || Array.isArray(map) || Object.hasOwn(map, key)) return;
    missing ??= new ReferenceError(`no such key: ${key}`);
    throw missing;
  });
}

/** A macro pays for its body once per element before it starts; costly operations inside pay separately. */
function meterComprehension(operation: CheckedNode, written: CheckedNode): void {
  const [name, , macroArguments] = written.args as [string, CheckedNode, CheckedNode[]];
  const body = macroArguments.reduce((count, argument) => count + [...walk(argument)].length, 0);
  beforeOperation(operation, (range) => charge(rangePrice(range) * body));
  if (name === "all" || name === "exists") payForErrors(macroArguments[1] as CheckedNode);
}

function meterConditions(node: CheckedNode): void {
  const conditions = node.op === "?:" ? operands(node).slice(0, 1) : operands(node);
  for (const condition of conditions) onValue(condition, requireScalar);
  if (node.op === "&&" || node.op === "||") payForErrors(conditions[0] as CheckedNode);
}

/** Charges for errors where CEL may absorb them and continue. */
function payForErrors(node: CheckedNode): void {
  const source = node.meta.alternate ?? node;
  const evaluate = source.meta.evaluate;
  source.setMeta("evaluate", (evaluator, self, scope) => {
    try {
      return evaluate(evaluator, self, scope);
    } catch (error) {
      charge(ERROR);
      throw error;
    }
  });
}

const ERROR = 50;

function beforeOperation(node: CheckedNode, pay: (first: unknown, second: unknown) => void): void {
  const operation = node.handle;
  if (operation === undefined) return;
  node.handle = (first, second, third, fourth) => {
    pay(first, second);
    return operation(first, second, third, fourth);
  };
}

function onValue(node: CheckedNode, inspect: (value: unknown) => void): void {
  if (node.checkedType.name === "bool") return;
  const source = node.meta.alternate ?? node;
  const evaluate = source.meta.evaluate;
  source.setMeta("evaluate", (evaluator, self, scope) => {
    const value = evaluate(evaluator, self, scope);
    inspect(value);
    return value;
  });
}

function requireScalar(value: unknown): void {
  if (isContainer(value)) throw new TypeError("a list or map cannot be a condition, an index or a key");
}
