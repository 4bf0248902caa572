import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { Fault } from "../../../lib/contract/faults.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { type Output, SMALL_BYTES } from "../gateway/answer/output.ts";
import { errorAnswer, sizeOf } from "../gateway/answer/respond.ts";
import type { Answer, HttpExchange, Perform } from "../gateway/http-exchange.ts";
import { type Arguments, toRequest } from "./request.ts";
import type { Kind } from "./resources.ts";
import { type Text, whole } from "./results.ts";
import { type Choice, isOffered } from "./tools.ts";

/** The offer of this installation by MCP. */
export interface Offer extends Choice {
  operations: readonly Operation[];
  kinds: readonly Kind[];
  blobs: Blobs;
  version: string;
}

/** Executes an operation for the caller. @throws ProtocolError if it is refused */
export type AskFor = (action: string, given: Arguments) => Promise<Text>;

/** A tool's result has an answer as text and as a value, which is shortened, copied and formatted again. */
const COPIES = 8;
/** Reserved for a list before its length is known: a caller's share has room for a few. */
const READ_BYTES = 262_144;

/** One MCP message: its sender, and how to execute operations for it. */
export class Session {
  readonly offer: Offer;
  readonly caller: Caller;
  /** The request's own Idempotency-Key. */
  readonly idempotencyKey: string | undefined;
  readonly #exchange: HttpExchange;
  readonly #perform: Perform;
  readonly #output: Output;

  constructor(offer: Offer, exchange: HttpExchange, perform: Perform, output: Output) {
    this.offer = offer;
    this.caller = exchange.caller as Caller;
    this.idempotencyKey = exchange.req.headers["idempotency-key"] as string | undefined;
    this.#exchange = exchange;
    this.#perform = perform;
    this.#output = output;
  }

  /** Executes an operation the way an HTTP request does. */
  async ask(op: Operation, args: Arguments, key?: string): Promise<Text> {
    const { request_id } = this.#exchange;
    let answer: Answer;
    try {
      // Others wait, or have a short answer.
      if (op.method === "GET" && !op.waits) await this.#output.reserve(READ_BYTES);
      answer = await this.#perform(this.#exchange, toRequest(op, args, key));
      const bytes = answer.insert?.size ?? sizeOf(answer.body);
      // Before a tool's result copies it.
      if (bytes > SMALL_BYTES) await this.#output.charge(bytes * COPIES - this.#output.held);
    } catch (err) {
      answer = errorAnswer(err, request_id);
    }
    return whole(answer, { tenant_id: this.caller.tenant_id, request_id, blobs: this.offer.blobs });
  }

  /** Executes operations by name. */
  readonly askFor: AskFor = async (action, args) => {
    const answer = await this.ask(this.operation(action) as Operation, args);
    if (answer.status >= 400) throw refused(answer);
    return answer;
  };

  /** Whether the operation exists and the caller may use it. */
  mayAsk(action: string): boolean {
    const op = this.operation(action);
    return op !== undefined && isOffered(op, this.caller);
  }

  /** Formats a fault as an operation's answer. */
  faultText(fault: Fault): Text {
    const { status, type, body } = errorAnswer(fault, this.#exchange.request_id);
    return { status, type, text: String(body) };
  }

  operation(action: string): Operation | undefined {
    return this.offer.operations.find((op) => op.action === action);
  }
}

export function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Converts a fault to a protocol error, where MCP has no place for the service's envelope. */
export function refused({ status, text }: Text): ProtocolError {
  const { error } = JSON.parse(text);
  const code = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, error.message, error);
}
