import type { Tool } from "@modelcontextprotocol/server";
import type { Operation } from "../../../lib/contract/contract.ts";
import { ANY_KEY, type JsonSchema } from "../gateway/openapi/schemas.ts";
import { defaultsOf } from "./defaults.ts";

/**
 * What a tool takes: the fields of path, query and body side by side; a body that is one object without a name is its
 * own fields. Null stands in it only where it says something: in a change, it clears, and what is required has no other
 * way to say none.
 */
export function inputSchema(op: Operation): Tool["inputSchema"] {
  const whole = op.wholeBody ? (Object.values(op.body ?? {})[0] as JsonSchema) : undefined;
  const { properties = {}, required } = whole ?? {
    properties: { ...op.path, ...op.query, ...op.body },
    required: op.params.required as string[] | undefined,
  };
  const defaults = defaultsOf(op);
  const needed = (required as string[] | undefined)?.filter((name) => !(name in defaults));
  const object = { type: "object", properties, ...(needed?.length && { required: needed }) };
  // Reads by GET ignore what they do not know, like the query of a request. Objects within are refused unknown keys too,
  // but saying so for each costs tokens.
  const schema = plain(op.method === "GET" || whole ? object : { ...object, additionalProperties: false });
  for (const [name, { description }] of Object.entries(defaults)) {
    Object.assign(schema.properties?.[name] as JsonSchema, { description });
  }
  return (op.method === "PATCH" ? schema : withoutNulledOptions(schema)) as Tool["inputSchema"];
}

/**
 * What a tool gives as `structuredContent`, in its shape alone: what the fields mean is in the API's reference.
 * Undefined where the answer is, or may be, a text.
 */
export function outputSchema(op: Operation): Tool["outputSchema"] | undefined {
  const results = Object.values(op.results);
  if (op.produces || op.alsoProduces || results.includes(null)) return undefined;
  const shapes = results.flatMap((schema) => alternatives(shape(schema as JsonSchema)));
  const objects = shapes.filter(({ type }) => type === "object");
  // A list beside objects answers a batch, which no tool takes.
  const different = new Map((objects.length ? objects : shapes).map((each) => [JSON.stringify(each), each]));
  const [first, ...others] = different.values();
  return (others.length ? { type: "object", anyOf: [...different.values()] } : first) as Tool["outputSchema"];
}

function alternatives(schema: JsonSchema): JsonSchema[] {
  return schema.anyOf ? schema.anyOf.flatMap(alternatives) : [schema];
}

/** What is given without the nulls that say nothing: language models write them for what they leave out. */
export function withoutNulls(schema: JsonSchema, given: unknown): unknown {
  if (Array.isArray(given)) return given.map((item) => withoutNulls(partOf(schema, "items"), item));
  if (typeof given !== "object" || given === null) return given;
  const known = partOf(schema, "properties") as Record<string, JsonSchema>;
  const kept = Object.entries(given).filter(([name, value]) => value !== null || mayBeNull(known[name]));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNulls(known[name] ?? {}, value)]));
}

/** A schema's part, or that of whichever of its alternatives has it. */
function partOf(schema: JsonSchema, part: "items" | "properties"): JsonSchema {
  const holder = [schema, ...(schema.anyOf ?? [])].find((each) => each[part]);
  return (holder?.[part] ?? {}) as JsonSchema;
}

/** What the schema does not know, or says nothing of, may be anything. */
function mayBeNull(schema: JsonSchema | undefined): boolean {
  if (schema?.anyOf) return schema.anyOf.some(mayBeNull);
  return schema?.type === undefined ? !schema?.enum && schema?.const === undefined : schema.type === "null";
}

/** Formats that the validators of every model's provider take: one that they do not know costs the whole catalogue. */
const FORMATS = ["date-time", "date", "email", "uuid"];

/** Without what only this service reads, and examples of ids, which nobody can guess from one. */
function plain(schema: object): JsonSchema {
  return walk(schema as JsonSchema, ({ examples, format, ...rest }) => {
    const isId = "x-identifier" in rest;
    const kept = Object.entries(rest).filter(([keyword]) => !keyword.startsWith("x-") && keyword !== "title");
    return {
      ...Object.fromEntries(kept),
      ...(FORMATS.includes(format as string) && { format }),
      ...(examples && !isId ? { examples } : {}),
    };
  });
}

/** Without null for fields that may be left out. */
function withoutNulledOptions(schema: JsonSchema): JsonSchema {
  return walk(schema, (each) => {
    const { properties } = each;
    if (!properties) return each;
    const required = (each.required ?? []) as string[];
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

const SHAPE = ["type", "properties", "required", "items", "anyOf", "enum", "const", "additionalProperties"];

function shape(schema: JsonSchema): JsonSchema {
  return walk(schema, ({ patternProperties, ...rest }) => {
    // Every validator knows this form of a map, and some no other.
    const values = patternProperties?.[ANY_KEY];
    const each: JsonSchema = values ? { ...rest, additionalProperties: values } : rest;
    const kept = Object.entries(each).filter(([keyword]) => SHAPE.includes(keyword));
    const types = each.anyOf?.map(({ type, ...more }) => (Object.keys(more).length ? undefined : type));
    // `["string", "null"]` for two schemas that say no more.
    return (types?.every(Boolean) ? { type: [...new Set(types)] } : Object.fromEntries(kept)) as JsonSchema;
  });
}

/** A schema whose every part was changed, the innermost first. */
function walk(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, patternProperties, items, anyOf, ...rest } = schema;
  const within = (each: JsonSchema) => walk(each, change);
  const named = (parts: Record<string, JsonSchema>) =>
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, within(part)]));
  return change({
    ...rest,
    ...(properties && { properties: named(properties) }),
    ...(patternProperties && { patternProperties: named(patternProperties) }),
    ...(items && { items: within(items) }),
    ...(anyOf && { anyOf: anyOf.map(within) }),
  });
}
