import { fault, NotImplemented } from "../errors.ts";
import { anyAt, parts } from "./paths.ts";
import {
  compare,
  isDocument,
  type Maybe,
  Rank,
  type Raw,
  type RawObject,
  toNumber,
  typeRank,
} from "./values.ts";

/** Tests a stored document. */
export type Matcher = (document: Maybe) => boolean;
type Predicate = (value: Maybe) => boolean;

const always: Matcher = () => true;

/**
 * Compiles a filter in raw form. Throws `NotImplemented` for an unsupported operator, a server fault for a malformed
 * one.
 */
export function compileFilter(filter: RawObject): Matcher {
  return all(Object.keys(filter).map((key) => compileEntry(key, filter[key] as Raw)));
}

function all(tests: Matcher[]): Matcher {
  if (tests.length === 0) return always;
  if (tests.length === 1) return tests[0] as Matcher;
  return (document) => {
    for (const test of tests) if (!test(document)) return false;
    return true;
  };
}

function compileEntry(key: string, value: Raw): Matcher {
  if (key[0] !== "$") return compilePath(key, value);
  if (key !== "$and" && key !== "$or") throw new NotImplemented(`the filter operator ${key}`);
  const tests = clauses(key, value).map(compileFilter);
  return key === "$and" ? all(tests) : (document) => tests.some((test) => test(document));
}

/** Returns the clauses of `$and` and `$or`: a non-empty array of documents. */
export function clauses(operator: string, value: Raw): RawObject[] {
  if (!Array.isArray(value) || value.length === 0)
    throw fault.badValue(`${operator} must be a nonempty array`);
  for (const clause of value) {
    if (!isDocument(clause)) throw fault.badValue(`${operator} entries need to be full objects`);
  }
  return value as RawObject[];
}

/** True if a condition is a set of operators (`{$gt: 1}`) rather than a value to equal. */
export function isOperators(condition: Raw): condition is RawObject {
  if (!isDocument(condition)) return false;
  const [first] = Object.keys(condition);
  return first !== undefined && first.length > 1 && first[0] === "$" && first[1] !== "$";
}

function compilePath(path: string, condition: Raw): Matcher {
  const steps = parts(path);
  return isOperators(condition) ? compileOperators(steps, condition) : at(steps, expand(equals(condition)));
}

function compileOperators(steps: string[], operators: RawObject): Matcher {
  const names = Object.keys(operators).filter((name) => name !== "$options");
  return all(names.map((name) => compileOperator(steps, name, operators[name] as Raw, operators)));
}

function at(steps: string[], test: Predicate): Matcher {
  return (document) => anyAt(document, steps, 0, test);
}

/** MongoDB tests an array as a whole and element by element. */
function expand(test: Predicate): Predicate {
  return (value) => test(value) || (Array.isArray(value) && value.some(test));
}

function equals(expected: Raw): Predicate {
  if (expected === null) return (value) => value === null || value === undefined;
  if (typeof expected !== "object") return (value) => value === expected;
  const rank = typeRank(expected);
  return (value) => value !== undefined && typeRank(value) === rank && compare(value, expected) === 0;
}

function matchesOne(operator: string, list: Raw): Predicate {
  if (!Array.isArray(list)) throw fault.badValue(`${operator} needs an array`);
  const plain = new Set<Maybe>();
  const others: Predicate[] = [];
  for (const item of list) {
    if (item !== null && typeof item === "object") others.push(equals(item));
    else plain.add(item);
  }
  if (plain.has(null)) plain.add(undefined);
  if (others.length === 0) return (value) => plain.has(value);
  return (value) => plain.has(value) || others.some((test) => test(value));
}

function ordered(operator: string, bound: Raw): Predicate {
  const rank = typeRank(bound);
  const inclusive = operator === "$gte" || operator === "$lte";
  if (rank === Rank.null) return (value) => inclusive && typeRank(value) === Rank.null;
  // NaN sorts below all numbers, but in a filter is neither less nor greater.
  const incomparable = (value: Maybe) =>
    rank === Rank.number && Number.isNaN(toNumber(value)) !== Number.isNaN(toNumber(bound));
  const sign = operator === "$gt" || operator === "$gte" ? 1 : -1;
  return (value) => {
    if (value === undefined || typeRank(value) !== rank || incomparable(value)) return false;
    const order = compare(value, bound) * sign;
    return order > 0 || (inclusive && order === 0);
  };
}

function not(test: Matcher): Matcher {
  return (document) => !test(document);
}

function truthy(value: Raw): boolean {
  return value !== false && value !== 0 && value !== null;
}

function compileOperator(steps: string[], name: string, operand: Raw, siblings: RawObject): Matcher {
  switch (name) {
    case "$eq":
      return at(steps, expand(equals(operand)));
    case "$ne":
      return not(at(steps, expand(equals(operand))));
    case "$in":
      return at(steps, expand(matchesOne(name, operand)));
    case "$nin":
      return not(at(steps, expand(matchesOne(name, operand))));
    case "$gt":
    case "$gte":
    case "$lt":
    case "$lte":
      return at(steps, expand(ordered(name, operand)));
    case "$exists": {
      const present = at(steps, (value) => value !== undefined);
      return truthy(operand) ? present : not(present);
    }
    case "$regex": {
      const regex = compileRegex(operand, siblings.$options);
      return at(
        steps,
        expand((value) => typeof value === "string" && regex.test(value)),
      );
    }
    case "$elemMatch":
      return at(steps, elementMatch(operand));
    default:
      throw new NotImplemented(`the filter operator ${name}`);
  }
}

/** Returns the pattern of `{$regex, $options}`. */
export function compileRegex(operand: Raw, options: Maybe): RegExp {
  const flags = typeof options === "string" ? options : "";
  const unknown = flags.replace(/[ims]/g, "");
  if (unknown) throw new NotImplemented(`the $regex option ${unknown}`);
  if (typeof operand !== "string") throw fault.badValue("$regex has to be a string");
  try {
    return new RegExp(operand, flags);
  } catch (error) {
    throw fault.badValue(`Regular expression is invalid: ${(error as Error).message}`);
  }
}

function elementMatch(operand: Raw): Predicate {
  if (!isDocument(operand)) throw fault.badValue("$elemMatch needs an Object");
  if (isOperators(operand)) throw new NotImplemented("$elemMatch of values");
  const test = compileFilter(operand);
  return (value) => Array.isArray(value) && value.some((item) => isDocument(item) && test(item));
}
