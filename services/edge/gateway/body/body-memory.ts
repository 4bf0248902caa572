import type { Operation } from "../../../../lib/contract/contract.ts";
import type { Release } from "../../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../../observability/resources.ts";
import type { Exchange } from "../exchange.ts";
import { requestShare } from "../limits/share.ts";
import { DEFAULT_MAX_BODY, maxBodyOf } from "./body.ts";
import { requireBudget } from "./json-bodies.ts";

const MB = 1_048_576;
/** Bodies of fewer bytes are not counted. */
const SMALL_BYTES = 32_768;
/** Bodies of more bytes are heavy whatever they hold. */
const LARGE_BYTES = MB / 2;
/** Bytes of bodies in memory at once: parsed, a body takes several times as much. */
const CAPACITY = 64 * MB;

const memory = resourceQueue("body_memory", {
  capacity: CAPACITY,
  perTenant: CAPACITY / 2,
  maxWaiting: 8 * CAPACITY,
  maxWaitingPerCaller: 2 * CAPACITY,
  patienceMs: 10_000,
});

/**
 * Waits for memory for the body of a request, which is not read until then; null for a small one.
 *
 * @throws Fault rate_limited, service_unavailable
 */
export function reserveBody(exchange: Exchange): Promise<Release> | null {
  const { op, req } = exchange;
  if (op.method === "GET") return null;
  const bytes = Math.min(bytesOf(op, req.headers), maxBodyOf(op));
  if (bytes <= SMALL_BYTES) return null;
  const share = requestShare(exchange);
  // What would be refused once it is read is not read.
  if (bytes > LARGE_BYTES && !op.byReference) requireBudget(share);
  return memory.acquire(share, bytes);
}

/** What a body will hold in memory: of one whose large fields go to blobs, only the rest. */
function bytesOf(op: Operation, headers: Exchange["req"]["headers"]): number {
  const most = op.byReference ? DEFAULT_MAX_BODY : Number.POSITIVE_INFINITY;
  const declared = headers["content-length"];
  if (declared !== undefined) return Math.min(Number(declared), most);
  return headers["transfer-encoding"] === undefined ? 0 : most;
}
