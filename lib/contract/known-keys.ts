import { Fault } from "./faults.ts";
import { nearest } from "./nearest.ts";

/** The parts of JSON Schema that decide which keys are allowed. */
interface Schema {
  type?: unknown;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
}

/** The keys allowed in a value, null for any. */
type Shape = { fields: Map<string, Shape> | null; others: Shape; items: Shape } | null;

/** Returns a fault that names an unknown key and the nearest known one, or null. */
type KeyCheck = (value: unknown) => Fault | null;

/**
 * Compiles a check for keys that are not in a schema, at any depth. Objects without `properties` or with
 * `additionalProperties` allow any key.
 */
export function compileKeyCheck(schema: object): KeyCheck {
  const shape = shapeOf(schema as Schema);
  return (value) => find(shape, value, "");
}

/** Returns the schema with the check's strictness: `additionalProperties: false` wherever all keys are known. */
export function closed<T extends object>(schema: T): T {
  const { properties, patternProperties, items, anyOf, ...rest } = schema as Schema;
  return {
    ...rest,
    ...(properties && { properties: mapped(properties) }),
    ...(patternProperties && { patternProperties: mapped(patternProperties) }),
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(properties && !isFree(schema) && { additionalProperties: false }),
  } as T;
}

function mapped(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)]));
}

function isFree({ properties, patternProperties, additionalProperties = false }: Schema): boolean {
  return !properties || patternProperties !== undefined || additionalProperties !== false;
}

function shapeOf(schema: Schema): Shape {
  const all = alternatives(schema);
  const objects = all.filter(({ type, properties }) => type === "object" || properties);
  const fields = objects.length && !objects.some(isFree) ? mergeFields(objects) : null;
  const others = united(objects.flatMap(({ patternProperties }) => Object.values(patternProperties ?? {})));
  const items = united(all.flatMap(({ items }) => (items ? [items] : [])));
  return fields || others || items ? { fields, others, items } : null;
}

function alternatives({ anyOf, ...schema }: Schema): Schema[] {
  return anyOf ? [schema, ...anyOf.flatMap(alternatives)] : [schema];
}

function united(schemas: Schema[]): Shape {
  return schemas.length ? shapeOf({ anyOf: schemas }) : null;
}

/** Merges the keys of all alternatives; the contract decides between them. */
function mergeFields(objects: Schema[]): Map<string, Shape> {
  const fields = new Map<string, Schema[]>();
  for (const { properties } of objects) {
    for (const [name, schema] of Object.entries(properties ?? {}))
      fields.set(name, [...(fields.get(name) ?? []), schema]);
  }
  return new Map([...fields].map(([name, schemas]) => [name, united(schemas)]));
}

function find(shape: Shape, value: unknown, path: string): Fault | null {
  if (!shape || typeof value !== "object" || value === null) return null;
  const { fields, others, items } = shape;
  if (Array.isArray(value)) return items && firstOf(value.entries(), () => items, path);
  const entries = Object.entries(value);
  const unknown = fields && entries.find(([name]) => !fields.has(name))?.[0];
  if (fields && typeof unknown === "string") return unknownKey(path + unknown, unknown, [...fields.keys()]);
  return firstOf(entries, (name) => fields?.get(name as string) ?? others, path);
}

function firstOf(
  parts: Iterable<[string | number, unknown]>,
  shapeAt: (name: string | number) => Shape,
  path: string,
): Fault | null {
  for (const [name, part] of parts) {
    const fault = find(shapeAt(name), part, `${path}${name}.`);
    if (fault) return fault;
  }
  return null;
}

const SHOWN_CHARACTERS = 200;

/** The value is not returned: it may be a secret under a misspelt key. */
function unknownKey(path: string, key: string, names: string[]): Fault {
  const field = path.slice(0, SHOWN_CHARACTERS);
  const { name: expected = "no fields", close = false } = nearest(key, names) ?? {};
  const meant = close ? ` Did you mean ${expected}?` : "";
  const allowed = names.length ? `Allowed: ${names.join(", ")}.` : "No fields are allowed here.";
  const details = { field, value: null, expected, example: null };
  return new Fault("validation_failed", `${field} is not a known field.${meant} ${allowed}`, details);
}
