import type { CallToolResult } from "@modelcontextprotocol/server";
import { Fault } from "../../../lib/contract/faults.ts";
import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { grouped, MODEL_CHARACTERS, part, shorten } from "../../../lib/text/budget.ts";
import { withoutDataUris } from "../../../lib/text/data-uris.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { textFromBlob } from "../gateway/answer/from-blob.ts";
import { errorAnswer } from "../gateway/answer/respond.ts";
import type { Answer } from "../gateway/http-exchange.ts";
import { alternatives } from "./schemas.ts";

/** Longer texts must use HTTP, which streams them: here a text is held in memory. */
const LONGEST_TEXT = 8 * 1_048_576;

/** An answer with its whole text. */
export interface Text {
  status: number;
  type: string;
  text: string;
}

/** Loads an answer together with its blob. If it is too large, returns a fault as the answer. */
export async function whole(
  answer: Answer,
  { tenant_id, request_id, blobs }: { tenant_id: string; request_id: string; blobs: Blobs },
): Promise<Text> {
  const { insert, status, type } = answer;
  if (!insert) return { status, type, text: String(answer.body ?? "") };
  if (insert.size > LONGEST_TEXT)
    return whole(errorAnswer(tooLong(insert.size), request_id), { tenant_id, request_id, blobs });
  return { status, type, text: await textFromBlob(answer, tenant_id, blobs) };
}

function tooLong(actual_size: number): Fault {
  const message = `The text has ${actual_size} bytes; tools return at most ${LONGEST_TEXT}. Read it over HTTP instead.`;
  return new Fault("payload_too_large", message, { actual_size, max_size: LONGEST_TEXT });
}

export function isJson({ type }: Text): boolean {
  return /^application\/([\w.-]+\+)?json\b/.test(type);
}

/** How a tool's result shows an answer. */
interface Shown {
  /** The tool's name. */
  name: string;
  kept: Kept;
  /** Whether a call can be repeated to read on. */
  reads: boolean;
  /** The call that reads what another has shortened. */
  whole?: string | undefined;
  /** The character from which it is read on. */
  from?: number | undefined;
  /** Additional text for the caller. */
  remark?: string | undefined;
}

/**
 * Formats an answer as a tool result, within a model's budget: JSON is shortened to JSON, a text to its beginning, and a
 * second text says how long it is and which call reads the rest. Only as text: the value next to it would give all twice,
 * and clients check it by the output schema, which no shortened value fits. An error is the service's envelope.
 */
export function toToolResult(answer: Text, shown: Shown): CallToolResult {
  const { status } = answer;
  const text = withoutDataUris(answer.text);
  const value =
    status < 400 && text !== "" && isJson(answer) ? prune(parseExact(text), shown.kept) : undefined;
  const all = value === undefined ? text || "Done." : JSON.stringify(value);
  const texts = [...excerpt(all, value, shown), ...(shown.remark ? [shown.remark] : [])];
  return {
    content: texts.map((each) => ({ type: "text", text: each })),
    ...(status >= 400 && { isError: true }),
  };
}

function excerpt(all: string, value: unknown, { name, reads, whole, from }: Shown): string[] {
  if (from === undefined && all.length <= MODEL_CHARACTERS) return [all];
  const isWhole = from === undefined && value !== undefined;
  const shown = isWhole
    ? JSON.stringify(shorten(value, MODEL_CHARACTERS))
    : part(all, from ?? 0, MODEL_CHARACTERS);
  const end = isWhole ? 0 : (from ?? 0) + shown.length;
  const what = isWhole
    ? `Shortened: the result has ${grouped(all.length)} characters.`
    : `These are characters ${grouped(from ?? 0)} to ${grouped(end)} of ${grouped(all.length)}.`;
  if (end >= all.length) return [shown, what];
  const next = reads
    ? `Call ${name} again with from_character ${end}`
    : whole && `Call ${whole}, with from_character 0`;
  return [shown, next ? `${what} ${next} to read ${isWhole ? "all of it" : "on"}.` : what];
}

/**
 * The kept part of a value: `true` all as it is, `false` nothing, `rounded` a number with a few digits or a time to the
 * second, `unless empty` all but false and an empty list, else what is kept of its fields and items.
 */
export type Kept = boolean | "rounded" | "unless empty" | { fields?: Record<string, Kept>; items?: Kept };

/** Scores have sixteen digits, more than anybody needs. */
const DIGITS = 3;

/** Fields that say nothing to a caller: it belongs to one tenant. */
const OMITTED = new Set(["tenant_id"]);

/**
 * Returns what is kept of the values of a schema. Values that the schema leaves open are the callers' own and stay as they
 * are.
 * @param paths of the kept fields, such as `results.memory.title`; lists are passed through. Default: all fields. One with a
 *   `?` at its end is kept unless it is empty.
 */
export function selectKept(schema: JsonSchema, paths?: readonly string[]): Kept {
  const parts = alternatives(schema);
  const items = parts.find((part) => part.items)?.items;
  const properties = parts.flatMap((part) => (part.properties ? [part.properties] : []));
  if (!items && properties.length === 0)
    return parts.some(({ type, format }) => type === "number" || format === "date-time") ? "rounded" : true;
  const fields = Object.entries(Object.assign({}, ...properties) as Record<string, JsonSchema>).map(
    ([name, part]) => [name, OMITTED.has(name) ? false : keptField(name, part, paths)],
  );
  return {
    ...(items && { items: selectKept(items, paths) }),
    ...(properties.length > 0 && { fields: Object.fromEntries(fields) }),
  };
}

function keptField(name: string, schema: JsonSchema, paths: readonly string[] | undefined): Kept {
  if (!paths || paths.includes(name)) return selectKept(schema);
  if (paths.includes(`${name}?`)) return "unless empty";
  const within = paths
    .filter((path) => path.startsWith(`${name}.`))
    .map((path) => path.slice(name.length + 1));
  return within.length > 0 && selectKept(schema, within);
}

/** Returns what is kept of a value, without nulls and, below its own fields, without empty lists and objects. */
export function prune(value: unknown, kept: Kept, isTop = true): unknown {
  if (kept === "rounded") return rounded(value);
  if (typeof kept !== "object" || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const { items = true } = kept;
    return value.map((item) => prune(item, items, false));
  }
  const { fields } = kept;
  if (!fields) return value;
  const left = Object.entries(value).flatMap(([name, field]) => {
    const own = fields[name];
    // Unknown to the schema: the caller's own.
    if (own === undefined) return [[name, field]];
    if (own === false || field === null) return [];
    if (own === "unless empty") return field === false || isEmpty(field) ? [] : [[name, field]];
    const small = prune(field, own, false);
    return typeof own === "object" && !isTop && isEmpty(small) ? [] : [[name, small]];
  });
  return Object.fromEntries(left);
}

function rounded(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toFixed(DIGITS));
  return typeof value === "string" ? value.replace(/\.\d+Z$/, "Z") : value;
}

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
