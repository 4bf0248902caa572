import type { Operation } from "../../../../lib/contract/contract.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import { halfCharacterOf } from "../../../../lib/json/json.ts";
import { countValues, MAX_JSON_VALUES, UNCOUNTED_BYTES } from "../../../../lib/json/json-values.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { TokenBuckets } from "../../../../lib/queue/token-bucket.ts";
import { resourceQueue } from "../../../../observability/resources.ts";
import { type Exchange, requestShare } from "../exchange.ts";
import { bodyParams, halfCharacter, isJson, maxBodyOf, parseJson, readRaw, requireJson } from "./body.ts";

/** Parsing takes about a millisecond for this many values, or a kilobyte each. */
const LIGHT = 2_000;
const BYTES_OF_VALUE = 1_024;
/** Rate and burst of a tenant's heavy bodies, by weight. A caller gets half of both. */
const PER_SECOND = 1_000_000;
const BURST = 4_000_000;

const tenants = new TokenBuckets(PER_SECOND, BURST);
const callers = new TokenBuckets(PER_SECOND / 2, BURST / 2);
const turns = resourceQueue("json", {
  capacity: 1,
  chargeTime: true,
  maxWaiting: 256,
  maxWaitingPerCaller: 32,
  patienceMs: 10_000,
});

/** Reads the JSON body of a request as its params; an absent body is an empty object. */
export async function readJson(exchange: Exchange): Promise<Record<string, unknown>> {
  return jsonBody(exchange, await readRaw(exchange.req, maxBodyOf(exchange.op)));
}

/** Refuses fields in the body of a write that takes none. Ignores bodies other than JSON. */
export async function requireNoFields(exchange: Exchange): Promise<void> {
  if (exchange.op.method !== "GET" && isJson(exchange.req)) await readJson(exchange);
}

/** As `readJson`, for bytes already read. */
export async function jsonBody(exchange: Exchange, raw: Buffer): Promise<Record<string, unknown>> {
  const { req, op } = exchange;
  if (raw.length === 0) return {};
  requireJson(req, op.form && ["application/x-www-form-urlencoded"]);
  const body = await parseFairly(raw, requestShare(exchange));
  requireWhole(op, raw, body);
  return bodyParams(op, body);
}

/** Messages in another protocol, such as MCP, are checked where they are executed. */
function requireWhole(op: Operation, raw: Buffer, body: unknown): void {
  const half = op.wholeBody ? null : halfCharacterOf(raw, body);
  if (half !== null) throw halfCharacter(half);
}

/**
 * Parses a body on the main thread. A heavy one is charged and queued.
 *
 * @throws Fault as `chargeFor`, or an error of `parse`
 */
export function parseFairly<T = unknown>(
  raw: Buffer,
  share: Share,
  parse: (raw: Buffer) => T = parseJson as never,
): T | Promise<T> {
  if (raw.length <= UNCOUNTED_BYTES) return parse(raw);
  const values = countValues(raw, MAX_JSON_VALUES);
  // A body with too many values is refused unparsed.
  if (values > MAX_JSON_VALUES) return parse(raw);
  const weight = weightOf(values, raw.length);
  if (weight <= LIGHT) return parse(raw);
  chargeFor(share, weight);
  return inTurn(share, () => parse(raw));
}

/** Returns the cost of a body, in values. */
export const weightOf = (values: number, bytes: number) => values + bytes / BYTES_OF_VALUE;

/** Runs a task that blocks the main thread for long: one per event loop tick. */
export async function inTurn<T>(share: Share, task: () => T | Promise<T>): Promise<T> {
  const release = await turns.acquire(share, 1);
  try {
    return task();
  } finally {
    setImmediate(release);
  }
}

/**
 * Charges a caller and its tenant for a heavy body. Others wait for the whole of it, so the charge is progressive: ten
 * times the weight at the limit of values.
 *
 * @param times number of such bodies
 * @throws Fault rate_limited while either has used up its budget
 */
export function chargeFor(share: Share, weight: number, times = 1): void {
  requireBudget(share);
  charge(share, weight, times);
}

/** As `chargeFor`, for a body that is refused already: a caller without budget goes into debt. */
export function charge(share: Share, weight: number, times: number): void {
  const now = performance.now();
  const price = times * weight * Math.max(1, weight / LIGHT);
  tenants.take(share.tenant_id, price, now);
  callers.take(keyOf(share), price, now);
}

/** @throws Fault rate_limited while the caller or its tenant has used up its budget for heavy bodies */
export function requireBudget(share: Share): void {
  const now = performance.now();
  const wait = Math.max(tenants.waitOf(share.tenant_id, now), callers.waitOf(keyOf(share), now));
  if (wait > 0) throw overBudget(wait);
}

const keyOf = ({ tenant_id, caller }: Share) => `${tenant_id} ${caller}`;

function overBudget(waitMs: number): Fault {
  const retry_after_seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `Too many large bodies in a short time. Retry in ${retry_after_seconds} s, or send fewer values per body.`;
  return new Fault("rate_limited", message, { retry_after_seconds });
}
