import type { TObject, TProperties, TSchema, Type as TypeBox } from "typebox";

const OPTIONAL = Symbol("optional");

type Options = Record<string, unknown>;
type Builders =
  | "Array"
  | "Boolean"
  | "Integer"
  | "Literal"
  | "Null"
  | "Number"
  | "Object"
  | "Optional"
  | "Partial"
  | "Record"
  | "String"
  | "Union"
  | "Unknown"
  | "Unsafe";

/**
 * The builders of TypeBox that contracts use, with its types and equal results, without loading its 373 modules and 20
 * MB (docs/decisions/0019-memory-at-rest.md).
 */
export const Type = {
  Array: (items: TSchema, options?: Options) => ({ type: "array", items, ...options }),
  Boolean: (options?: Options) => ({ type: "boolean", ...options }),
  Integer: (options?: Options) => ({ type: "integer", ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: "null", ...options }),
  Number: (options?: Options) => ({ type: "number", ...options }),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: TObject, options?: Options) => object(mapValues(properties, optional), options),
  Record: (_key: TSchema, value: TSchema, options?: Options) => ({
    type: "object",
    patternProperties: { "^.*$": value },
    ...options,
  }),
  String: (options?: Options) => ({ type: "string", ...options }),
  Union: (anyOf: TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: TSchema) => ({ ...schema }),
} as unknown as Pick<typeof TypeBox, Builders>;

function object(properties: TProperties, options?: Options): TSchema {
  const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] as object)));
  return { type: "object", ...(required.length && { required }), properties, ...options };
}

/** Marked by a symbol, which a spread keeps and neither JSON nor Ajv sees. */
function optional(schema: TSchema): TSchema {
  return { ...schema, [OPTIONAL]: true } as TSchema;
}

function mapValues(properties: TProperties, map: (schema: TSchema) => TSchema): TProperties {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, map(schema)]));
}
