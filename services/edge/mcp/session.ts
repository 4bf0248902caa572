import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { Fault } from "../../../lib/contract/faults.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { errorAnswer } from "../gateway/answer/respond.ts";
import type { Perform } from "../gateway/exchange.ts";
import { type Arguments, requestOf } from "./request.ts";
import type { Kind } from "./resources.ts";
import { type Text, whole } from "./results.ts";
import { isOffered, type OperationTool } from "./tools.ts";

/** State shared by all servers of a node. */
export interface Offer {
  operations: readonly Operation[];
  kinds: readonly Kind[];
  blobs: Blobs;
  version: string;
}

/** One MCP message: its sender, and how to execute operations for it. */
export interface Session {
  caller: Caller;
  request_id: string;
  perform: Perform;
  tools: ReadonlyMap<string, OperationTool>;
  /** The request's own Idempotency-Key. */
  idempotency_key: string | undefined;
}

/** Executes an operation for the caller. @throws ProtocolError if it is refused */
export type AskFor = (action: string, given: Arguments) => Promise<Text>;

/** Executes an operation the way an HTTP request does. */
export async function ask(
  offer: Offer,
  session: Session,
  op: Operation,
  given: Arguments,
  key?: string,
): Promise<Text> {
  const { caller, request_id, perform } = session;
  const answer = await perform(requestOf(op, given, key));
  return whole(answer, { tenant_id: caller.tenant_id, request_id, blobs: offer.blobs });
}

/** Formats a fault as an operation's answer. */
export function faultText(fault: Fault, { request_id }: Session): Text {
  const { status, type, body } = errorAnswer(fault, request_id);
  return { status, type, text: String(body) };
}

/** Returns a function that executes operations by name. @throws ProtocolError */
export function askFor(offer: Offer, session: Session): AskFor {
  return async (action, given) => {
    const answer = await ask(offer, session, operationOf(offer, action) as Operation, given);
    if (answer.status >= 400) throw refused(answer);
    return answer;
  };
}

function operationOf({ operations }: Offer, action: string): Operation | undefined {
  return operations.find((op) => op.action === action);
}

/** Whether this node has the operation and the caller may use it. */
export function mayAsk(offer: Offer, { caller }: Session, action: string): boolean {
  const op = operationOf(offer, action);
  return op !== undefined && isOffered(op, caller);
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
