import type { TProperties, TSchema } from "typebox";

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema, whose keywords depend on its type
type Json = any;

/** A body that fits the schema: its examples and defaults, and only what is required. */
export function sampleBody(properties: TProperties): Record<string, unknown> {
  const required = Object.entries(properties).filter(([, schema]) => !("~optional" in schema));
  return Object.fromEntries(required.map(([name, schema]) => [name, sampleOf(schema)]));
}

/** A value that fits a schema. @throws Error when the schema gives nothing to go by: add `examples` to it. */
export function sampleOf(schema: TSchema): unknown {
  const {
    examples,
    default: fallback,
    const: only,
    enum: values,
    type,
    anyOf,
    items,
    properties,
  } = schema as Json;
  if (examples?.length) return examples[0];
  if (fallback !== undefined) return fallback;
  if (only !== undefined) return only;
  if (values) return values[0];
  if (anyOf) return sampleOf(anyOf[0]);
  if (type === "object") return properties ? sampleBody(properties) : {};
  if (type === "array") return [sampleOf(items)];
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return (schema as Json).minimum ?? 1;
  throw new Error(`no example for ${JSON.stringify(schema)}`);
}

/** The prefix of the identifiers that a schema takes (`ag` for `ag_…`, "uuid"), or null when it takes none. */
export function identifierKind(schema: TSchema): string | null {
  const { "x-identifier": isId, pattern, format } = schema as Json;
  if (!isId) return null;
  return format === "uuid" ? "uuid" : (/^\^([a-z]+)_/.exec(pattern)?.[1] ?? null);
}
