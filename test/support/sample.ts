import { type TProperties, type TSchema, Type } from "typebox";

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema, whose keywords depend on its type
type Json = any;

/** A body that fits the schema: its examples and defaults, and only what is required. */
export function sampleBody(properties: TProperties): Record<string, unknown> {
  const { required = [] } = Type.Object(properties) as Json;
  return Object.fromEntries(required.map((name: string) => [name, sampleOf(properties[name] as TSchema)]));
}

/** A value that fits a schema. @throws Error when the schema gives nothing to go by: add `examples` to it. */
function sampleOf(schema: TSchema): unknown {
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

/** Returns the kind of identifier that a schema accepts (`ag` for `ag_…`, `memory`), or null. */
export function identifierKind(schema: TSchema): string | null {
  const { "x-identifier": kind, pattern } = schema as Json;
  if (!kind) return null;
  return kind === true ? (/^\^([a-z]+)_/.exec(pattern)?.[1] ?? null) : kind;
}
