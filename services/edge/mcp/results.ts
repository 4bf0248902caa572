import type { CallToolResult } from "@modelcontextprotocol/server";
import { Fault } from "../../../lib/contract/faults.ts";
import { parseExact } from "../../../lib/json/json.ts";
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

/**
 * Formats an answer as a tool result: its text, and the value if it is JSON. An error is the service's envelope, as
 * text only: it matches no output schema, and clients (the official one of version 1) throw on a mismatch.
 *
 * @param kept what of a value is given
 * @param remark additional text for the caller
 */
export function toToolResult(answer: Text, kept: Kept, remark?: string): CallToolResult {
  const { status } = answer;
  const text = withoutDataUris(answer.text);
  const isValue = status < 400 && text !== "" && isJson(answer);
  const value = isValue ? prune(parseExact(text), kept) : undefined;
  const texts = [isValue ? JSON.stringify(value) : text || "Done.", ...(remark ? [remark] : [])];
  return {
    content: texts.map((each) => ({ type: "text", text: each })),
    ...(isValue && { structuredContent: value as CallToolResult["structuredContent"] }),
    ...(status >= 400 && { isError: true }),
  };
}
