import type { Operation } from "../../../../lib/contract/contract.ts";
import { oncePer } from "../../../../lib/once-per.ts";
import { blobPlace } from "../answer/from-blob.ts";
import { JSON_TYPE } from "../answer/respond.ts";
import type { Answer, Exchange } from "../exchange.ts";

/** `onAfterCall`: builds the answer from an action's result. */
export function afterCall({ op, ctx }: Pick<Exchange, "op" | "ctx">, result: unknown): Answer {
  const status = ctx.meta.$statusCode ?? usualStatus(op);
  const headers = ctx.meta.$responseHeaders;
  const type = ctx.meta.$responseType ?? op.produces?.[0] ?? JSON_TYPE;
  const answer: Answer = op.fromBlob
    ? { status, type, ...blobPlace(op.fromBlob, result) }
    : { status, type, body: status === 204 ? null : encode(result, type) };
  if (headers) answer.headers = headers;
  return answer;
}

/** Statuses are integer keys, which are always in ascending order. */
const usualStatus = oncePer(({ results }: Operation) =>
  Number(Object.keys(results).findLast((each) => each < "300")),
);

function encode(result: unknown, type: string): string | Buffer {
  if (Buffer.isBuffer(result)) return result;
  return typeof result === "string" && type !== JSON_TYPE ? result : JSON.stringify(result);
}
