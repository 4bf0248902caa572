import type { Tool } from "@modelcontextprotocol/server";
import type { Operation } from "../../../lib/contract/contract.ts";
import { ANY_KEY, type JsonSchema, mapSchema } from "../../../lib/contract/json-schema.ts";
import { defaultsOf } from "./defaults.ts";

/**
 * Builds a tool's input schema: the fields of path, query and body side by side; a body that is one unnamed object
 * contributes its own fields. Null is kept only where it has a meaning: in a change, where it clears, and for required
 * fields, where it is the only way to say none.
 */
export function inputSchema(op: Operation): Tool["inputSchema"] {
  const whole = op.wholeBody ? (Object.values(op.body ?? {})[0] as JsonSchema) : undefined;
  const { properties = {}, required } = whole ?? {
    properties: { ...op.path, ...op.query, ...op.body },
    required: op.params.required,
  };
  const defaults = defaultsOf(op);
  const needed = required?.filter((name) => !(name in defaults));
  const object = { type: "object", properties, ...(needed?.length && { required: needed }) };
  // GET reads ignore unknown fields, like the query of a request. Nested objects reject unknown keys too, but stating
  // it for each costs tokens.
  const schema = plain(op.method === "GET" || whole ? object : { ...object, additionalProperties: false });
  for (const [name, { describe }] of Object.entries(defaults)) {
    const field = schema.properties?.[name] as JsonSchema;
    field.description = describe(field.description as string);
  }
  return (op.method === "PATCH" ? schema : withoutNulledOptions(schema)) as Tool["inputSchema"];
}

/** Limits that the service checks anyway: a refusal names them. */
const LIMITS = [
  "pattern",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "contentEncoding",
];

/**
 * Returns the short form of a tool's input schema: the named parameters, or all, without limits and examples. A name may be
 * an alias of a nested field.
 */
export function brief(
  schema: JsonSchema,
  core: readonly string[] | undefined,
  paths: Record<string, string> = {},
): Tool["inputSchema"] {
  const { properties = {}, required = [] } = schema;
  const names = core ?? Object.keys(properties);
  const needed = required.filter((name) => names.includes(name));
  const listed = names.map((name) => [name, unlimited(fieldAt(schema, paths[name] ?? name))]);
  return {
    type: "object",
    properties: Object.fromEntries(listed),
    ...(needed.length && { required: needed }),
  } as Tool["inputSchema"];
}

/** @throws Error if a contract names a parameter that it does not have */
function fieldAt(schema: JsonSchema, path: string): JsonSchema {
  const field = path
    .split(".")
    .reduce<JsonSchema | undefined>((part, name) => part?.properties?.[name], schema);
  if (!field) throw new Error(`there is no parameter ${path}`);
  return field;
}

function unlimited(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (part) => {
    const kept = Object.entries(part).filter(([name]) => ![...LIMITS, "examples"].includes(name));
    const { items, ...rest } = Object.fromEntries(kept) as JsonSchema;
    if (!items) return rest;
    // The list says what its items are.
    const { description, ...item } = items;
    return { ...rest, items: item };
  });
}

/**
 * Returns the schema of an answer that is JSON, even if it may be text; structure only. Undefined if it never is JSON.
 */
export function valueSchema(op: Operation): JsonSchema | undefined {
  if (isText(op)) return undefined;
  const results = Object.values(op.results);
  const shapes = results.flatMap((schema) => alternatives(shape(schema as JsonSchema)));
  const objects = shapes.filter(({ type }) => type === "object");
  // A list next to objects answers a batch, which no tool takes.
  const different = new Map((objects.length ? objects : shapes).map((each) => [JSON.stringify(each), each]));
  const [first, ...others] = different.values();
  return others.length ? { type: "object", anyOf: [...different.values()] } : first;
}

function isText({ produces, results }: Operation): boolean {
  return produces !== undefined || Object.values(results).includes(null);
}

/** Returns the alternatives of a schema: a value matches one of them. */
export function alternatives(schema: JsonSchema): JsonSchema[] {
  return schema.anyOf?.flatMap(alternatives) ?? [schema];
}

/** Removes meaningless nulls: language models write them for omitted fields. */
export function withoutNulls(schema: JsonSchema, input: unknown): unknown {
  if (Array.isArray(input)) return input.map((item) => withoutNulls(findPart(schema, "items"), item));
  if (typeof input !== "object" || input === null) return input;
  const known = findPart(schema, "properties") as Record<string, JsonSchema>;
  const kept = Object.entries(input).filter(([name, value]) => value !== null || mayBeNull(known[name]));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNulls(known[name] ?? {}, value)]));
}

/** Returns a schema's part, or that of the first alternative that has it. */
function findPart(schema: JsonSchema, part: "items" | "properties"): JsonSchema {
  const holder = [schema, ...(schema.anyOf ?? [])].find((each) => each[part]);
  return (holder?.[part] ?? {}) as JsonSchema;
}

/** Unknown or unconstrained fields may be anything. */
function mayBeNull(schema: JsonSchema | undefined): boolean {
  if (schema?.anyOf) return schema.anyOf.some(mayBeNull);
  return schema?.type === undefined ? !schema?.enum && schema?.const === undefined : schema.type === "null";
}

/** Formats that the validators of every model provider accept: a single unknown one fails the whole catalogue. */
const FORMATS = ["date-time", "date", "email", "uuid"];

/** Removes keywords that only this service reads, and examples of ids, which help nobody. */
function plain(schema: object): JsonSchema {
  return mapSchema(schema as JsonSchema, (part) => {
    const { examples, format, ...rest } = asMap(part);
    const isId = "x-identifier" in rest;
    const kept = Object.entries(rest).filter(([keyword]) => !keyword.startsWith("x-") && keyword !== "title");
    return {
      ...Object.fromEntries(kept),
      ...(FORMATS.includes(format as string) && { format }),
      ...(examples && !isId ? { examples } : {}),
    };
  });
}

/** Removes null from optional fields. */
function withoutNulledOptions(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (each) => {
    const { properties, required = [] } = each;
    if (!properties) return each;
    const fields = Object.entries(properties).map(([name, part]) => [
      name,
      required.includes(name) ? part : withoutNull(part),
    ]);
    return { ...each, properties: Object.fromEntries(fields) };
  });
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const others = anyOf?.filter(({ type }) => type !== "null");
  if (!others || others.length === anyOf?.length) return schema;
  return others.length === 1 ? { ...others[0], ...rest } : { ...rest, anyOf: others };
}

/** `format` tells times from texts, and is then removed. */
const SHAPE = [
  "type",
  "format",
  "properties",
  "required",
  "items",
  "anyOf",
  "enum",
  "const",
  "additionalProperties",
];

function shape(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (part) => {
    const each = asMap(part);
    const kept = Object.entries(each).filter(([keyword]) => SHAPE.includes(keyword));
    const types = each.anyOf?.map(({ type, ...more }) => (Object.keys(more).length ? undefined : type));
    // Merges two schemas without other keywords to `["string", "null"]`.
    return (types?.every(Boolean) ? { type: [...new Set(types)] } : Object.fromEntries(kept)) as JsonSchema;
  });
}

/** Returns a map in the form that every validator knows; some know no other. */
function asMap(schema: JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema;
  const values = patternProperties?.[ANY_KEY];
  return values ? { ...rest, additionalProperties: values } : schema;
}
