import type { CallToolResult } from "@modelcontextprotocol/server";
import { Fault } from "../../../lib/contract/faults.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { grouped, MODEL_CHARACTERS, part, shorten } from "../../../lib/text/budget.ts";
import { withoutDataUris } from "../../../lib/text/data-uris.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { textFromBlob } from "../gateway/answer/from-blob.ts";
import { errorAnswer } from "../gateway/answer/respond.ts";
import type { Answer } from "../gateway/http-exchange.ts";
import { type Kept, prune } from "./prune.ts";

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
  const given = isWhole
    ? JSON.stringify(shorten(value, MODEL_CHARACTERS))
    : part(all, from ?? 0, MODEL_CHARACTERS);
  const end = isWhole ? 0 : (from ?? 0) + given.length;
  const what = isWhole
    ? `Shortened: the result has ${grouped(all.length)} characters.`
    : `These are characters ${grouped(from ?? 0)} to ${grouped(end)} of ${grouped(all.length)}.`;
  if (end >= all.length) return [given, what];
  const next = reads
    ? `Call ${name} again with from_character ${end}`
    : whole && `Call ${whole}, with from_character 0`;
  return [given, next ? `${what} ${next} to read ${isWhole ? "all of it" : "on"}.` : what];
}
