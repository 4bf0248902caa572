import type { IncomingMessage } from "node:http";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { type Fault, mismatch } from "../../../../lib/contract/faults.ts";
import { charsetOf } from "../../../../lib/http/media-type.ts";
import { unreadableJson } from "../../../../lib/json/json.ts";
import type { BlobRef, Blobs } from "../../../../storage/blobs/blobs.ts";
import { blobWriteOf, type HttpExchange } from "../http-exchange.ts";
import {
  DEFAULT_MAX_BODY,
  halfCharacter,
  jsonBody,
  maxBodyOf,
  mediaType,
  notJson,
  readParts,
  tooLarge,
  unsupported,
} from "./body.ts";
import { fromBase64, onlyUtf8, takeFields, toUtf8 } from "./json-fields.ts";

/**
 * Reads a body whose large fields are streamed from the connection into blobs, with references in their place: the
 * whole body is never in memory or parsed. It is read once; later calls return the same result.
 * @throws Fault validation_failed, payload_too_large, unsupported_media_type
 */
export async function readByReference(
  exchange: HttpExchange,
  tenant_id: string,
  blobs: Blobs,
): Promise<Record<string, unknown>> {
  const { op, req } = exchange;
  const isText = op.textBody !== undefined && TEXT.has(mediaType(req));
  exchange.body ??= await (isText
    ? readText(exchange, tenant_id, blobs)
    : readFields(exchange, tenant_id, blobs));
  return exchange.body;
}

const TEXT = new Set(["text/markdown", "text/plain"]);

/** Reads the whole body as one field. */
async function readText(exchange: HttpExchange, tenant_id: string, blobs: Blobs) {
  const { req, op } = exchange;
  const charset = charsetOf(req.headers["content-type"] ?? "");
  if (charset && !/^utf-?8$/.test(charset)) throw unsupported(`charset=${charset}`, ["charset=utf-8"]);
  const text = onlyUtf8(readParts(req, maxBodyOf(op)));
  const field = op.textBody as string;
  const put = blobs.put(blobWriteOf(exchange, tenant_id), text, lengthOf(req));
  const ref = await put.catch((err) => {
    throw err instanceof SyntaxError ? misfit(op, field, "UTF-8 text") : err;
  });
  return { [field]: ref };
}

async function readFields(exchange: HttpExchange, tenant_id: string, blobs: Blobs) {
  const { req, op } = exchange;
  const encodings = op.byReference ?? {};
  const kept = new Map<string, BlobRef | string>();
  const keep = async (field: string, characters: AsyncIterable<string>) => {
    if (kept.has(field)) throw misfit(op, field, ONCE);
    const isBase64 = encodings[field] === "base64";
    const bytes = isBase64 ? fromBase64(characters) : toUtf8(characters);
    const fault = isBase64 ? misfit(op, field, BASE64) : halfCharacter(field);
    const least = leastOf(lengthOf(req), isBase64);
    const body = op.inlineUpTo === undefined ? bytes : await inlined(bytes, op.inlineUpTo);
    const put = typeof body === "string" ? body : blobs.put(blobWriteOf(exchange, tenant_id), body, least);
    kept.set(field, await Promise.resolve(put).catch((err) => refuse(err, fault)));
  };
  const parts = readParts(req, maxBodyOf(op));
  const rest = await takeFields(parts, new Set(Object.keys(encodings)), DEFAULT_MAX_BODY, keep).catch(
    refuseBody,
  );
  const body = await jsonBody(exchange, rest);
  for (const field of Object.keys(encodings)) {
    if (body[field] === undefined) continue;
    // An action must be able to trust every reference. A duplicate field is invalid.
    if (body[field] !== "" || !kept.has(field)) throw misfit(op, field, ONCE);
    body[field] = kept.get(field);
  }
  return body;
}

const lengthOf = (req: IncomingMessage) => Number(req.headers["content-length"] ?? 0);

/** Returns the minimum bytes of a field in a long body: base64 takes four bytes for three, and escapes more. */
function leastOf(length: number, isBase64: boolean): number {
  return Math.floor(Math.max(0, length - DEFAULT_MAX_BODY) * (isBase64 ? 0.75 : 0.5));
}

/** Returns a text of at most so many bytes itself, and a longer one as it came. */
async function inlined(bytes: AsyncIterable<Buffer>, most: number): Promise<string | AsyncIterable<Buffer>> {
  const source = bytes[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  for (let size = 0; size <= most; ) {
    const { value, done } = await source.next();
    if (done) return Buffer.concat(read).toString();
    read.push(value);
    size += value.length;
  }
  return (async function* () {
    yield* read;
    yield* { [Symbol.asyncIterator]: () => source };
  })();
}

const ONCE = "one string";
const BASE64 = "standard base64, padded";

/** Throws the fault for invalid text; errors of the store are passed on. */
function refuse(err: unknown, fault: Fault): never {
  throw err instanceof RangeError ? fault : err;
}

function refuseBody(err: unknown): never {
  if (err instanceof SyntaxError) throw notJson(unreadableJson("body", err));
  if (err instanceof RangeError) throw tooLarge(DEFAULT_MAX_BODY + 1, DEFAULT_MAX_BODY);
  throw err;
}

function misfit({ body }: Operation, field: string, expected: string): Fault {
  const [example = null] = (body?.[field] as { examples?: unknown[] } | undefined)?.examples ?? [];
  return mismatch(field, null, expected, example);
}
