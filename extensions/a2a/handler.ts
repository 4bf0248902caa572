import {
  AgentCard,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  Message,
  TaskState as ProtocolState,
  type SendMessageConfiguration,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
  taskStateToJSON,
} from "@a2a-js/sdk";
import {
  ExtendedAgentCardNotConfiguredError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { isFault } from "../../lib/contract/faults.ts";
import type { CallersTasks } from "./callers-tasks.ts";
import { type Known, toKnown } from "./follow.ts";
import type { TaskState } from "./tasks/a2a-tasks.contract.ts";
import type { TaskPage } from "./tasks/a2a-tasks.ts";
import {
  isFinal,
  isPaused,
  type MessageJson,
  type PushConfigJson,
  type TaskJson,
  type Versioned,
} from "./tasks/task.ts";

/** The expected parts of a message. */
export const PARTS = "expected one or more, each with one of text, data, url and raw.";
const PAGE = 50;
const MAX_PAGE = 100;

type Updates = AsyncGenerator<StreamResponse, void, undefined>;

/** The rest of a request after its first answer. */
export interface Rest extends Known {
  isLast: (state: TaskState) => boolean;
  historyLength: number | undefined;
}

/** Answers the methods of A2A from the record. It keeps no state, so that any node can answer. */
export class Handler implements A2ARequestHandler {
  /** Set if the request waits: streams go on with updates of the task, others answer the task itself. */
  rest: Rest | undefined;
  readonly #card: object;
  readonly #tasks: CallersTasks;

  constructor(card: object, tasks: CallersTasks) {
    this.#card = card;
    this.#tasks = tasks;
  }

  async getAgentCard(): Promise<AgentCard> {
    return AgentCard.fromJSON(this.#card);
  }

  /** Waits for the agent unless told not to. */
  async sendMessage({ message, configuration }: SendMessageRequest): Promise<Task> {
    const historyLength = requireLength(configuration);
    const sent = await this.#send(message, configuration);
    const waits = !configuration?.returnImmediately && !isPaused(sent.task.status.state);
    if (waits) this.rest = { ...toKnown(sent), isLast: isPaused, historyLength };
    return shown(sent.task, historyLength);
  }

  async *sendMessageStream({ message, configuration }: SendMessageRequest): Updates {
    const historyLength = requireLength(configuration);
    const sent = await this.#send(message, configuration);
    this.rest = { ...toKnown(sent), isLast: isPaused, historyLength };
    yield { payload: { $case: "task", value: shown(sent.task, historyLength) } };
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): Updates {
    const task = await translated(this.#read(id), id);
    const { state } = task.task.status;
    if (isFinal(state)) throw new UnsupportedOperationError(`The task ${id} is final: ${state}.`);
    this.rest = { ...toKnown(task), isLast: isFinal, historyLength: undefined };
    yield { payload: { $case: "task", value: shown(task.task) } };
  }

  async getTask({ id, ...asked }: GetTaskRequest): Promise<Task> {
    const historyLength = requireLength(asked);
    const { task } = await translated(this.#read(id), id);
    return shown(task, historyLength);
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    const final = (message: string) => new TaskNotCancelableError(message);
    const { task } = await translated(this.#tasks.write<Versioned>("cancel", { task_id: id }), id, final);
    return shown(task);
  }

  async listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    const { pageSize = PAGE, includeArtifacts } = request;
    const historyLength = requireLength(request);
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE) {
      throw new RequestMalformedError(`pageSize: expected 1 to ${MAX_PAGE}.`);
    }
    const { tasks, next, total } = await translated(
      this.#tasks.read<TaskPage>("list", {
        limit: pageSize,
        ...(request.contextId && { context_id: request.contextId }),
        ...(request.status && { state: toState(request.status) }),
        ...(request.statusTimestampAfter && { since: parseTime(request.statusTimestampAfter) }),
        ...(request.pageToken && { cursor: request.pageToken }),
      }),
    );
    return {
      tasks: tasks.map((task) => shown(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength)),
      ...{ nextPageToken: next ?? "", pageSize, totalSize: total },
    };
  }

  async getAuthenticatedExtendedAgentCard(): Promise<never> {
    throw new ExtendedAgentCardNotConfiguredError();
  }
  async createTaskPushNotificationConfig(config: TaskPushNotificationConfig) {
    const created = this.#tasks.write<PushConfigJson>("create_push", { config: pushOf(config) });
    return configOf(await translated(created, config.taskId));
  }

  async getTaskPushNotificationConfig({ taskId, id }: GetTaskPushNotificationConfigRequest) {
    const config = this.#tasks.read<PushConfigJson>("get_push", { task_id: taskId, config_id: id });
    return configOf(await translated(config, taskId));
  }

  async listTaskPushNotificationConfigs({ taskId }: ListTaskPushNotificationConfigsRequest) {
    const rows = this.#tasks.read<PushConfigJson[]>("list_push", { task_id: taskId });
    const configs = await translated(rows, taskId);
    return { configs: configs.map(configOf), nextPageToken: "" };
  }

  async deleteTaskPushNotificationConfig({ taskId, id }: DeleteTaskPushNotificationConfigRequest) {
    const named = { task_id: taskId, config_id: id };
    await translated(this.#tasks.write("delete_push", named, "DELETE"), taskId);
  }

  #send(message: Message | undefined, configuration: SendMessageConfiguration | undefined) {
    const push = configuration?.taskPushNotificationConfig;
    const { taskId: _, ...given } = push ? pushOf(push) : { taskId: "" };
    const params = { message: toMessage(message), push: push && given };
    return translated(this.#tasks.write<Versioned>("send", params), message?.taskId);
  }

  #read(task_id: string): Promise<Versioned> {
    return this.#tasks.read("read", { task_id });
  }
}

/** Returns a task with its last messages, all without a limit. */
export function shown(task: TaskJson, historyLength?: number): Task {
  if (historyLength === undefined) return Task.fromJSON(task);
  return Task.fromJSON({ ...task, history: historyLength > 0 ? task.history.slice(-historyLength) : [] });
}

/** @throws RequestMalformedError for what the library only converts to a number */
function requireLength({ historyLength }: { historyLength?: number } = {}): number | undefined {
  if (historyLength === undefined || (Number.isInteger(historyLength) && historyLength >= 0))
    return historyLength;
  throw new RequestMalformedError(
    `historyLength: expected a whole number of messages, 0 or more (got ${historyLength}).`,
  );
}

const pushOf = (config: TaskPushNotificationConfig) =>
  TaskPushNotificationConfig.toJSON(config) as PushConfigJson;
const configOf = (config: PushConfigJson) => TaskPushNotificationConfig.fromJSON(config);

function toMessage(message: Message | undefined): MessageJson {
  if (!message?.messageId || message.messageId.length > 200) {
    throw new RequestMalformedError("message.messageId: expected 1 to 200 characters.");
  }
  if (message.parts.length === 0 || message.parts.some(({ content }) => !content)) {
    throw new RequestMalformedError(`message.parts: ${PARTS}`);
  }
  if (message.contextId.length > 200) {
    throw new RequestMalformedError("message.contextId: expected at most 200 characters.");
  }
  return { ...(Message.toJSON(message) as MessageJson), role: "ROLE_USER" };
}

function toState(status: ProtocolState): TaskState {
  if (status === ProtocolState.UNRECOGNIZED) {
    throw new RequestMalformedError("status: expected a state such as TASK_STATE_WORKING.");
  }
  return taskStateToJSON(status) as TaskState;
}

function parseTime(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new RequestMalformedError("statusTimestampAfter: expected a time in RFC 3339.");
  return ms;
}

/**
 * Waits for a call, and converts its faults that A2A names.
 *
 * @param final builds the error for a task that is final
 */
async function translated<T>(
  call: Promise<T>,
  task_id = "",
  final = (message: string): Error => new UnsupportedOperationError(message),
): Promise<T> {
  try {
    return await call;
  } catch (err) {
    if (!isFault(err)) throw err;
    const { resource_type, field } = err.data as { resource_type?: string; field?: string };
    if (resource_type === "push_notification_config") throw new TaskNotFoundError(err.message);
    if (err.type === "not_found") throw new TaskNotFoundError(`There is no task ${task_id} of yours.`);
    if (err.type === "conflict") throw final(err.message);
    if (["validation_failed", "validation_error", "payload_too_large"].includes(err.type)) {
      // Only the service's own operations call it a cursor.
      const message = "pageToken: expected the nextPageToken of the previous page.";
      throw new RequestMalformedError(field === "cursor" ? message : err.message);
    }
    throw err;
  }
}
