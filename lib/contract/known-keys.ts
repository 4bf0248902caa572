import { Fault, shown } from "./faults.ts";
import { type JsonSchema, mapSchema } from "./json-schema.ts";
import { nearest } from "./nearest.ts";

/** The keys allowed in a value, null for any. */
type Shape = {
  fields: Map<string, Field> | null;
  /** Fields that the resource has and a caller cannot set. */
  readOnly: ReadonlySet<string>;
  /** Whether a field is a secret: a misspelt one is then not shown either. */
  hasSecrets: boolean;
  others: Shape;
  items: Shape;
} | null;

interface Field {
  shape: Shape;
  /** Optional, and without null among its values: an explicit null is then its absence. */
  refusesNull: boolean;
}

/** Returns a fault that names an unknown key and the nearest known one, or null. */
type KeyCheck = (value: unknown) => Fault | null;

/** How a check changes the value. */
interface Options {
  /** Forms in which the resource is answered: their fields that `schema` lacks are removed, not refused. */
  representations?: readonly object[];
  /** Removes nulls of optional fields that cannot be null. */
  dropsNulls?: boolean;
}

/**
 * Compiles a check for keys that are not in a schema, at any depth. Objects without `properties` or with
 * `additionalProperties` allow any key. Read values can be written: see `Options`.
 */
export function compileKeyCheck(
  schema: object,
  { representations = [], dropsNulls = false }: Options = {},
): KeyCheck {
  const shape = shapeOf(schema as JsonSchema, representations as JsonSchema[]);
  return (value) => find(shape, value, "", dropsNulls);
}

/** Returns the schema with the check's strictness: `additionalProperties: false` wherever all keys are known. */
export function closed<T extends object>(schema: T): T {
  const close = (part: JsonSchema) => (isFree(part) ? part : { ...part, additionalProperties: false });
  return mapSchema(schema as JsonSchema, close) as T;
}

function isFree({ properties, patternProperties, additionalProperties = false }: JsonSchema): boolean {
  return !properties || patternProperties !== undefined || additionalProperties !== false;
}

function shapeOf(schema: JsonSchema, representations: readonly JsonSchema[]): Shape {
  const all = alternatives(schema);
  const read = representations.flatMap(alternatives);
  const objects = all.filter(({ type, properties }) => type === "object" || properties);
  const fields = objects.length && !objects.some(isFree) ? mergeFields(objects, read) : null;
  const others = united(
    objects.flatMap(({ patternProperties }) => Object.values(patternProperties ?? {})),
    read.flatMap(({ patternProperties }) => Object.values(patternProperties ?? {})),
  );
  const items = united(
    all.flatMap(({ items }) => (items ? [items] : [])),
    read.flatMap(({ items }) => (items ? [items] : [])),
  );
  if (!fields && !others && !items) return null;
  const readOnly = new Set(read.flatMap(({ properties }) => Object.keys(properties ?? {})));
  const hasSecrets = objects.some(({ properties }) =>
    Object.values(properties ?? {}).some(({ writeOnly }) => writeOnly),
  );
  return { fields, readOnly, hasSecrets, others, items };
}

function alternatives({ anyOf, ...schema }: JsonSchema): JsonSchema[] {
  return anyOf ? [schema, ...anyOf.flatMap(alternatives)] : [schema];
}

function united(schemas: JsonSchema[], representations: JsonSchema[]): Shape {
  return schemas.length ? shapeOf({ anyOf: schemas }, representations) : null;
}

/** Merges the keys of all alternatives; the contract decides between them. */
function mergeFields(objects: JsonSchema[], read: JsonSchema[]): Map<string, Field> {
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})));
  const named = (schemas: JsonSchema[], name: string) =>
    schemas.flatMap<JsonSchema>(({ properties }) => properties?.[name] ?? []);
  return new Map(
    [...names].map((name) => {
      const schemas = named(objects, name);
      const isRequired = objects.some(({ required }) => required?.includes(name));
      const refusesNull = !isRequired && !schemas.some(allowsNull);
      return [name, { shape: united(schemas, named(read, name)), refusesNull }];
    }),
  );
}

function allowsNull({ type, anyOf, const: only, enum: values }: JsonSchema): boolean {
  if (anyOf) return anyOf.some(allowsNull);
  if (only !== undefined || values) return only === null || values?.includes(null) === true;
  return type === undefined || [type].flat().includes("null");
}

function find(shape: Shape, value: unknown, path: string, dropsNulls: boolean): Fault | null {
  if (!shape || typeof value !== "object" || value === null) return null;
  const { fields, readOnly, others, items } = shape;
  if (Array.isArray(value)) {
    for (const [at, item] of items ? value.entries() : []) {
      const fault = find(items, item, `${path}${at}.`, dropsNulls);
      if (fault) return fault;
    }
    return null;
  }
  const object = value as Record<string, unknown>;
  for (const name of Object.keys(object)) {
    const field = fields?.get(name);
    if (fields && !field && !readOnly.has(name)) return unknownKey(shape, path + name, name, object[name]);
    if ((fields && !field) || (dropsNulls && object[name] === null && field?.refusesNull)) {
      delete object[name];
      continue;
    }
    const fault = find(field?.shape ?? others, object[name], `${path}${name}.`, dropsNulls);
    if (fault) return fault;
  }
  return null;
}

const SHOWN_CHARACTERS = 200;

function unknownKey(
  { fields, hasSecrets }: NonNullable<Shape>,
  path: string,
  key: string,
  input: unknown,
): Fault {
  const names = [...(fields?.keys() ?? [])];
  const field = path.slice(0, SHOWN_CHARACTERS);
  const { name, close = false } = nearest(key, names) ?? {};
  const meant = close ? ` Did you mean ${name}?` : "";
  const allowed = names.length ? `Allowed: ${names.join(", ")}.` : "No fields are allowed here.";
  const expected = (close ? name : names.join(", ")) || "no fields";
  // It may be a secret under a misspelt key.
  const value = hasSecrets ? null : shown(input);
  return new Fault("validation_failed", `${field} is not a known field.${meant} ${allowed}`, {
    ...{ field, value, expected, example: null },
  });
}
