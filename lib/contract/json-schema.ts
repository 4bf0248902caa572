/** JSON Schema of contracts; types only the keywords read here. */
export interface JsonSchema {
  [keyword: string]: unknown;
  type?: string;
  title?: string;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  patternProperties?: Record<string, JsonSchema>;
  enum?: unknown[];
  examples?: unknown[];
}

/** The key pattern of maps in contracts. */
export const ANY_KEY = "^.*$";

export function mapSchema(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, patternProperties, items, anyOf, ...rest } = schema;
  const within = (each: JsonSchema) => mapSchema(each, change);
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
