import {
  AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  Message,
  type SendMessageConfiguration,
  type SendMessageRequest,
  StreamResponse,
  type SubscribeToTaskRequest,
  Task,
  taskStateToJSON,
} from "@a2a-js/sdk";
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { TaskState } from "../../work/a2a/a2a-tasks.contract.ts";
import { isFinal, type MessageJson, type TaskJson } from "../../work/a2a/task.ts";
import type { CallersTasks } from "./callers-tasks.ts";
import { translated } from "./errors.ts";
import { follow, updatesBetween, type Waiting } from "./follow.ts";

const PAGE = 50;
const MAX_PAGE = 100;

type Updates = AsyncGenerator<StreamResponse, void, undefined>;

/** Answers the methods of A2A from the record. It keeps no state, so that any node can answer. */
export class Handler implements A2ARequestHandler {
  readonly #card: object;
  readonly #tasks: CallersTasks;
  readonly #waiting: Waiting;

  constructor(card: object, tasks: CallersTasks, waiting: Waiting) {
    this.#card = card;
    this.#tasks = tasks;
    this.#waiting = waiting;
  }

  async getAgentCard(): Promise<AgentCard> {
    return AgentCard.fromJSON(this.#card);
  }

  /** Waits for the agent unless told not to. */
  async sendMessage({ message, configuration }: SendMessageRequest): Promise<Task> {
    const sent = await translated(this.#tasks.send(messageOf(message, configuration)));
    let latest = sent.task;
    if (!configuration?.returnImmediately) {
      for await (const task of follow(this.#tasks, sent, this.#waiting)) latest = task;
    }
    return shown(latest, configuration?.historyLength);
  }

  async *sendMessageStream({ message, configuration }: SendMessageRequest): Updates {
    const sent = await translated(this.#tasks.send(messageOf(message, configuration)));
    yield* this.#updates(sent, configuration?.historyLength);
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): Updates {
    const found = await translated(this.#tasks.read(id), id);
    const { state } = found.task.status;
    if (isFinal(state)) throw new UnsupportedOperationError(`The task ${id} is final: ${state}.`);
    yield* this.#updates(found);
  }

  async getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    const { task } = await translated(this.#tasks.read(id), id);
    return shown(task, historyLength);
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    const final = (message: string) => new TaskNotCancelableError(message);
    const { task } = await translated(this.#tasks.cancel(id), id, final);
    return shown(task);
  }

  async listTasks(asked: ListTasksRequest): Promise<ListTasksResponse> {
    const { pageSize = PAGE, historyLength, includeArtifacts } = asked;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE) {
      throw new RequestMalformedError(`pageSize: expected 1 to ${MAX_PAGE}.`);
    }
    const { tasks, next, total } = await translated(
      this.#tasks.list({
        limit: pageSize,
        ...(asked.contextId && { context_id: asked.contextId }),
        ...(asked.status && { state: taskStateToJSON(asked.status) as TaskState }),
        ...(asked.statusTimestampAfter && { since: timeOf(asked.statusTimestampAfter) }),
        ...(asked.pageToken && { cursor: asked.pageToken }),
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
  async createTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }
  async getTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }
  async listTaskPushNotificationConfigs(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }
  async deleteTaskPushNotificationConfig(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  async *#updates(first: { task: TaskJson; version: number }, historyLength?: number): Updates {
    yield { payload: { $case: "task", value: shown(first.task, historyLength) } };
    let before = first.task;
    for await (const task of follow(this.#tasks, first, this.#waiting)) {
      for (const update of updatesBetween(before, task)) yield StreamResponse.fromJSON(update);
      before = task;
    }
  }
}

/** Returns a task with its last messages, all without a limit. */
function shown(task: TaskJson, historyLength?: number): Task {
  if (historyLength === undefined) return Task.fromJSON(task);
  return Task.fromJSON({ ...task, history: historyLength > 0 ? task.history.slice(-historyLength) : [] });
}

function messageOf(
  message: Message | undefined,
  configuration: SendMessageConfiguration | undefined,
): MessageJson {
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
  if (!message?.messageId || message.messageId.length > 200) {
    throw new RequestMalformedError("message.messageId: expected 1 to 200 characters.");
  }
  if (message.parts.length === 0) throw new RequestMalformedError("message.parts: expected at least one.");
  if (message.contextId.length > 200) {
    throw new RequestMalformedError("message.contextId: expected at most 200 characters.");
  }
  return { ...(Message.toJSON(message) as MessageJson), role: "ROLE_USER" };
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new RequestMalformedError("statusTimestampAfter: expected a time in RFC 3339.");
  return ms;
}
