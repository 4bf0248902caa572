import type { ServerResponse } from "node:http";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from "@a2a-js/sdk/server";
import type { Runtime } from "../../runtime.ts";
import { beginEvents, sendComments, write } from "../gateway/streams/sse.ts";
import type { CallersTasks } from "./callers-tasks.ts";
import type { Waiting } from "./follow.ts";
import { Handler, PARTS } from "./handler.ts";

interface Request {
  message: unknown;
  /** The header `A2A-Version`. */
  version: string | undefined;
}

interface Serving {
  card: object;
  tasks: CallersTasks;
  waiting: Waiting;
}

type Log = Runtime["log"];

/** Answers one JSON-RPC request, by JSON or server-sent events. */
export async function answer(
  res: ServerResponse,
  { message, version }: Request,
  { card, tasks, waiting }: Serving,
  log: Log,
): Promise<void> {
  const handler = new Handler(card, tasks, waiting);
  const failed = (err: unknown) => failure(message, err);
  try {
    const context = new ServerCallContext(version ? { requestedVersion: version } : {});
    validateVersion(context.requestedVersion, await handler.getAgentCard(), "JSONRPC");
    requireObjects(message);
    const result = await new JsonRpcTransportHandler(handler).handle(
      message as Record<string, unknown>,
      context,
    );
    if (Symbol.asyncIterator in result) await stream(res, result, waiting.ended, failed);
    else sendJson(res, result);
  } catch (err) {
    log.debug({ err }, "an A2A request was rejected");
    sendJson(res, failed(err));
  }
}

/** The library takes parts for objects. */
function requireObjects(request: unknown): void {
  const { params } = (request ?? {}) as { params?: { message?: { parts?: unknown } } };
  const parts = params?.message?.parts;
  if (!Array.isArray(parts) || parts.every((part) => typeof part === "object" && part !== null)) return;
  throw new RequestMalformedError(`message.parts: ${PARTS}`);
}

/** A stream that fails before its first event is answered by JSON. */
async function stream(
  res: ServerResponse,
  results: AsyncGenerator<object, void, undefined>,
  ended: AbortSignal,
  failed: (err: unknown) => object,
): Promise<void> {
  const first = await results.next();
  if (first.done) return sendJson(res, failed(new Error("nothing to stream")));
  beginEvents(res);
  sendComments(res, ended);
  await write(res, eventOf(first.value), ended);
  try {
    for await (const result of results) await write(res, eventOf(result), ended);
  } catch (err) {
    await write(res, eventOf(failed(err)), ended);
  } finally {
    res.end();
  }
}

const eventOf = (result: object) => `data: ${JSON.stringify(result)}\n\n`;

function failure(message: unknown, err: unknown) {
  const id = (message as { id?: string | number } | null)?.id ?? null;
  return { jsonrpc: "2.0", id, error: JsonRpcTransportHandler.mapToJSONRPCError(err) };
}

function sendJson(res: ServerResponse, body: object): void {
  if (res.destroyed) return;
  res.setHeader("Content-Type", "application/json");
  res.setHeader("Cache-Control", "no-store");
  res.end(JSON.stringify(body));
}
