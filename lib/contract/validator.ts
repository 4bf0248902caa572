import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { DataValidationCxt } from "ajv/dist/types/index.js";
import addFormatsModule from "ajv-formats";
import { Validators } from "moleculer";
import { isUuid } from "../ids.ts";
import { expectation, Fault, quoted, shown } from "./faults.ts";
import { isDay } from "./instant.ts";
import { type JsonSchema, mapSchema } from "./json-schema.ts";

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020, formats: string[]) => void;

const FORMATS = ["date", "date-time", "uuid", "uri", "uri-reference", "email", "password"];

const LABEL = "x-label";

/**
 * Fields that people see in lists, logs, terminals and mail, whatever the contract: a text in them is one line, whose
 * characters neither control a terminal nor reverse the text around it. Clients of OAuth name themselves: `shownName`.
 */
const IS_LABEL = /^(?!client_name$)(\w+_)?(name|title|slug|filename)$/;
const HIDDEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const isLabel = (text: string) => !HIDDEN.test(text);

function newAjv(coerceTypes: false | "array"): Ajv2020 {
  // `verbose` adds the failing value and its schema to the error, for the message to the caller.
  const ajv = new Ajv2020({
    verbose: true,
    coerceTypes,
    strict: true,
    // Schemas are contracts, which the tests check: compiling JSON Schema's own schema costs a start a tenth of its time.
    validateSchema: false,
    strictTypes: false,
    strictRequired: false,
  });
  ajv.addKeyword({ keyword: "x-identifier", modifying: true, errors: false, validate: lowerUuid });
  ajv.addKeyword("x-value");
  // The meaning of a pattern, in words, for errors.
  ajv.addKeyword("x-expected");
  ajv.addKeyword({
    keyword: LABEL,
    type: "string",
    errors: false,
    validate: (_: unknown, text: string) => isLabel(text),
  });
  // Stricter than `pattern` and `format`, whose published values every engine must understand.
  const ofText = { type: "string", schemaType: "string", errors: false } as const;
  ajv.addKeyword({ keyword: "x-pattern", ...ofText, compile: matching });
  ajv.addKeyword({ keyword: "x-format", ...ofText, compile: (name) => ajv.formats[name] as TextCheck });
  addFormats(ajv, FORMATS);
  const { validate: isWritten } = ajv.formats["date-time"] as { validate(text: string): boolean };
  const isTime = (text: string) => isWritten(text) && isHeld(Date.parse(text));
  ajv.addFormat("date-time", isTime);
  const { validate: isDate } = ajv.formats.date as { validate(text: string): boolean };
  // One format, because client generators fail to compile two alternatives that are both strings.
  ajv.addFormat("date-or-date-time", (text) => isDate(text) || isTime(text));
  ajv.addFormat("instant", (text) => (isDay(text) ? isDate(text.slice(0, 10)) : isTime(text)));
  return ajv;
}

/** Whether a time has a four-digit year in UTC; a Date cannot hold leap seconds or offsets of hours alone (NaN). */
const isHeld = (time: number) => time >= FIRST_TIME && time <= LAST_TIME;
const FIRST_TIME = Date.parse("0000-01-01T00:00:00Z");
const LAST_TIME = Date.parse("9999-12-31T23:59:59.999Z");

type TextCheck = (text: string) => boolean;

function matching(pattern: string): TextCheck {
  const regex = new RegExp(pattern, "u");
  return (text) => regex.test(text);
}

/** Converts a UUID to lower case, the stored form; both cases are the same id (RFC 9562). */
function lowerUuid(_kind: unknown, value: unknown, _schema?: unknown, at?: DataValidationCxt): boolean {
  if (at && typeof value === "string" && isUuid(value))
    at.parentData[at.parentDataProperty] = value.toLowerCase();
  return true;
}

const exact = newAjv(false);
const coercing = newAjv("array");

/** Checks a value and converts its UUIDs to lower case; null means it is valid. */
export type Check = (value: unknown) => Fault | null;

