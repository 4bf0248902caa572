import { isDeepStrictEqual } from "node:util";
import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import type { AgentCaller } from "../../../lib/access/caller.ts";
import {
  conflict,
  Fault,
  invalidValue,
  notFound,
  quoted,
  requireFound,
} from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { newUuid } from "../../../lib/ids.ts";
import { Actor, Actors } from "../../../mixins/actor.ts";
import { deletion } from "../../../mixins/due.ts";
import { place } from "../../../mixins/queue.ts";
import type { EraseContent } from "../../../services/erasers.ts";
import type { CallOf } from "../../../services/runtime.ts";
import type { Store } from "../../../storage/connection.ts";
import { eraseTexts } from "../../../storage/erase-texts.ts";
import type { Where } from "../../../storage/query.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import type { TaskState } from "./a2a-tasks.contract.ts";
import * as contract from "./a2a-tasks.contract.ts";
import { type A2aTaskDoc, A2aTaskModel } from "./a2a-tasks.model.ts";
import { PushConfigModel } from "./push-configs.model.ts";
import {
  FINAL,
  isFinal,
  MAX_TASK,
  type MessageJson,
  type OfTask,
  type Side,
  type TaskJson,
  type Versioned,
  withMessage,
  withProgress,
} from "./task.ts";

const BUSY = "The task is changed by others all the time. Retry.";
const MAX_MESSAGES = 1000;
const BATCH = 500;

/** The rows of A2A tasks, for both sides: the caller's over the protocol, the agent's by operations. */
export class A2aTasks {
  readonly #rows;
  readonly #configs;
  readonly #now;
  readonly #broker: ServiceBroker;
  readonly #changes = new Actors(() => new Actor());

  constructor(store: Store, broker: ServiceBroker) {
    this.#rows = store.collection(A2aTaskModel);
    this.#configs = store.collection(PushConfigModel);
    this.#now = store.now;
    this.#broker = broker;
  }

