import type { Hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { expectation, Fault, isFault, mismatch, quoted } from "../../../../lib/contract/faults.ts";
import { compileKeyCheck } from "../../../../lib/contract/known-keys.ts";
import { decode } from "../../../../lib/http/content-encoding.ts";
import { mediaTypeOf } from "../../../../lib/http/media-type.ts";
import {
  countValues,
  halfCharacterOf,
  MAX_JSON_VALUES,
  type NumberTooLarge,
  parseJsonBytes,
  UNCOUNTED_BYTES,
  unreadableJson,
} from "../../../../lib/json/json.ts";
import { oncePer } from "../../../../lib/once-per.ts";
import { type Release, requestShare, type Share } from "../../../../lib/queue/fair-queue.ts";
import { TokenBuckets } from "../../../../lib/queue/token-bucket.ts";
import { memory, turns } from "../../../../lib/queue/work.ts";
import type { HttpExchange } from "../http-exchange.ts";

const MB = 1_048_576;
export const DEFAULT_MAX_BODY = MB;
/** Without a token: there is no caller yet to charge for the work. */
const PUBLIC_MAX_BODY = 8_192;

/** Memory of a body once it is parsed, by its bytes. */
const PARSED = 4;
/** Bytes in memory of a body that is not read yet: the rest is still at its sender. */
const UNREAD_BYTES = 65_536;
/** Larger bodies are not read for a caller without a budget, whatever their content. */
const LARGE_BYTES = MB / 2;
/** Parsing takes about a millisecond for this many values, or a kilobyte each. */
const LIGHT = 2_000;
const BYTES_OF_VALUE = 1_024;
/** Rate and burst of a tenant's heavy bodies, by weight. A caller gets half of both. */
const PER_SECOND = 1_000_000;
const BURST = 4_000_000;
const tenants = new TokenBuckets(PER_SECOND, BURST);
const callers = new TokenBuckets(PER_SECOND / 2, BURST / 2);
/** Of the four places for dear work: two bodies are parsed in a tick of the event loop. */
const PARSING = 2;

/** A request whose body was read early, because an Idempotency-Key is bound to the bytes. */
interface Read extends IncomingMessage {
  $raw?: Buffer;
  /** Updated with every chunk. */
  $hash?: Hash;
}

/** Reads the raw body; rejects it as soon as it is known to exceed the operation's limit. */
export async function readRaw(req: Read, maxSize: number): Promise<Buffer> {
  requireNoEncoding(req);
  return readBytes(req, maxSize);
}

/** As `readRaw`, of a body that may be compressed. */
export async function readUncompressed(req: Read, maxSize: number): Promise<Buffer> {
  const bytes = await readBytes(req, maxSize);
  const encoding = req.headers["content-encoding"]?.trim().toLowerCase();
  if (!encoding) return bytes;
  const decoded = decode(encoding, bytes, maxSize);
  if (typeof decoded !== "string") return decoded;
  const details = { value: encoding, expected: ["gzip", "deflate", "br", "identity"] };
  throw new Fault("unsupported_media_type", `T${decoded.slice(1)}.`, details);
}

async function readBytes(req: Read, maxSize: number): Promise<Buffer> {
  if (!req.$raw) return receive(req, maxSize);
  requireSize(req.$raw.length, maxSize);
  return req.$raw;
}

/** Reads the body now and keeps it for `readRaw`. */
export async function readAhead(req: Read, maxSize: number): Promise<Buffer> {
  req.$raw = await readRaw(req, maxSize);
  return req.$raw;
}

/** Updates a hash with the bytes of the body as they arrive. */
export function follow(req: Read, hash: Hash): void {
  req.$hash = hash;
}

/** Streams the body, if it is too large for memory. */
export async function* readParts(req: Read, maxSize: number): AsyncGenerator<Buffer> {
  requireNoEncoding(req);
  requireSize(Number(req.headers["content-length"] ?? 0), maxSize);
  let size = 0;
  // The rest of a refused body is discarded, so the connection must stay open.
  for await (const part of req.iterator({ destroyOnReturn: false })) {
    size += part.length;
    requireSize(size, maxSize);
    req.$hash?.update(part);
    yield part;
  }
}

function requireSize(size: number, maxSize: number): void {
  if (size > maxSize) throw tooLarge(size, maxSize);
}

async function receive(req: Read, maxSize: number): Promise<Buffer> {
  requireSize(Number(req.headers["content-length"] ?? 0), maxSize);
  // Listeners instead of async iteration: this runs for every request and costs a third as much.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      req.$hash?.update(chunk);
      if (size > maxSize) reject(tooLarge(size, maxSize));
      else chunks.push(chunk);
    });
    req.once("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    req.once("error", reject);
    req.once("close", () => {
      // Every request closes; creating an unused error would cost more than the rest of this function.
      if (!req.complete) reject(new Error("The connection closed before the body was complete."));
    });
  });
}

