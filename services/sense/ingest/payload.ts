import { isUtf8 } from "node:buffer";
import { parseJsonBytes } from "../../../lib/json/json.ts";
import { FORM, formPayload } from "./form.ts";

/** A parsed body, or the parse error with the text. */
export type Read = { payload: unknown } | { error: string; text: string };

/** Parses JSON or a form. */
export function readPayload(body: Buffer, type = ""): Read {
  return FORM.test(type) && isUtf8(body) ? { payload: formPayload(body.toString("utf8")) } : readJson(body);
}

export function readJson(body: Buffer): Read {
  if (!isUtf8(body)) return { error: "mapping error: the body is not UTF-8", text: body.toString("base64") };
  try {
    return { payload: parseJsonBytes(body) };
  } catch (err) {
    const error = `mapping error: the body is not read as JSON: ${(err as Error).message}`;
    return { error, text: body.toString("utf8") };
  }
}