/** Returns a check of this schema (JSON Schema 2020-12, as TypeBox builds it), and of its labels. */
export function compileCheck(schema: object): Check {
  return toCheck(() => exact.compile(withLabels(schema as JsonSchema)));
}

/** Returns the label that another system's name becomes. */
export function toLabel(name: string): string {
  return name.replace(new RegExp(HIDDEN, "gu"), " ");
}

function withLabels(schema: JsonSchema): JsonSchema {
  const marked = ([name, property]: [string, JsonSchema]) => [
    name,
    IS_LABEL.test(name) ? { ...property, [LABEL]: true } : property,
  ];
  return mapSchema(schema, (part) =>
    part.properties
      ? { ...part, properties: Object.fromEntries(Object.entries(part.properties).map(marked)) }
      : part,
  );
}

/** Returns a check for query strings, which converts text in place: "10" to 10 for a number. */
export function compileQueryCheck(schema: object): Check {
  return toCheck(() => coercing.compile(schema));
}

/** Compiles at the first value: a start would pay a tenth of a second, and memory that few nodes need. */
function toCheck(compile: () => ValidateFunction): Check {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= compile();
    return validate(value) ? null : toFault(decisive(validate.errors ?? []));
  };
}

/** Checks every action's `params` against its contract; Moleculer has no Ajv validator. */
export class ContractValidator extends Validators.Base {
  constructor() {
    super({ paramName: "params" });
  }

  compile(schema: object) {
    const check = compileCheck(schema);
    // Moleculer wraps a returned list in its own error; the gateway unwraps the fault.
    return ((params: unknown) => {
      const fault = check(params);
      return fault ? [{ message: fault.message, type: fault.type, details: fault.data }] : true;
    }) as never;
  }

  validate(params: object, schema: object): boolean {
    const fault = compileCheck(schema)(params);
    if (fault) throw fault;
    return true;
  }

  convertSchemaToMoleculer(): never {
    throw new Error("Contracts are JSON Schema and have no other form.");
  }
}

const KINDS = new Set(["type", "const", "anyOf", "oneOf"]);

/**
 * Returns the most specific error. Each failing alternative adds errors, and one for all of them comes last: an error
 * inside an alternative says more than that, and that more than the rest.
 */
function decisive(errors: ErrorObject[]): ErrorObject {
  const deepest = Math.max(...errors.map(({ instancePath }) => instancePath.length));
  const candidates = errors.filter(({ instancePath }) => instancePath.length === deepest);
  return (candidates.find(({ keyword }) => !KINDS.has(keyword)) ?? candidates.at(-1)) as ErrorObject;
}

function toFault(error: ErrorObject): Fault {
  const field = fieldOf(error);
  const schema = error.parentSchema as JsonSchema | undefined;
  const expected = describeExpectation(error);
  const isHidden = error.keyword === "required" || schema?.writeOnly === true;
  const details = {
    field,
    value: isHidden ? null : shown(givenIn(error)),
    expected,
    example:
      makeExample(
        error.keyword === "required" ? schema?.properties?.[error.params.missingProperty] : schema,
      ) ?? null,
  };
  const named = schema?.["x-identifier"] || schema?.["x-value"];
  const code = named ? "validation_error" : "validation_failed";
  if (error.keyword === "required") return new Fault(code, `${field} is required.`, details);
  const actual = isHidden ? undefined : describe(error);
  return new Fault(code, expectation(field || "The request", expected, actual), details);
}

/** Returns a valid value: the contract's example, or one derived from its bounds. */
function makeExample(schema: JsonSchema | undefined): unknown {
  if (!schema) return undefined;
  const { examples, default: usual, const: only, enum: allowed, minimum, items, anyOf } = schema;
  const known = [examples?.[0], usual, only, allowed?.[0], minimum, makeExample(anyOf?.[0])];
  const item = makeExample(items);
  return known.find((each) => each !== undefined) ?? (item === undefined ? undefined : [item]);
}