/** Limits for reading a refused body: a multiple of the operation's limit, and bytes. */
const DISCARDED_FACTOR = 16;
const MAX_DISCARDED = 16 * DEFAULT_MAX_BODY;

/**
 * Discards a refused body, so that a caller who is still sending can read the answer instead of a broken connection.
 * Closes the connection if the body is far too long, at once if its length is known.
 * @param res its answer, not yet sent
 * @param maxSize the operation's limit, in bytes
 */
export function discardBody(req: IncomingMessage, res: ServerResponse, maxSize = DEFAULT_MAX_BODY): void {
  if (req.complete) return;
  const most = Math.min(DISCARDED_FACTOR * maxSize, MAX_DISCARDED);
  if (Number(req.headers["content-length"] ?? 0) > most) {
    res.shouldKeepAlive = false;
    res.once("finish", () => req.destroy());
    return;
  }
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) req.destroy();
  });
  req.resume();
}

/** Reads the JSON body of a request as its params; an absent body is an empty object. */
export async function readJson(exchange: HttpExchange): Promise<Record<string, unknown>> {
  return jsonBody(exchange, await readRaw(exchange.req, maxBodyOf(exchange.op)));
}

/** Refuses fields in the body of a write that takes none. Ignores bodies other than JSON. */
export async function requireNoFields(exchange: HttpExchange): Promise<void> {
  if (isJson(exchange.req)) await readJson(exchange);
}

/** As `readJson`, for bytes already read. */
export async function jsonBody(exchange: HttpExchange, raw: Buffer): Promise<Record<string, unknown>> {
  const { req, op } = exchange;
  if (raw.length === 0) return {};
  requireJson(req, op.form && ["application/x-www-form-urlencoded"]);
  const body = await parseFairly(raw, requestShare(exchange), (bytes) => parseJson(bytes));
  // Messages in another protocol, such as MCP, are checked where they are executed.
  const half = op.wholeBody ? null : halfCharacterOf(body);
  if (half !== null) throw halfCharacter(half);
  return bodyParams(op, body);
}

/** Parses JSON. @param exact whether long integers keep their digits */
export function parseJson(raw: Buffer, exact = false): unknown {
  try {
    return parseJsonBytes(raw, { exact });
  } catch (err) {
    if (isFault(err)) throw err;
    throw notJson(unreadableJson("body", err), (err as Partial<NumberTooLarge>).field);
  }
}

/** @param field its path */
export function halfCharacter(field: string): Fault {
  const expected = "well-formed text, without lone UTF-16 surrogates";
  return mismatch(field, null, expected, "\u{1F600}", field || "The body");
}

/** @param others additionally supported media types @throws Fault unsupported_media_type */
function requireJson(req: IncomingMessage, others: string[] = []): void {
  if (!isJson(req)) throw unsupported(mediaType(req), ["application/json", ...others]);
}

function isJson(req: IncomingMessage): boolean {
  const type = mediaType(req);
  return type === "application/json" || type.endsWith("+json");
}

/** Returns a parsed body as an operation's params. @throws Fault validation_failed, also for unknown keys */
function bodyParams(op: Operation, body: unknown): Record<string, unknown> {
  if (op.wholeBody) return { [Object.keys(op.body ?? {})[0] as string]: body };
  if (typeof body === "object" && body !== null && !Array.isArray(body)) {
    requireKnownKeys(op, body as Record<string, unknown>);
    return body as Record<string, unknown>;
  }
  const value = Array.isArray(body) ? "an array" : body;
  const details = { field: "", value, expected: "object", example: {} };
  throw new Fault("validation_failed", expectation("The body", "a JSON object", quoted(body)), details);
}

const keyCheckOf = oncePer(({ body, params, method, representations }: Operation) =>
  compileKeyCheck(
    { type: "object", required: params.required as string[], properties: body ?? {} },
    { representations, dropsNulls: method !== "PATCH" },
  ),
);

/**
 * A misspelt key would silently change nothing, or too much. A resource that was read can be written back, with its
 * read-only fields. Checked here and not with the action's params, so that a
 * newer gateway can call an older service.
 */
function requireKnownKeys(op: Operation, body: Record<string, unknown>): void {
  const fault = keyCheckOf(op)(body);
  if (fault) throw fault;
}

