import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { callerId } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { type Text, toToolResult } from "./results.ts";
import { invalid, refused, type Session } from "./session.ts";
import type { OperationTool } from "./tools.ts";

/** The extension of revision 2026-07-28 (SEP-2663). */
export const TASKS = "io.modelcontextprotocol/tasks";

type Row = Record<string, unknown>;

/** What a tool leaves to be finished after its answer. A task has no state of its own: it is read from the row. */
interface Unfinished {
  noun: string;
  /** Fields of the tool's answer that identify the row; the last one is the row's own. */
  ids: readonly string[];
  /** The action that reads the row by these. */
  read: string;
  /** Returns the row from a list. */
  select?(answer: Row, id: string): Row | undefined;
  working: readonly unknown[];
  /** The action that cancels it, and its status then. */
  cancel?: { action: string; status: string };
  /** Returns the row in the form of the tool's answer, if that is another. */
  present?(row: Row): Row;
}

const UNFINISHED = new Map(
  Object.entries<Unfinished>({
    documents_upload: {
      noun: "Document",
      ids: ["document_id"],
      read: "documents.get",
      working: ["queued", "chunking", "embedding"],
      present: ({ document_id, status, error }) => ({
        ...{ accepted: true, document_id, status },
        error: error ?? undefined,
      }),
    },
    approvals_ask: {
      noun: "Approval",
      ids: ["id"],
      read: "approvals.get",
      working: ["open"],
      cancel: { action: "approvals.cancel", status: "canceled" },
    },
    runs_offer_handoff: {
      noun: "Handoff offer",
      ids: ["run_id", "id"],
      read: "runs.list_offers",
      select: ({ offers }, id) => (offers as Row[]).find((each) => each.id === id),
      working: ["open"],
    },
  }),
);

/** The states of a task that its rows can have (SEP-2663: Task Status). */
interface Task extends Row {
  taskId: string;
  status: "working" | "completed" | "cancelled";
  result?: CallToolResult;
}

const CREATED = [201, 202];
const MAC_BYTES = 16;
/** Shortest and longest interval between two looks, in milliseconds: a tenth of the age. */
const POLL_MS = { least: 1000, most: 30_000 };

/** What a request says of its client. */
type Envelope = ServerContext["mcpReq"]["envelope"];

/** Whether the client of a request knows tasks. */
export function knowsTasks(envelope: Envelope): boolean {
  const { extensions } =
    (envelope as Record<string, ClientCapabilities>)?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  return Boolean(extensions?.[TASKS]);
}

/** @throws ProtocolError -32021 if the client of a request does not know tasks */
export function requireTasks(envelope: Envelope): void {
  if (knowsTasks(envelope)) return;
  const requiredCapabilities = { extensions: { [TASKS]: {} } };
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

/** Adds the methods of the extension to the server of one message. */
export function serveTasks(server: Server, session: Session): void {
  const serve = (method: string, answer: (task: Task) => Row | Promise<Row>) =>
    server.setRequestHandler(method, { params: ANY_PARAMS }, async (params, { mcpReq }) => {
      requireTasks(mcpReq.envelope);
      return answer(await findTask(session, String((params as { taskId?: unknown }).taskId)));
    });
  serve("tasks/get", (task) => task);
  // No task asks its client for anything.
  serve("tasks/update", () => ({}));
  serve("tasks/cancel", (task) => cancel(session, task));
}

/** Whatever is no task's id is refused like that of an unknown task. */
const ANY_PARAMS = {
  "~standard": {
    version: 1 as const,
    vendor: "sensorium",
    validate: (value: unknown) => ({ value }),
  },
};

/**
 * Returns a task instead of the answer of a tool that has begun something; if that is done already, its result. Null if
 * the answer itself is the result.
 */
export async function toTask(
  session: Session,
  { tool }: OperationTool,
  answer: Text,
): Promise<CallToolResult | null> {
  const unfinished = UNFINISHED.get(tool.name);
  if (!unfinished || !CREATED.includes(answer.status) || !session.mayAsk(unfinished.read)) return null;
  const row = JSON.parse(answer.text);
  const named = [tool.name, ...unfinished.ids.map((name) => row[name])].join(".");
  const taskId = `${named}.${session.offer.secrets.digest(MAC_BYTES, "mcp task", ofCaller(session, named))}`;
  // What has begun must not be lost because it cannot be read now.
  const task = await findTask(session, taskId).catch(() => null);
  // The library wants `content` in every result of a tool.
  return task && (task.result ?? { resultType: "task", content: [], ...task });
}

/** A task's id holds for its caller alone. */
function ofCaller({ caller }: Session, named: string): string {
  return `${caller.tenant_id} ${callerId(caller)} ${named}`;
}

/** @throws ProtocolError for an id that is malformed or another caller's, or whose row is gone: the same for each */
async function findTask(session: Session, taskId: string): Promise<Task> {
  const { unfinished, tool, ids } = parse(session, taskId);
  const answer = await session.ask(session.operation(unfinished.read) as Operation, ids);
  if (answer.status === 404) throw notFound();
  if (answer.status >= 400) throw refused(answer);
  const read = JSON.parse(answer.text);
  const id = Object.values(ids).at(-1) as string;
  const row: Row | undefined = unfinished.select ? unfinished.select(read, id) : read;
  if (!row) throw notFound();
  const { created_at, settled_at, ingested_at, decided_at, error } = row;
  const status = unfinished.working.includes(row.status)
    ? "working"
    : row.status === unfinished.cancel?.status
      ? "cancelled"
      : "completed";
  const shown = { status: error ? 422 : 200, type: "application/json" };
  const text = () => JSON.stringify(unfinished.present?.(row) ?? row);
  return {
    taskId,
    status,
    statusMessage: `${unfinished.noun} ${id}: ${row.status}.`,
    createdAt: created_at,
    lastUpdatedAt: settled_at ?? ingested_at ?? decided_at ?? created_at,
    ttlMs: null,
    pollIntervalMs: pollInterval(created_at as string),
    ...(status === "completed" && { result: toToolResult({ ...shown, text: text() }, tool.kept) }),
  };
}

function parse(session: Session, taskId: string) {
  const [, named = "", mac = ""] = /^(.*)\.([^.]*)$/.exec(taskId) ?? [];
  const [name = "", ...values] = named.split(".");
  const unfinished = UNFINISHED.get(name);
  const tool = session.offer.callable.get(name);
  const isOwn = session.offer.secrets.isDigest(mac, MAC_BYTES, "mcp task", ofCaller(session, named));
  if (!isOwn || !unfinished || !tool) throw notFound();
  const ids = Object.fromEntries(unfinished.ids.map((field, n) => [field, values[n]]));
  return { unfinished, tool, ids };
}

const notFound = () => invalid("Task not found.");

function pollInterval(created_at: string): number {
  const age = Date.now() - Date.parse(created_at);
  return Math.round(Math.min(POLL_MS.most, Math.max(POLL_MS.least, age / 10)));
}

/** Cancels what can be cancelled, and acknowledges in any case: a client must not rely on it (SEP-2663). */
async function cancel(session: Session, { taskId, status }: Task): Promise<Row> {
  const { unfinished, ids } = parse(session, taskId);
  if (status !== "working" || !unfinished.cancel) return {};
  const answer = await session.ask(session.operation(unfinished.cancel.action) as Operation, ids);
  // It has ended meanwhile.
  if (answer.status >= 400 && answer.status !== 409) throw refused(answer);
  return {};
}