  /**
   * Adds a caller's message to a new task or the one that it names, and delivers it to the agent. A repeated message
   * only repeats the delivery, which adds nothing.
   *
   * @param expect called with the task's id before the agent may know of it
   * @throws Fault not_found, conflict if the task is final, validation_error if the message's id was used for another
   *   message, payload_too_large
   */
  async send(
    side: Side,
    message: MessageJson,
    expect?: (task_id: string) => Promise<unknown>,
  ): Promise<Versioned> {
    const row = message.taskId
      ? await this.#continue(side, message.taskId, message)
      : await this.#begin(side, message);
    await expect?.(row._id);
    await announceTask(this.#broker, row, "service.a2a.message", message.messageId);
    return versioned(row);
  }

  /** @throws Fault not_found */
  async read({ task_id, ...side }: OfTask): Promise<Versioned> {
    return versioned(await this.#require({ ...side, _id: task_id }));
  }

  /** Reads a task that has changed since a version; null if it has not. @throws Fault not_found */
  async readNewer({ task_id, version, ...side }: OfTask & { version: number }) {
    const { tenant_id, ...filter } = { ...side, _id: task_id };
    const newer = await this.#rows.findOne(tenant_id, { ...filter, version: { $ne: version } });
    if (newer) return versioned(newer);
    if (!(await this.#rows.exists(tenant_id, filter))) throw notFound("a2a_task", task_id);
    return null;
  }

  /** Returns a page of a caller's tasks, the last changed first. @throws Fault validation_failed for a bad cursor */
  async list({ tenant_id, context_id, since, limit, cursor, ...chosen }: TaskQuery): Promise<TaskPage> {
    const filter = {
      ...chosen,
      ...(context_id && { context_id }),
      ...(since !== undefined && { updated_at: { $gte: new Date(since) } }),
    };
    const order = { by: "updated_at", cursor, limit } as const;
    const [{ page, next_cursor: next }, total] = await Promise.all([
      this.#rows.pageAfter(tenant_id, filter, order),
      this.#rows.count(tenant_id, filter),
    ]);
    return { tasks: page.map(parseTask), next, total };
  }

  /** Cancels a task, and tells the agent. @throws Fault not_found, conflict if it is final */
  async cancel({ task_id, ...side }: OfTask): Promise<Versioned> {
    let canceled = false;
    const row = await this.#change({ ...side, _id: task_id }, (task, at, { state }) => {
      canceled = state === "TASK_STATE_CANCELED";
      if (canceled) return null;
      return { task: { ...task, status: { state: "TASK_STATE_CANCELED", timestamp: at.toISOString() } } };
    });
    // Also when it is repeated: the first request can have ended before this.
    await announceTask(this.#broker, row, "service.a2a.canceled", "canceled");
    if (canceled) requireOpen(row);
    return versioned(row);
  }

  /** Makes all further changes notify the task's webhooks. @throws Fault not_found */
  expectNotifications(key: Key): Promise<A2aTaskDoc> {
    // The new version makes a concurrent change, which does not know of it, try again.
    return guardedWrite(async () => {
      const row = await this.#require(key);
      return row.has_push ? row : this.#write(row, { has_push: true });
    }, BUSY);
  }

  /** Notifies the task's webhooks if it has changed since a version. */
  async announceSince(key: Key, version: number): Promise<void> {
    const { _id, tenant_id, version: current } = await this.#require(key);
    if (current <= version) return;
    const $set = { queue: place(tenant_id, this.#now()) };
    const written = await this.#rows.update(tenant_id, { _id }, { $set });
    if (written) this.#announce(written);
  }

  async get({ params, meta }: CallOf<typeof contract.getA2aTask>) {
    return present(await this.#require(ofAgent(meta.caller as AgentCaller, params.task_id)));
  }

  /** @throws Fault not_found, conflict, payload_too_large */
  async update({ params, meta }: CallOf<typeof contract.updateA2aTask>) {
    const { task_id, ...given } = params;
    const messageId = newUuid(meta.idempotency_seed);
    const key = ofAgent(meta.caller as AgentCaller, task_id);
    return present(
      await this.#change(key, (task, at) => ({ task: withProgress(task, given, messageId, at) })),
    );
  }

  /** Erases, or counts, tasks of an agent (given to it, or by it), about a person, or that mention memories. */
  async erase({ agent_id, ...given }: EraseContent): Promise<{ a2a_tasks: number }> {
    const { tenant_id, dry_run } = given;
    if (agent_id === undefined) {
      const ids = await eraseTexts(this.#rows, ["task_json"], given);
      if (!dry_run) await this.#dropConfigs(tenant_id, ids);
      return { a2a_tasks: ids.length };
    }
    const its: Where<A2aTaskDoc> = { $or: [{ agent_id }, { caller_id: agent_id }] };
    if (dry_run) return { a2a_tasks: await this.#rows.count(tenant_id, its) };
    const rows = await this.#rows.find(tenant_id, its, { projection: { _id: 1 } });
    const ids = rows.map(({ _id }) => _id);
    await this.#dropConfigs(tenant_id, ids);
    return { a2a_tasks: await this.#rows.deleteMany(tenant_id, its) };
  }

  /** Returns the task that deletes tasks that have been final since a time. It returns whether there may be more. */
  newRetention(now: () => number): () => Promise<boolean> {
    const final = { rows: this.#rows, by: "updated_at", where: { state: { $in: [...FINAL] } }, now } as const;
    return deletion(final, async (tenant_id, over) => {
      await this.#dropConfigs(tenant_id, over._id.$in);
      await this.#rows.deleteMany(tenant_id, over);
    });
  }

  async #dropConfigs(tenant_id: string, ids: string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += BATCH)
      await this.#configs.deleteMany(tenant_id, { task_id: { $in: ids.slice(at, at + BATCH) } });
  }

  async #begin(side: Side, message: MessageJson): Promise<A2aTaskDoc> {
    const { tenant_id, agent_id, caller_id } = side;
    const at = new Date(this.#now());
    const _id = newUuid(JSON.stringify(["a2a", tenant_id, agent_id, caller_id, message.messageId]));
    const context_id = message.contextId || newUuid();
    const state = "TASK_STATE_SUBMITTED" as const;
    const status = { state, timestamp: at.toISOString() };
    const empty: TaskJson = { id: _id, contextId: context_id, status, artifacts: [], history: [] };
    const row = await this.#rows.insertOnce({
      ...{ _id, tenant_id, agent_id, caller_id, context_id, state },
      task_json: serialise(withMessage(empty, message, at)),
      ...{ message_ids: [message.messageId], version: 1, created_at: at, updated_at: at },
    });
    requireSame(row, message);
    return row;
  }

  async #continue(side: Side, _id: string, message: MessageJson): Promise<A2aTaskDoc> {
    const row = await this.#require({ ...side, _id });
    if (message.contextId && message.contextId !== row.context_id) {
      const text = `message.contextId: the task belongs to ${row.context_id}. Omit it, or give that one.`;
      throw invalidValue("message.contextId", text);
    }
    return this.#change({ ...side, _id }, (task, at, row) => {
      const { message_ids } = row;
      if (message_ids.includes(message.messageId)) {
        requireSame(row, message);
        return null;
      }
      if (message_ids.length >= MAX_MESSAGES) throw tooLong(`${MAX_MESSAGES} messages`, MAX_MESSAGES);
      return { task: withMessage(task, message, at), message_ids: [...message_ids, message.messageId] };
    });
  }

  /** Changes a task after all earlier changes of it here: they would only make each other try again. */
  #change(key: Key, change: Change): Promise<A2aTaskDoc> {
    return this.#changes.with(key._id, (task) => task.run(() => this.#tryToChange(key, change)));
  }

  /** Writes a change if nobody else did since it was read, else tries again; null changes nothing. */
  #tryToChange(key: Key, change: Change): Promise<A2aTaskDoc> {
    return guardedWrite(async () => {
      const row = await this.#require(key);
      const at = new Date(this.#now());
      const changed = change(parseTask(row), at, row);
      if (!changed) return row;
      requireOpen(row);
      const { task, ...fields } = changed;
      const queue = row.has_push && { queue: place(row.tenant_id, at.getTime()) };
      const written = { state: task.status.state, task_json: serialise(task), updated_at: at };
      return this.#write(row, { ...fields, ...written, ...queue });
    }, BUSY);
  }

  /** Writes fields unless another write came first, and announces that. */
  async #write(row: A2aTaskDoc, fields: Partial<A2aTaskDoc>): Promise<A2aTaskDoc | null> {
    const { _id, tenant_id, version } = row;
    const $set = { ...fields, version: version + 1 };
    const written = await this.#rows.update(tenant_id, { _id, version }, { $set });
    if (written) this.#announce(written);
    return written;
  }

  /** Wakes who waits for the task; whose message is lost looks by itself. */
  #announce({ _id: task_id, queue }: A2aTaskDoc): void {
    const change: TaskChange = { task_id, notify: queue !== undefined };
    void this.#broker.broadcast("a2a_tasks.changed", change);
  }

  async #require({ tenant_id, ...filter }: Key): Promise<A2aTaskDoc> {
    return requireFound(await this.#rows.findOne(tenant_id, filter), "a2a_task", filter._id);
  }
}

/** Which tasks of a caller to list. */
export interface TaskQuery extends Side {
  context_id?: string;
  state?: TaskState;
  /** Changed at or after, in milliseconds since the epoch. */
  since?: number;
  /** At most so many; fewer if they are large. */
  limit: number;
  /** `next` of the previous page. */
  cursor?: string;
}

export interface TaskPage {
  tasks: TaskJson[];
  /** Null after the last page. */
  next: string | null;
  total: number;
}

/** Sent to all nodes. */
export interface TaskChange {
  task_id: string;
  /** Whether webhooks are to be notified. */
  notify: boolean;
}

interface Key extends Partial<Side> {
  _id: string;
  tenant_id: string;
}

type Change = (
  task: TaskJson,
  at: Date,
  row: A2aTaskDoc,
) => (Partial<A2aTaskDoc> & { task: TaskJson }) | null;

function ofAgent({ tenant_id, agent_id }: AgentCaller, _id: string): Key {
  return { _id, tenant_id, agent_id };
}

const parseTask = ({ task_json }: A2aTaskDoc): TaskJson => JSON.parse(task_json);

const versioned = (row: A2aTaskDoc): Versioned => ({ task: parseTask(row), version: row.version });

function requireOpen({ _id, state }: A2aTaskDoc): void {
  if (isFinal(state)) throw conflict(`The task ${_id} is final: ${state}. Begin a new one.`);
}

/**
 * Requires the message that a task has under this id to be this one, so that nothing else than a retry is taken for one.
 *
 * @throws Fault validation_error
 */
function requireSame(row: A2aTaskDoc, message: MessageJson): void {
  const { _id, context_id } = row;
  const { messageId } = message;
  const kept = parseTask(row).history.find(
    (each) => each.role === "ROLE_USER" && each.messageId === messageId,
  );
  // As JSON: without fields that are undefined.
  const former = JSON.parse(
    JSON.stringify({ ...message, taskId: _id, contextId: message.contextId || context_id }),
  );
  if (isDeepStrictEqual(kept, former)) return;
  const text = `message.messageId: ${quoted(messageId)} was used for another message, in the task ${_id}. Give each message its own id.`;
  throw invalidValue("message.messageId", text);
}

function serialise(task: TaskJson): string {
  const text = JSON.stringify(task);
  const size = Buffer.byteLength(text);
  if (size > MAX_TASK) throw tooLong(`${size} bytes`, MAX_TASK, size);
  return text;
}

function tooLong(what: string, max_size: number, actual_size = max_size + 1): Fault {
  const message = `The task would have ${what}: its messages and artifacts are too long. Begin a new task.`;
  return new Fault("payload_too_large", message, { actual_size, max_size });
}

const present = (row: A2aTaskDoc) => presentAs(contract.A2aTask, row, { task: { ...parseTask(row) } });

/**
 * Delivers an event about a task to its agent alone, whatever its interests. Repeating it adds nothing: the ids of the
 * event and of its delivery derive from the task and `what`.
 */
async function announceTask(
  broker: ServiceBroker,
  { _id: task_id, tenant_id, agent_id, context_id }: A2aTaskDoc,
  type: keyof typeof contract.A2A_EVENTS,
  what: string,
): Promise<void> {
  const data = { task_id, context_id } satisfies Static<typeof contract.A2aTaskNotice>;
  const audience = { scope: "agent", agent_id, team_id: null };
  const emission = { type, subject: task_id, data, dedupe: `a2a ${task_id} ${type} ${what}`, audience };
  const { event_id } = await broker.call<{ event_id: string }, object>("events.emit", {
    tenant_id,
    ...emission,
  });
  const delivery = {
    ...{ tenant_id, event_id, agent_id, type, priority: 0, enrichment_depth: "none" },
    matched: { interest_ids: [], feed_ids: [] },
  };
  await broker.call("deliveries.enqueue", { deliveries: [delivery] });
}