/** @param why starts with `the body` */
export function notJson(why: string, field = ""): Fault {
  const details = { field, value: null, expected: "JSON", example: {} };
  return new Fault("validation_failed", `T${why.slice(1)}.`, details);
}

/** Returns the media type without parameters, in lower case; "" without one. */
export function mediaType(req: IncomingMessage): string {
  const header = req.headers["content-type"];
  if (header === undefined || header === "application/json") return header ?? "";
  return mediaTypeOf(header);
}

export function unsupported(type: string, allowed: string[]): Fault {
  const message = `Content-Type ${type || "(none)"} is not supported: expected ${allowed.join(" or ")}.`;
  return new Fault("unsupported_media_type", message, { value: type, expected: allowed });
}

function requireNoEncoding(req: IncomingMessage): void {
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  const message = `Content-Encoding ${encoding} is not supported: send the body uncompressed.`;
  throw new Fault("unsupported_media_type", message, { value: encoding, expected: ["identity"] });
}

export function tooLarge(actual_size: number, max_size: number): Fault {
  return new Fault("payload_too_large", `The body has ${actual_size} bytes; the limit is ${max_size}.`, {
    actual_size,
    max_size,
  });
}

/** Returns the size limit of an operation's body in bytes. */
export function maxBodyOf({ maxBody, access, consumes = "json" }: Operation): number {
  return maxBody ?? (access.by === "public" && consumes === "json" ? PUBLIC_MAX_BODY : DEFAULT_MAX_BODY);
}

/**
 * Reserves memory for the body of a request before any of it is read; null for a small one.
 * @throws Fault rate_limited, service_unavailable
 */
export function reserveBody(exchange: HttpExchange): Promise<Release> | null {
  const { op, req } = exchange;
  const bytes = Math.min(bytesOf(op, req.headers), maxBodyOf(op));
  if (bytes <= UNCOUNTED_BYTES) return null;
  const share = requestShare(exchange);
  // Do not read a body that would be refused afterwards.
  if (bytes > LARGE_BYTES && !op.byReference) requireBudget(share);
  return memory.acquire(share, bytes * PARSED, { queued: Math.min(bytes, UNREAD_BYTES) });
}

/** Returns how much of a body will be in memory: large fields that go to blobs are not. */
function bytesOf(op: Operation, headers: HttpExchange["req"]["headers"]): number {
  const most = op.byReference ? DEFAULT_MAX_BODY : Number.POSITIVE_INFINITY;
  const declared = headers["content-length"];
  if (declared !== undefined) return Math.min(Number(declared), most);
  return headers["transfer-encoding"] === undefined ? 0 : most;
}

/**
 * Parses a body. A heavy one is charged, and waits for its turn.
 * @throws Fault rate_limited, service_unavailable, or an error of `parse`
 */
export function parseFairly<T>(raw: Buffer, share: Share, parse: (raw: Buffer) => T): T | Promise<T> {
  if (raw.length <= UNCOUNTED_BYTES) return parse(raw);
  const values = countValues(raw);
  // A body over the limit of values is refused without being parsed: only its bytes are charged.
  const weight = (values > MAX_JSON_VALUES ? 0 : values) + raw.length / BYTES_OF_VALUE;
  if (weight <= LIGHT) return parse(raw);
  requireBudget(share);
  charge(share, weight);
  return parseInTurn(raw, share, parse);
}

async function parseInTurn<T>(raw: Buffer, share: Share, parse: (raw: Buffer) => T): Promise<T> {
  const release = await turns.acquire(share, PARSING);
  try {
    return parse(raw);
  } finally {
    setImmediate(release);
  }
}

/** Charges caller and tenant. Others wait for the whole of a body, so the price grows faster than the weight. */
function charge(share: Share, weight: number): void {
  const now = performance.now();
  const price = weight * Math.max(1, weight / LIGHT);
  tenants.take(share.tenant_id, price, now);
  callers.take(keyOf(share), price, now);
}

/** @throws Fault rate_limited while the caller or its tenant has used up its budget for heavy bodies */
function requireBudget(share: Share): void {
  const now = performance.now();
  const wait = Math.max(tenants.waitOf(share.tenant_id, now), callers.waitOf(keyOf(share), now));
  if (wait <= 0) return;
  const retry_after_seconds = Math.max(1, Math.ceil(wait / 1000));
  const message = `Too many large bodies in a short time. Retry in ${retry_after_seconds} s, or send fewer values per body.`;
  throw new Fault("rate_limited", message, { retry_after_seconds });
}

const keyOf = ({ tenant_id, caller }: Share) => `${tenant_id} ${caller}`;
