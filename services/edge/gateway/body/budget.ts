import type { Operation } from "../../../../lib/contract/contract.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import { countValues, MAX_JSON_VALUES, UNCOUNTED_BYTES } from "../../../../lib/json/json.ts";
import type { Release, Share } from "../../../../lib/queue/fair-queue.ts";
import { TokenBuckets } from "../../../../lib/queue/token-bucket.ts";
import { memory, turns } from "../../../../lib/queue/work.ts";
import { type HttpExchange, requestShare } from "../http-exchange.ts";

const MB = 1_048_576;
export const DEFAULT_MAX_BODY = MB;
/** Without a token: there is no caller yet to charge for the work. */
const PUBLIC_MAX_BODY = 8_192;

/** Memory of a body once it is parsed, by its bytes. */
const PARSED = 4;
/** What is in memory of a body that is not read yet: the rest is still at its sender. */
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

/** Returns the size limit of an operation's body in bytes. */
export function maxBodyOf({ maxBody, access, consumes = "json" }: Operation): number {
  return maxBody ?? (access.by === "public" && consumes === "json" ? PUBLIC_MAX_BODY : DEFAULT_MAX_BODY);
}

/**
 * Reserves memory for the body of a request before any of it is read; null for a small one.
 *
 * @throws Fault rate_limited, service_unavailable
 */
export function reserveBody(exchange: HttpExchange): Promise<Release> | null {
  const { op, req } = exchange;
  if (op.method === "GET") return null;
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
 *
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
