import type { Operation } from "../../../../lib/contract/contract.ts";
import type { Release } from "../../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../../observability/resources.ts";
import { type Exchange, requestShare } from "../exchange.ts";
import { DEFAULT_MAX_BODY, maxBodyOf } from "./body.ts";
import { requireBudget } from "./json-bodies.ts";

const MB = 1_048_576;
/** Smaller bodies are not counted. */
const SMALL_BYTES = 32_768;
/** Larger bodies are heavy whatever their content. */
const LARGE_BYTES = MB / 2;
/** Limit of bytes of bodies in memory: a parsed body takes several times as much. */
const CAPACITY = 64 * MB;

const memory = resourceQueue("body_memory", {
  capacity: CAPACITY,
  perTenant: CAPACITY / 2,
  maxWaiting: 8 * CAPACITY,
  maxWaitingPerCaller: 2 * CAPACITY,
  patienceMs: 10_000,
});

/**
 * Reserves memory before the body of a request is read; null for a small one.
 *
 * @throws Fault rate_limited, service_unavailable
 */
export function reserveBody(exchange: Exchange): Promise<Release> | null {
  const { op, req } = exchange;
  if (op.method === "GET") return null;
  const bytes = Math.min(bytesOf(op, req.headers), maxBodyOf(op));
  if (bytes <= SMALL_BYTES) return null;
  const share = requestShare(exchange);
  // Do not read a body that would be refused afterwards.
  if (bytes > LARGE_BYTES && !op.byReference) requireBudget(share);
  return memory.acquire(share, bytes);
}

/** Returns how much of a body will be in memory: large fields that go to blobs are not. */
function bytesOf(op: Operation, headers: Exchange["req"]["headers"]): number {
  const most = op.byReference ? DEFAULT_MAX_BODY : Number.POSITIVE_INFINITY;
  const declared = headers["content-length"];
  if (declared !== undefined) return Math.min(Number(declared), most);
  return headers["transfer-encoding"] === undefined ? 0 : most;
}
