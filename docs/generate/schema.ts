import type { JsonSchema } from "../../lib/contract/json-schema.ts";

const FORMATS: Record<string, string> = {
  "date-time": "time",
  uuid: "UUID",
  uri: "URI",
  "uri-reference": "URI reference",
  email: "e-mail address",
  password: "secret text",
};

/** The type of a schema in words, for a cell of a table. References are links to the object on the same page. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: allowed, anyOf, type } = schema;
  if ($ref !== undefined) return link($ref as string);
  if (constant !== undefined) return code(JSON.stringify(constant));
  if (allowed) return (allowed as unknown[]).map((value) => code(String(value))).join(", ");
  if (anyOf) return eitherOf([...new Set(anyOf.map(typeOf))]);
  switch (type) {
    case "array":
      return `list of ${itemType(schema.items ?? {})}${between(schema.minItems || undefined, schema.maxItems)}`;
    case "object":
      return isMap(schema) ? `map of ${typeOf(schema.additionalProperties as JsonSchema)}` : "object";
    case "string":
      return textType(schema);
    case "null":
      return "null";
    case undefined:
      return "any";
    default:
      return `${type}${between(schema.minimum, bound(schema.maximum))}`;
  }
}

function itemType(items: JsonSchema): string {
  return items.anyOf ? `(${typeOf(items)})` : typeOf(items);
}

/** A comma keeps the bounds of the first apart from what comes after. */
function eitherOf(types: string[]): string {
  return types.join(types.slice(0, -1).some((type) => type.includes(",")) ? ", or " : " or ");
}

/** The rows of an object's fields, and below each those of the objects within it, by their dotted names. */
export function rowsOf(schema: JsonSchema, prefix = ""): string[] {
  const { properties = {}, required = [] } = schema as { required?: string[] } & JsonSchema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const optional = required.includes(name) ? "" : "?";
    return [row([code(path + optional), typeOf(field), meaningOf(field)]), ...within(field, path)];
  });
}

/** Returns the description of a field, or of the items of a list, with its default. */
export function meaningOf({ description, default: fallback, anyOf = [], items }: JsonSchema): string {
  const meaning =
    [description, ...anyOf.map((each) => each.description), items?.description].find(Boolean) ?? "";
  const told = fallback === undefined ? "" : `Default ${code(JSON.stringify(fallback))}.`;
  return [cell(String(meaning)), told].filter(Boolean).join(" ");
}

export function row(cells: string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** Returns the text on one line, escaped for a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
}

function within(field: JsonSchema, path: string): string[] {
  const objects = [field, ...(field.anyOf ?? [])];
  return objects.flatMap((each) => {
    if (each.type === "array" && each.items) return within(each.items, `${path}[]`);
    return each.type === "object" ? rowsOf(each, `${path}.`) : [];
  });
}

function textType({ format, pattern, minLength, maxLength }: JsonSchema): string {
  const [, prefix] = /^\^(\w+_)\[/.exec((pattern as string) ?? "") ?? [];
  if (prefix) return `id ${code(`${prefix}…`)}`;
  const kind = FORMATS[format as string] ?? "text";
  return maxLength === undefined ? kind : `${kind}${between(minLength || undefined, maxLength)} characters`;
}

function isMap({ properties, additionalProperties }: JsonSchema): boolean {
  return !properties && typeof additionalProperties === "object";
}

function between(min: unknown, max: unknown): string {
  if (min === undefined && max === undefined) return "";
  if (max === undefined) return `, at least ${number(min)}`;
  return min === undefined ? `, at most ${number(max)}` : `, ${number(min)} to ${number(max)}`;
}

/** Hides the maximum that only keeps integers exact. */
function bound(maximum: unknown): unknown {
  return maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
}

function number(value: unknown): string {
  return Number(value).toLocaleString("en");
}

function link($ref: string): string {
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  // The form of errors stands with all their codes.
  return name === "Error" ? "[error](errors.md)" : `[${name}](#${name.toLowerCase()})`;
}
