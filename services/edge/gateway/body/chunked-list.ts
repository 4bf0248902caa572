import type { Operation } from "../../../../lib/contract/contract.ts";
import { compileCheck } from "../../../../lib/contract/validator.ts";
import { parseExact } from "../../../../lib/json/json.ts";
import { countValues, MAX_JSON_VALUES, UNCOUNTED_BYTES } from "../../../../lib/json/json-values.ts";
import { oncePer } from "../../../../lib/once-per.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { toFault } from "../answer/respond.ts";
import { type Exchange, requestShare } from "../exchange.ts";
import { bodyParams, maxBodyOf, parseJson, readRaw, requireJson } from "./body.ts";
import { charge, chargeFor, inTurn, jsonBody, parseFairly, weightOf } from "./json-bodies.ts";
import { MAX_CHUNK_VALUES, MAX_LIST_VALUES } from "./split.ts";
import { splitter } from "./splitter.ts";

/**
 * Larger bodies are parsed in a thread, and their list is processed in chunks of this size: neither this node nor the
 * one that executes them is blocked for long, and calls between nodes stay short.
 */
const CHUNK_BYTES = 524_288;

/** Reads the JSON body of an operation with `inPieces`; splits a large one into the exchange's chunks. */
export async function readChunkedField(exchange: Exchange, name: string): Promise<Record<string, unknown>> {
  const { op, req } = exchange;
  const raw = await readRaw(req, maxBodyOf(op));
  if (!isLarge(raw)) return jsonBody(exchange, raw);
  requireJson(req);
  const { outline, texts } = await splitLarge(exchange, raw, name);
  const params = bodyParams(op, outline);
  const fault = checkOf(op)(params);
  if (fault) throw fault;
  if (texts.length) exchange.chunks = { name, texts };
  return params;
}

/**
 * Reads a body that is a list; splits a large one into the exchange's chunks.
 *
 * @param check throws if it is no list or is too long; for a large one it gets only the length
 */
export async function readChunkedBody(
  exchange: Exchange,
  { name, maxBytes, check }: { name: string; maxBytes: number; check(body: unknown): unknown[] },
): Promise<Record<string, unknown>> {
  const raw = await readRaw(exchange.req, maxBytes);
  if (!isLarge(raw))
    return { [name]: check(await parseFairly(raw, requestShare(exchange), (body) => parseJson(body, true))) };
  const { outline, texts } = await splitLarge(exchange, raw, null);
  const list = check(outline);
  if (texts.length) exchange.chunks = { name, texts };
  return { [name]: list };
}

/** Whether a list is too large for the main thread, by its bytes or its values. */
function isLarge(raw: Buffer): boolean {
  if (raw.length <= UNCOUNTED_BYTES) return false;
  return raw.length > CHUNK_BYTES || countValues(raw, MAX_JSON_VALUES) > MAX_JSON_VALUES;
}

/** The body is charged before it is processed, even if it is refused. */
async function splitLarge(exchange: Exchange, raw: Buffer, field: string | null) {
  const share = requestShare(exchange);
  const split = await splitter.split(raw, field, CHUNK_BYTES, share).catch((err: unknown) => {
    if (toFault(err).type === "validation_failed") chargeRefused(share, raw);
    throw err;
  });
  const chunks = Math.max(1, split.texts.length);
  chargeFor(share, weightOf(split.values, raw.length) / chunks, chunks);
  return split;
}

function chargeRefused(share: Share, raw: Buffer): void {
  const values = countValues(raw, MAX_LIST_VALUES);
  const chunks = Math.ceil(Math.max(raw.length / CHUNK_BYTES, values / MAX_CHUNK_VALUES));
  charge(share, weightOf(values, raw.length) / chunks, chunks);
}

const checkOf = oncePer(({ params }: Operation) => compileCheck(params));

/** Calls the action for each chunk in order and joins the answers: lists, or objects with one list. */
export async function callInChunks(
  exchange: Exchange,
  { name, texts }: NonNullable<Exchange["chunks"]>,
): Promise<Buffer> {
  const { ctx, op } = exchange;
  const share = requestShare(exchange);
  const { idempotency_seed: seed } = ctx.meta;
  const isEvents = name === "events";
  const parts: Buffer[] = [];
  let [before, after] = ["[", "]"];
  for (const [i, text] of texts.entries()) {
    if (seed) ctx.meta.idempotency_seed = `${seed} piece ${i}`;
    const call = () =>
      ctx.call<unknown[] | Record<string, unknown[]>>(op.action, {
        [name]: isEvents ? parseExact(text) : JSON.parse(text),
      });
    const answer = await inTurn(share, call);
    const [field, list] = Array.isArray(answer)
      ? ["", answer]
      : (Object.entries(answer)[0] as [string, unknown[]]);
    if (field) [before, after] = [`{${JSON.stringify(field)}:[`, "]}"];
    // Converted to bytes at once: a single string of everything would have to be written in one go.
    parts.push(Buffer.from(`${i === 0 ? before : ","}${JSON.stringify(list).slice(1, -1)}`));
  }
  return Buffer.concat([...parts, Buffer.from(after)]);
}
