// The prices of CEL operations on lists, maps and texts of an event, and the budget that pays for them.

/**
 * The budget of one evaluation, in units of about 40 ns. An evaluation that needs more is aborted, so that a hostile
 * filter blocks the event loop for a few milliseconds at most. Units are counted, not timed: whether an event matches
 * must not depend on the server's load.
 */
const BUDGET = 50_000;

/** cel-js caches each nested list and map type forever; without this limit, events could fill the memory. */
const MAX_NESTING = 8;

export class FilterCostError extends Error {
  constructor() {
    super("too costly: the filter exceeds the limit of steps per evaluation on this event");
  }
}

// Evaluation is synchronous and never nested, so one counter serves all filters.
let left = 0;

/** Resets the budget for one evaluation. */
export function startEvaluation(): void {
  left = BUDGET;
}

/** Whether the evaluation ran out of budget; CEL's `||`, `&&` and quantifiers may have absorbed the error. */
export function budgetExceeded(): boolean {
  return left < 0;
}

export function unitsSpent(): number {
  return budgetExceeded() ? BUDGET : BUDGET - left;
}

/** Takes units from the budget. @throws FilterCostError when it is used up */
export function charge(units: number): void {
  left -= units;
  if (left < 0) {
    left = Number.NEGATIVE_INFINITY;
    throw new FilterCostError();
  }
}

/** Whether a value is a list or a map of JSON or of a CEL literal. */
export function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Array.prototype || prototype === Object.prototype || prototype === null;
}

/** Returns the price of visiting every element of a list or key of a map once. */
export function rangePrice(range: unknown): number {
  if (Array.isArray(range)) return range.length;
  return isContainer(range) ? keyCount(range) * MAP_KEY : 1;
}

/** Listing a large map takes 170 ns a key, and cel-js does so up to three times per operation. */
const MAP_KEY = 12;
const MANY_KEYS = 1000;
const largeMaps = new WeakMap<object, number>();

function keyCount(map: object): number {
  const known = largeMaps.get(map);
  if (known !== undefined) return known;
  const count = Object.keys(map).length;
  if (count > MANY_KEYS) largeMaps.set(map, count);
  return count;
}

/** Pays for a value that is visited completely. */
function payTree(value: unknown, depth = 1): void {
  charge(1 + (isContainer(value) ? rangePrice(value) : length(value) / 32));
  if (!isContainer(value)) return;
  if (depth > MAX_NESTING) throw nestingError();
  if (Array.isArray(value)) for (const element of value) payTree(element, depth + 1);
  else for (const key in value) payTree((value as Record<string, unknown>)[key], depth + 1);
}

/** cel-js derives a container's type from its first elements, and lists all keys of a map to find the first. */
function payShape(value: unknown): void {
  let inner = value;
  for (let depth = 1; isContainer(inner); depth++) {
    if (depth > MAX_NESTING) throw nestingError();
    if (!Array.isArray(inner)) charge(rangePrice(inner));
    inner = firstElement(inner);
  }
}

function firstElement(container: object): unknown {
  if (Array.isArray(container)) return container[0];
  for (const key in container) return (container as Record<string, unknown>)[key];
  return undefined;
}

function nestingError(): Error {
  return new RangeError(`a value that is compared or passed can nest at most ${MAX_NESTING} lists and maps`);
}

const length = (value: unknown): number =>
  typeof value === "string" || value instanceof Uint8Array ? value.length : 0;

/** Pays for a text that is read once from end to end. */
const payText = (value: unknown): void => charge(length(value) / 8);

const payAffix = (text: unknown, affix: unknown): void => charge(Math.min(length(text), length(affix)) / 32);

const paySearch = (text: unknown, sought: unknown): void => charge((length(text) * length(sought)) / 32);

/** Pays with the values of an operation, up to three. */
type Price = (first: unknown, second: unknown, third: unknown) => void;

const payComparison: Price = (left, right) => {
  if (typeof left === "string" && typeof right === "string") return payAffix(left, right);
  payTree(left);
  payTree(right);
};

const payOperands: Price = (left, right) => {
  for (const value of [left, right]) {
    if (typeof value === "number") continue;
    if (Array.isArray(value)) charge(value.length);
    payShape(value);
    payText(value);
  }
};

/** The operators whose price depends on their operands. */
export const OPERATOR_PRICES = new Map<string, Price>([
  ...["==", "!=", "<", "<=", ">", ">="].map((operator) => [operator, payComparison] as const),
  ...["+", "-", "*", "/", "%", "-_"].map((operator) => [operator, payOperands] as const),
  [
    "in",
    (value, collection) => {
      payTree(value);
      if (Array.isArray(collection)) payTree(collection);
      else payShape(collection);
    },
  ],
  ["[]", (_collection, index) => requireScalar(index)],
]);

/** @throws TypeError for a list or map, which cel-js would turn into text */
export function requireScalar(value: unknown): void {
  if (isContainer(value)) throw new TypeError("a list or map cannot be a condition, an index or a key");
}

const TIME_ZONE_LOOKUP = 1250;

/** Functions whose time is not proportional to the length of their arguments. */
const FUNCTION_PRICES = new Map<string, Price>([
  ["contains", paySearch],
  ["indexOf", paySearch],
  ["lastIndexOf", paySearch],
  ["startsWith", payAffix],
  ["endsWith", payAffix],
  ["split", (text) => charge(length(text) / 2)],
  ["join", (list) => payTree(list)],
  // Its parser restarts at every digit of a run of digits.
  ["duration", (text) => charge(length(text) ** 2 / 32)],
]);

const payTimePart: Price = (_time, zone) => charge(zone === undefined ? 1 : TIME_ZONE_LOOKUP);

/** Returns the price of a CEL function or method, whose receiver is the first of the values. */
export function functionPrice(name: string): Price {
  const own = /^get[A-Z]/.test(name) ? payTimePart : FUNCTION_PRICES.get(name);
  return (first, second, third) => {
    for (const value of [first, second, third]) {
      payShape(value);
      if (!own) payText(value);
    }
    own?.(first, second, third);
  };
}
