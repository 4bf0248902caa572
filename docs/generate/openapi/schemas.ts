import { ANY_KEY, type JsonSchema } from "../../../lib/contract/json-schema.ts";

const COMPONENT_NAME = /^[A-Z][A-Za-z0-9]*$/;

/** Collects named schemas: those whose `title` is a name, like `Agent`. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  /** Returns the schema for its place of use: a reference if it has a name. */
  use(schema: JsonSchema): JsonSchema {
    const plain = this.#plain(schema);
    const { title } = plain;
    if (title === undefined || !COMPONENT_NAME.test(title)) return plain;
    const { title: _, ...named } = plain;
    const known = this.schemas[title];
    if (known && JSON.stringify(known) !== JSON.stringify(named)) {
      const hint = "rename one, or set `additionalProperties: false` if it is used in requests and responses";
      throw new Error(`Two different schemas have the title ${title}: ${hint}.`);
    }
    this.schemas[title] = named;
    return { $ref: `#/components/schemas/${title}` };
  }

  #plain(schema: JsonSchema): JsonSchema {
    const { patternProperties, properties, items, anyOf, ...rest } = schema;
    // Keywords that only this service reads start with `x-`.
    const kept = Object.entries(rest).filter(([keyword]) => !keyword.startsWith("x-"));
    const plain: JsonSchema = Object.fromEntries(kept);
    if (properties) plain.properties = mapValues(properties, (each) => this.use(each));
    if (items) plain.items = this.use(items);
    if (patternProperties) Object.assign(plain, this.#keyed(patternProperties));
    const alternatives = anyOf?.map((each) => this.use(each));
    return alternatives ? united(plain, alternatives) : plain;
  }

  #keyed(patterns: Record<string, JsonSchema>): JsonSchema {
    const any = patterns[ANY_KEY];
    if (any) return { additionalProperties: this.use(any) };
    return { patternProperties: mapValues(patterns, (each) => this.use(each)) };
  }
}

/** Flattens nested alternatives: code that generators emit for nested lists cannot be parsed back. */
function united(plain: JsonSchema, alternatives: JsonSchema[]): JsonSchema {
  return alternatives.reduce<JsonSchema>(
    ({ anyOf = [], ...said }, { anyOf: within, ...rest }) => ({
      ...(within ? { ...rest, ...said } : said),
      anyOf: [...anyOf, ...(within ?? [rest])],
    }),
    plain,
  );
}

function mapValues<T, U>(object: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

/** Returns a valid value: the author's example, else the simplest. */
export function exampleOf(schema: JsonSchema): unknown {
  const { examples, default: fallback, const: constant, enum: allowed, anyOf } = schema;
  const given = [(examples as unknown[])?.[0], fallback, constant, (allowed as unknown[])?.[0]];
  const known = given.find((value) => value !== undefined);
  if (known !== undefined) return known;
  if (anyOf) return exampleOf(anyOf[0] as JsonSchema);
  switch (schema.type) {
    case "object":
      return mapValues(schema.properties ?? {}, exampleOf);
    case "array":
      return exampleItems(schema);
    case "string":
      return FORMATS[schema.format as string] ?? "text".padEnd(Number(schema.minLength ?? 0), "-");
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return {};
  }
}

function exampleItems({ items, maxItems }: JsonSchema): unknown[] {
  return items && maxItems !== 0 ? [exampleOf(items)] : [];
}

const FORMATS: Record<string, string> = {
  "date-time": "2026-01-31T09:30:00.000Z",
  uuid: "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f",
  uri: "https://example.com/",
  "uri-reference": "/example",
  email: "ada@example.com",
};