/** Describes what was given: the length if that is wrong. Undefined for an unknown key, whose value may be a secret. */
function describe({ keyword, data }: ErrorObject): string | undefined {
  if (keyword === "additionalProperties") return undefined;
  if (/^m(in|ax)Length$/.test(keyword)) return `${charactersIn(data as string)}`;
  if (/^m(in|ax)Items$/.test(keyword)) return `${(data as unknown[]).length}`;
  return quoted(data);
}

/** Counts code points, as the validator does, without a copy of a long text. */
function charactersIn(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff](?=[\udc00-\udfff])/g)?.length ?? 0);
}

function givenIn({ keyword, data, params }: ErrorObject): unknown {
  return keyword === "additionalProperties"
    ? (data as Record<string, unknown>)[params.additionalProperty]
    : data;
}

function fieldOf(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const extra = error.params.missingProperty ?? error.params.additionalProperty;
  return [path, extra].filter(Boolean).join(".");
}

function describeExpectation({ keyword, params, parentSchema, message }: ErrorObject): string {
  if (keyword === "required") return "a value (it is required)";
  if (keyword === "additionalProperties")
    return `no key but ${Object.keys((parentSchema as JsonSchema).properties ?? {}).join(", ")}`;
  if (keyword === "enum") return `one of ${(params.allowedValues as unknown[]).join(", ")}`;
  const {
    "x-pattern": pattern = params.pattern,
    "x-format": format = params.format,
    "x-expected": words,
  } = (parentSchema ?? {}) as Record<string, string>;
  if (["format", "pattern", "x-format"].includes(keyword) && format)
    return FORMAT_NAMES[format] ?? `a ${format}`;
  if (keyword === "pattern" || keyword === "x-pattern") return words ?? describePattern(pattern as string);
  if (keyword === LABEL) return "one line without control characters and direction overrides";
  if (keyword === "type") return `${[params.type].flat().join(" or ")}`;
  if (keyword === "anyOf") return anyOf((parentSchema as { anyOf: JsonSchema[] }).anyOf);
  if (keyword === "uniqueItems") return "each item once";
  const bounds = BOUNDS.find(({ least, most }) => keyword === least || keyword === most);
  if (bounds) return within(bounds, parentSchema as Record<string, number>);
  return (message ?? keyword).replace(/^must (NOT )?(be )?/, (_, not) => (not ? "not to " : ""));
}

/** Says what a pattern of ids, or of text, means; others are shown. */
function describePattern(pattern: string): string {
  if (pattern === "\\S") return "text that is not blank";
  const prefix = /^\^([a-z]+_)\[/.exec(pattern)?.[1];
  return prefix ? `an id that begins with ${prefix}` : `a string that matches ${pattern}`;
}

const FORMAT_NAMES: Record<string, string> = {
  "date-time": "a date and time (RFC 3339)",
  "date-or-date-time": "a date, or a date and time (RFC 3339)",
  instant: "a date (2026-03-15, or 2026-03-15+02:00), or a date and time (RFC 3339)",
  email: "an e-mail address",
};

interface Bounds {
  least: string;
  most: string;
  /** The counted unit; numbers have none. */
  unit?: string;
}

const BOUNDS: Bounds[] = [
  { least: "minimum", most: "maximum" },
  { least: "minLength", most: "maxLength", unit: "character" },
  { least: "minItems", most: "maxItems", unit: "item" },
];

/** Names both bounds, whichever was violated. */
function within(
  { least, most, unit }: Bounds,
  { [least]: min, [most]: max }: Record<string, number>,
): string {
  const units = unit ? ` ${unit}${(max ?? min) === 1 ? "" : "s"}` : "";
  if (min === undefined) return `at most ${max}${units}`;
  return max === undefined ? `at least ${min}${units}` : `${min} to ${max}${units}`;
}

function anyOf(options: JsonSchema[]): string {
  return options
    .map((option) => (option.anyOf ? anyOf(option.anyOf) : (option.const ?? option.format ?? option.type)))
    .map((name) => name ?? "another type")
    .join(" or ");
}
