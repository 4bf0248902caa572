import { type Operation, pathsOfAliases } from "../../../lib/contract/contract.ts";
import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import type { Arguments } from "./request.ts";
import { alternatives } from "./schemas.ts";

/**
 * Returns the arguments as the parameters take them: under their own names, and with values that arrive as text
 * (`"5"`, `"[\"a\"]"`) converted. An argument counts as another name only where its parameter is not given: then it is an
 * unknown argument.
 */
export function understood(op: Operation, schema: JsonSchema, args: Arguments): Arguments {
  const { properties = {} } = schema;
  const named = withoutGuesses(op, properties, unwrapped(op, properties, args));
  const values = Object.entries(named).map(([name, value]) => [name, converted(value, properties[name])]);
  const taken: Arguments = Object.fromEntries(values);
  return op.consumes === "cloudevents" ? { ...taken, ...parsedData(taken) } : taken;
}

/** Returns the fields of the only argument, if it is an object that the tool does not have: `{ "event": { … } }`. */
function unwrapped(op: Operation, properties: Properties, args: Arguments): Arguments {
  const [[name, value] = ["", null], ...others] = Object.entries(args);
  const isKnown = name in properties || name in pathsOfAliases(op);
  return others.length === 0 && !isKnown && isObject(value) ? value : args;
}

function withoutGuesses(op: Operation, properties: Properties, args: Arguments): Arguments {
  const paths = pathsOfAliases(op);
  const named = { ...args };
  for (const guess of Object.keys(args)) {
    if (guess in properties) continue;
    const [name = "", field] = (findPath(guess, paths) ?? similarTo(op, guess, properties) ?? "").split(".");
    const holder = converted(named[name], properties[name]);
    if (!name || (field === undefined ? name in named : isObject(holder) && field in holder)) continue;
    if (field !== undefined && holder !== undefined && !isObject(holder)) continue;
    delete named[guess];
    named[name] = field === undefined ? args[guess] : { ...(holder as object), [field]: args[guess] };
  }
  return named;
}

type Properties = Record<string, JsonSchema>;

function findPath(guess: string, paths: Record<string, string>): string | undefined {
  return Object.entries(paths).find(([alias]) => plain(alias) === plain(guess))?.[1];
}

/** Returns the only parameter that differs by case, `_`, a plural or `_id`. Any lower-case name may be an event's attribute. */
function similarTo(op: Operation, guess: string, properties: Properties): string | undefined {
  if (op.consumes === "cloudevents" && /^[a-z0-9]+$/.test(guess)) return undefined;
  const [name, ...others] = Object.keys(properties).filter((each) => stem(each) === stem(guess));
  return others.length === 0 ? name : undefined;
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, "");
const stem = (name: string) =>
  plain(name)
    .replace(/s$/, "")
    .replace(/(?<=.)id$/, "");

/** Converts a value that has none of the schema's types, but can only mean one that has. */
function converted(value: unknown, schema: JsonSchema | undefined): unknown {
  const parts = schema ? alternatives(schema) : [];
  const part = (type: string) => parts.find((each) => each.type === type);
  // A schema without a type allows any value.
  if (parts.length === 0 || parts.some(({ type }) => !type)) return value;
  if (Array.isArray(value)) {
    const list = part("array");
    if (list) return value.map((item) => converted(item, list.items));
    return value.length === 1 ? converted(value[0], schema) : value;
  }
  if (isObject(value)) {
    const { properties = {} } = part("object") ?? {};
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, converted(field, properties[name])]),
    );
  }
  if (typeof value === "number" && part("string") && !part("number") && !part("integer"))
    return String(value);
  return typeof value === "string" && !part("string") ? fromText(value, part) : value;
}

/** Reads a text as JSON, as a list with commas, or as the only required field of an object. */
function fromText(text: string, part: (type: string) => JsonSchema | undefined): unknown {
  const parsed = parsedJson(text);
  const type = Array.isArray(parsed) ? "array" : typeof parsed;
  if (part(type) || (type === "number" && part("integer"))) return converted(parsed, part(type));
  const { items } = part("array") ?? {};
  if (items) return splitItems(text, items).map((item) => converted(item, items));
  const [field, ...others] = part("object")?.required ?? [];
  return field !== undefined && others.length === 0 ? { [field]: text } : text;
}

/** Only names are listed with commas: a sentence may contain some. */
function splitItems(text: string, { pattern, enum: values }: JsonSchema): string[] {
  if (!pattern && !values) return [text];
  return text
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
}

/** Returns the data of an event that arrived as the text of a JSON object or list. */
function parsedData({ data, datacontenttype = "application/json" }: Arguments): { data?: unknown } {
  if (typeof data !== "string" || !/^\s*[[{]/.test(data) || datacontenttype !== "application/json") return {};
  const parsed = parsedJson(data);
  return parsed === undefined ? {} : { data: parsed };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
