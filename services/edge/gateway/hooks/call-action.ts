import { isRefusedInBand } from "../access/access.ts";
import { idempotencyKey, once } from "../answer/idempotency.ts";
import { type Answer, JSON_TYPE } from "../answer/respond.ts";
import { discardBody, maxBodyOf } from "../body/body.ts";
import { reserveBody } from "../body/body-memory.ts";
import { readParams } from "../body/params.ts";
import { callInPieces } from "../body/pieces.ts";
import type { Edge } from "../edge.ts";
import type { Exchange } from "../exchange.ts";
import { requestShare } from "../limits/share.ts";
import { requireQuota } from "../limits/space.ts";
import { whileWanted } from "../streams/wait.ts";
import { afterCall } from "./after-call.ts";

/**
 * Replaces moleculer-web's `callAction`: reads the body only now, executes a request once for its Idempotency-Key, and
 * calls the action by name, so that calls with an affinity key reach the node that owns it.
 */
export function callAction(edge: Edge, exchange: Exchange): Promise<Answer> {
  return inPlace(edge, exchange, () => edge.failures.count(exchange, () => carryOut(edge, exchange)));
}

/** Holds a slot among this node's writes or streams, and memory for the body, while a task runs. */
export async function inPlace<T>({ overload }: Edge, exchange: Exchange, task: () => Promise<T>): Promise<T> {
  const leave = overload.enter(exchange.op, requestShare(exchange));
  try {
    const reserved = reserveBody(exchange);
    if (reserved) exchange.releaseBody = await reserved;
    return await task();
  } finally {
    leave?.();
    exchange.releaseBody?.();
  }
}

/** Returns the answer to an admitted caller. */
export async function carryOut(edge: Edge, exchange: Exchange): Promise<Answer> {
  const { op, caller } = exchange;
  if (caller && isRefusedInBand(op, caller)) return refuseInBand(exchange);
  const key = idempotencyKey(exchange);
  if (key === null) return answerTo(edge, exchange);
  return once(exchange, key, edge.runtime, () => answerTo(edge, exchange));
}

async function answerTo(edge: Edge, exchange: Exchange): Promise<Answer> {
  const { runtime, parts, broker } = edge;
  const { ctx, op } = exchange;
  const space = requireQuota(exchange, runtime.usage);
  if (space) await space;
  const params = await readParams(exchange, parts.bodyReaders, runtime.blobs);
  if (exchange.pieces) return afterCall(exchange, await callInPieces(exchange, exchange.pieces));
  const call = () => ctx.call(op.action, params);
  return afterCall(
    exchange,
    op.waits ? await whileWanted(broker, exchange, edge.linkOf(exchange), call) : await call(),
  );
}

/** Answers a caller without the scope as the operation defines, with 200. */
function refuseInBand({ req, res, op }: Exchange): Answer {
  discardBody(req, res, maxBodyOf(op));
  return { status: 200, type: JSON_TYPE, body: JSON.stringify(op.scopeRefusal) };
}
