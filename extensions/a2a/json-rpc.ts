import type { ServerResponse } from "node:http";
import { Task } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from "@a2a-js/sdk/server";
import { oncePerTick } from "../../lib/once-per.ts";
import type { Output } from "../../services/edge/gateway/answer/output.ts";
import { beginEvents, sendComments } from "../../services/edge/gateway/streams/sse.ts";
import type { Runtime } from "../../services/runtime.ts";
import type { CallersTasks } from "./callers-tasks.ts";
import { type Following, follow, type Waiting } from "./follow.ts";
import { Handler, PARTS, type Rest, shown } from "./handler.ts";
import { MAX_TASK, type Versioned } from "./tasks/task.ts";

const MOST_ID = 200;

interface Request {
  /** Emptied once it is read: nothing keeps the message while the answer waits for the agent. */
  params: Record<string, unknown>;
  /** The header `A2A-Version`. */
  version: string | undefined;
}

interface Serving extends Following {
  card: object;
  tasks: CallersTasks;
}

/** Where an answer goes. */
interface To {
  res: ServerResponse;
  output: Output;
  log: Runtime["log"];
}

/** The rest of a request once it was carried out. */
interface Begun {
  /** The id of the request. */
  id: string | number | null;
  rest: Rest;
  isStream: boolean;
}

/** Answers one JSON-RPC request, by JSON or server-sent events. */
export async function answer(to: To, request: Request, serving: Serving): Promise<void> {
  const begun = await begin(to, request, serving);
  if (begun?.isStream) await stream(to, begun, serving);
  else if (begun) await wait(to, begun, serving);
}

/** Carries a request out, and answers it or begins its stream. Returns what is left to do, if anything. */
async function begin(
  to: To,
  { params, version }: Request,
  { card, tasks, waiting }: Serving,
): Promise<Begun | undefined> {
  const { message } = params;
  params.message = undefined;
  const handler = new Handler(card, tasks);
  await to.output.reserve(MAX_TASK);
  let id: Begun["id"] = null;
  try {
    id = readId(message);
    const context = new ServerCallContext(version ? { requestedVersion: version } : {});
    validateVersion(context.requestedVersion, await handler.getAgentCard(), "JSONRPC");
    requireObjects(message);
    const result = await new JsonRpcTransportHandler(handler).handle(
      message as Record<string, unknown>,
      context,
    );
    const isStream = Symbol.asyncIterator in result;
    const first = isStream ? await awaitFirst(result) : result;
    const { rest } = handler;
    if (isStream) await beginStream(to, first, waiting);
    else if (!rest) await sendJson(to, JSON.stringify(first));
    else to.output.release();
    return rest && { id, rest, isStream };
  } catch (err) {
    // A stream that fails before its first event is answered by JSON.
    to.log.debug({ err }, "an A2A request was rejected");
    await sendJson(to, JSON.stringify(failure(id, err)));
    return undefined;
  }
}

/** @throws RequestMalformedError for one that would be too long to be in every answer */
function readId(message: unknown): Begun["id"] {
  const { id = null } = (message ?? {}) as { id?: Begun["id"] };
  if (typeof id === "number" || (typeof id === "string" && id.length <= MOST_ID)) return id;
  // The library refuses other types.
  if (typeof id !== "string") return null;
  throw new RequestMalformedError(`id: expected at most ${MOST_ID} characters.`);
}

/** The library takes parts for objects. */
function requireObjects(request: unknown): void {
  const { params } = (request ?? {}) as { params?: { message?: { parts?: unknown } } };
  const parts = params?.message?.parts;
  if (!Array.isArray(parts) || parts.every((part) => typeof part === "object" && part !== null)) return;
  throw new RequestMalformedError(`message.parts: ${PARTS}`);
}

/** Later updates bypass the library: it would format each for each follower. */
async function awaitFirst(results: AsyncGenerator<object, void, undefined>): Promise<object> {
  const { value } = await results.next();
  await results.return();
  if (!value) throw new Error("nothing to stream");
  return value;
}

async function beginStream({ res, output }: To, first: object, { ended }: Waiting): Promise<void> {
  beginEvents(res);
  sendComments(output, ended);
  await output.write(eventOf(JSON.stringify(first)));
}

async function stream({ output }: To, { id, rest }: Begun, serving: Serving): Promise<void> {
  try {
    for await (const updates of follow(serving, rest, rest.isLast))
      for (const update of updates) await output.write(eventOf(responseOf(id, update)));
  } catch (err) {
    await output.write(eventOf(JSON.stringify(failure(id, err))));
  } finally {
    output.end();
  }
}

/** All who wait for a task share its text. */
const readShown = oncePerTick<string>();

/** Answers the task as it is when the wait is over. */
async function wait(to: To, { id, rest }: Begun, serving: Serving): Promise<void> {
  const { id: task_id, historyLength } = rest;
  try {
    for await (const _ of follow(serving, rest, rest.isLast));
    await to.output.reserve(MAX_TASK);
    const result = await readShown(JSON.stringify([serving.side, task_id, historyLength]), async () => {
      const { task } = await serving.tasks.read<Versioned>("read", { task_id });
      return JSON.stringify({ task: Task.toJSON(shown(task, historyLength)) });
    });
    await sendJson(to, responseOf(id, result));
  } catch (err) {
    await sendJson(to, JSON.stringify(failure(id, err)));
  }
}

/** @param result as JSON */
const responseOf = (id: Begun["id"], result: string) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

const eventOf = (response: string) => `data: ${response}\n\n`;

const failure = (id: Begun["id"], err: unknown) => {
  return { jsonrpc: "2.0", id, error: JsonRpcTransportHandler.mapToJSONRPCError(err) };
};

async function sendJson({ res, output }: To, json: string): Promise<void> {
  if (res.destroyed) return;
  res.setHeader("Content-Type", "application/json");
  res.setHeader("Cache-Control", "no-store");
  await output.write(json);
  output.end();
}
