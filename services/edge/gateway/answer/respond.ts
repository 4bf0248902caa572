import type { ServerResponse } from "node:http";
import { isUnreached } from "../../../../lib/broker/between-nodes.ts";
import type { BlobReference, Operation } from "../../../../lib/contract/contract.ts";
import { FAULTS, Fault, isFault, unavailable } from "../../../../lib/contract/faults.ts";
import { oncePer } from "../../../../lib/once-per.ts";
import { isStoreLost } from "../../../../storage/store-lost.ts";
import { type CredentialSource, challengeOf } from "../access/challenge.ts";
import type { Allowance, Answer, HttpExchange } from "../http-exchange.ts";
import type { Output } from "./output.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** The gateway's data of a request besides its answer. */
export interface Envelope {
  request_id: string;
  allowance: Allowance | null;
  /** Closes the connection after this answer: the node is shutting down. */
  last: boolean;
}

/** `onAfterCall`: builds the answer from an action's result. */
export function afterCall({ op, ctx }: Pick<HttpExchange, "op" | "ctx">, result: unknown): Answer {
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

/** Builds an answer with the position of its blob's content. The field is a text or null without a blob. */
function blobPlace(
  from: NonNullable<Operation["fromBlob"]>,
  result: unknown,
): Pick<Answer, "body" | "insert"> {
  if (from === "answer") return { body: "", insert: { ...(result as BlobReference), at: 0, escaped: false } };
  const { [from.field]: blob, ...rest } = result as Record<string, BlobReference | string | null>;
  if (typeof blob === "string" || !blob) return { body: JSON.stringify(result) };
  // The last field, so that its position is known without a search.
  const body = JSON.stringify({ ...rest, [from.field]: "" });
  return { body, insert: { ...blob, at: body.length - '"}'.length, escaped: true } };
}

export function send(res: ServerResponse, answer: Answer, envelope: Envelope): void {
  if (res.headersSent || res.destroyed) return;
  const { status, body } = answer;
  begin(res, answer, envelope, status === 204 ? null : sizeOf(body));
  res.end(body ?? undefined);
}

/**
 * Sends an answer as the connection takes it.
 * @throws Fault rate_limited, service_unavailable while the caller has too many answers that are not read
 */
export async function sendLong(
  res: ServerResponse,
  answer: Answer,
  envelope: Envelope,
  output: Output,
): Promise<void> {
  const { body } = answer;
  const size = sizeOf(body);
  await output.charge(size - output.held);
  if (res.headersSent || res.destroyed) return;
  begin(res, answer, envelope, size);
  // The answer to HEAD has no body, whatever its length.
  if (body !== null && res.req.method !== "HEAD") await output.write(body);
  output.end();
}

/** Sends status and headers. @param size of the body in bytes; null without one, or if unknown */
export function begin(res: ServerResponse, answer: Answer, envelope: Envelope, size: number | null): void {
  const { status, body, type } = answer;
  const headers = edgeHeaders(envelope);
  // Answers are private to a caller, and some contain a secret.
  if (!answer.headers?.["Cache-Control"]) headers.push("Cache-Control", "no-store");
  if (answer.headers) {
    for (const [name, value] of Object.entries(answer.headers))
      for (const each of [value].flat()) headers.push(name, each);
  }
  if (body !== null) headers.push("Content-Type", type);
  if (size !== null) headers.push("Content-Length", String(size));
  if (envelope.last) headers.push("Connection", "close");
  // One flat list, written as it is: half the cost of setting headers one by one.
  res.writeHead(status, headers);
}

/** Returns the headers of every answer and stream: alternating names and values (api.md "Everywhere"). */
export function edgeHeaders({ request_id, allowance }: Envelope): string[] {
  const headers = ["X-Request-Id", request_id];
  if (allowance) {
    headers.push("X-RateLimit-Limit", String(allowance.limit));
    headers.push("X-RateLimit-Remaining", String(allowance.remaining));
    headers.push("X-RateLimit-Reset", String(Math.ceil(allowance.resets_at / 1000)));
  }
  return headers;
}

export function sizeOf(body: string | Buffer | null): number {
  if (body === null) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}

/**
 * Builds the error envelope (spec: Errors). Errors outside the catalogue become internal errors without details.
 * @param source the credential of the request, if the operation reads it
 */
export function errorAnswer(err: unknown, request_id: string, source?: CredentialSource): Answer {
  const fault = toFault(err);
  const { status } = FAULTS[fault.type as keyof typeof FAULTS];
  const details = (fault.data ?? {}) as Record<string, unknown>;
  const headers: Record<string, string> = {};
  if (typeof details.retry_after_seconds === "number") {
    headers["Retry-After"] = String(details.retry_after_seconds);
  }
  if (Array.isArray(details.allow)) headers.Allow = details.allow.join(", ");
  const challenge = challengeOf(fault, source);
  if (challenge) headers["WWW-Authenticate"] = challenge;
  const error = { code: fault.type, message: fault.message, request_id, details };
  return { status, type: JSON_TYPE, body: JSON.stringify({ error }, wholeCharacters), headers };
}

/** Quotes of a request may be cut within a character, and not every client can read half of one. */
function wholeCharacters(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

interface MoleculerLike {
  type?: string;
  name?: string;
  data?: unknown;
}

/** Converts any error to the fault shown to the caller: translates Moleculer's own and hides unknown ones. */
export function toFault(err: unknown): Fault {
  if (isFault(err)) return err;
  const { type, name = "", data } = (err ?? {}) as MoleculerLike;
  if (type === "VALIDATION_ERROR" && Array.isArray(data)) {
    const [first] = data as {
      message: string;
      type: "validation_failed";
      details: Record<string, unknown>;
    }[];
    if (first) return new Fault(first.type, first.message, first.details);
  }
  if (isUnreached(err)) return unreached(data);
  if (name === "QueueIsFullError") return unavailable("The service is busy. Retry in 1 s.");
  if (isStoreLost(err))
    return unavailable("The database cannot be reached or written to right now. Retry in 1 s.");
  return new Fault(
    "internal_error",
    "The service failed unexpectedly. Retry with the same Idempotency-Key; if it fails again, report the request_id.",
  );
}

/** @param data of Moleculer's errors for a call that no node has answered */
function unreached(data: unknown): Fault {
  const { action } = (data ?? {}) as { action?: string };
  const service = action?.split(".")[0];
  if (!service) return unavailable("The service is not ready. Retry in 1 s.");
  const message = `The service ${service} cannot be reached: no node runs it, or the node does not answer. Retry in 1 s.`;
  return unavailable(message, 1, { service });
}
