import type { CloudEvent } from "../cloudevents/cloudevents.ts";
import { JSON_TYPE, mediaTypeOf } from "../http/media-type.ts";
import { exactDigits, hasLongIntegers, parseExact, parseJsonBytes } from "../json/json.ts";
import { compileProgram, errorText, FilterError, type Literal, type Program } from "./cel.ts";
import { budgetExceeded, FilterCostError, startEvaluation } from "./cost.ts";

export { FilterError } from "./cel.ts";
export { unitsSpent } from "./cost.ts";

const MAX_FILTER_LENGTH = 1000;

/** An event as filters see it: its CloudEvents envelope, `data` included. */
export interface FilterableEvent {
  readonly type: string;
  readonly data?: unknown;
}

const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;
/** Events with integers that `parseExact` kept. */
const withLongIntegers = new WeakSet<object>();

/** Parses an envelope so that filters see all digits of its integers, as does JSON that is made of it. */
export function parseEnvelope<T extends object>(envelope: string): T {
  const event: T = parseExact(envelope);
  noteLongIntegers(event, envelope);
  return event;
}

/** As `parseEnvelope`; null for an envelope that cannot be parsed. */
export function readEnvelope(envelope: string): CloudEvent | null {
  try {
    return parseEnvelope(envelope);
  } catch {
    return null;
  }
}

/** Makes filters see the digits that `parseExact` kept. @param envelope the event as JSON text */
export function noteLongIntegers(event: object, envelope: string): void {
  if (hasLongIntegers(envelope)) withLongIntegers.add(event);
}

/** Returns an event as filters see it: JSON in `data_base64` as `data`, and integers of 64 bits with all digits. */
export function filterable(event: FilterableEvent): FilterableEvent {
  const { data, data_base64, datacontenttype } = event as FilterableEvent & Record<string, unknown>;
  if (withLongIntegers.has(event)) return { ...event, data: toInts(data) };
  if (data !== undefined || typeof data_base64 !== "string" || typeof datacontenttype !== "string")
    return event;
  if (!JSON_TYPE.test(mediaTypeOf(datacontenttype))) return event;
  try {
    const parsed = parseJsonBytes(Buffer.from(data_base64, "base64"), { exact: true });
    return { ...event, data: toInts(parsed) };
  } catch {
    // Filters see it as bytes.
    return event;
  }
}

function toInts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const digits = exactDigits(value);
  if (digits !== null) {
    const int = BigInt(digits);
    return int < LEAST_INT || int > LARGEST_INT ? Number(digits) : int;
  }
  if (Array.isArray(value)) return value.map(toInts);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toInts(each)]));
}

/**
 * The names of one event: `data`, `event`, and the top-level keys of `data`, which never hide those two or CEL's names
 * (`type`, `int`, `string`, …). Created once per event for all filters.
 */
// A Map, because cel-js looks up names in a Map and so never copies the keys of `data`.
export class EventScope extends Map<string, unknown> {
  readonly #event: FilterableEvent;

  constructor(event: FilterableEvent) {
    super();
    this.#event = filterable(event);
  }

  /** Returns what `data` or `event` is; undefined for an event without data. */
  root(name: "data" | "event"): unknown {
    return name === "event" ? this.#event : this.#event.data;
  }

  override get(name: string): unknown {
    if (name === "event") return this.#event;
    const { data } = this.#event;
    if (name === "data" && data !== undefined) return data;
    const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
    if (isObject && Object.hasOwn(data, name)) return (data as Record<string, unknown>)[name];
    throw new ReferenceError(`unknown name: ${name}`);
  }
}

/** `error`: the evaluation failed (missing field, type mismatch, result not a bool, too costly). */
export type FilterOutcome = "match" | "no_match" | "error";

/**
 * Compiles a CEL predicate of at most 1,000 characters (spec: Interest, Channel feed; api.md "Interests"). Numbers of
 * JSON are doubles, which compare and calculate with ints. The pattern of `matches` is a string literal in RE2 syntax.
 *
 * @throws FilterError
 */
export const compileFilter = (expression: string): CompiledFilter => new CompiledFilter(expression);

/** A compiled filter expression. It matches an event only with outcome `match`. */
export class CompiledFilter {
  readonly #program: Program;
  readonly #literals: Literal[];

  constructor(expression: string) {
    if (expression.length > MAX_FILTER_LENGTH) {
      const message = `a filter has at most ${MAX_FILTER_LENGTH} characters, this one has ${expression.length}`;
      throw new FilterError(message, MAX_FILTER_LENGTH);
    }
    const { program, literals } = compileProgram(expression);
    this.#program = program;
    this.#literals = literals;
  }

  matches(scope: EventScope): FilterOutcome {
    const result = this.#run(scope);
    if (typeof result !== "boolean") return "error";
    return result ? "match" : "no_match";
  }

  /** Like `matches`, with the reason of an `error`, for dry runs. */
  explain(scope: EventScope): { outcome: FilterOutcome; error?: string } {
    const result = this.#run(scope);
    if (typeof result !== "boolean") {
      return { outcome: "error", error: errorText(result).slice(0, MAX_ERROR_LENGTH) };
    }
    return { outcome: result ? "match" : "no_match" };
  }

  #run(scope: EventScope): boolean | Error {
    // Missing fields are common, and a stack trace would cost more than the evaluation.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    startEvaluation();
    try {
      return verdict(this.#program.run(scope, this.#literals));
    } catch (error) {
      return budgetExceeded() ? new FilterCostError() : (error as Error);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/** An error may quote a value of the event. */
const MAX_ERROR_LENGTH = 300;

function verdict(value: unknown): boolean | Error {
  if (budgetExceeded()) return new FilterCostError();
  return typeof value === "boolean"
    ? value
    : new TypeError(`a filter must return a bool, this one returned a ${typeof value}`);
}
