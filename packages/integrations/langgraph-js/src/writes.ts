/** Writes of a checkpoint's tasks before the next one. */
import {
  type CheckpointPendingWrite,
  compareWritesSortKeys,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
  type WritesSortKey,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import type { Client, StateEntry } from "sensorium";
import { deserialize, entriesOf, read, type Serialized, serialize, unless } from "./entries.ts";
import { type Place, writesKey, writesPrefix } from "./keys.ts";

/** A task, and what its entries have as metadata besides. */
interface Task {
  id: string;
  path: string;
  metadata: Record<string, unknown>;
}

/** The writes of one entry, each with its index among those of the task. */
type Written = [index: number, channel: string, ...Serialized][];

export class Writes {
  readonly #client: Client;
  readonly #serde: SerializerProtocol;

  constructor(client: Client, serde: SerializerProtocol) {
    this.#client = client;
    this.#serde = serde;
  }

  /** Keeps a task's writes. One that is there stays, unless it is special: an error, an interrupt, a resume. */
  async put(place: Place, task: Task, writes: PendingWrite[]): Promise<void> {
    const all: Written = await Promise.all(
      writes.map(async ([channel, value], at) => {
        const index = WRITES_IDX_MAP[channel] ?? at;
        return [index, channel, ...(await serialize(this.#serde, value))];
      }),
    );
    const metadata = { ...task.metadata, task_id: task.id, task_path: task.path };
    const entry = (special?: number) => ({
      namespace: place.namespace,
      key: writesKey(place, task.id, special),
      metadata,
    });
    const usual = all.filter(([index]) => index >= 0);
    const special = all.filter(([index]) => index < 0);
    await Promise.all([
      ...special.map((write) =>
        this.#client.state.put({ ...entry(write[0]), value: JSON.stringify([write]) }),
      ),
      usual.length > 0 && this.#add(entry(), usual),
    ]);
  }

  /** Adds the missing writes: another process may run the same task. */
  async #add(entry: { namespace: string; key: string; metadata: object }, writes: Written): Promise<void> {
    let [if_version, all] = [0, writes];
    while (!(await unless("conflict", this.#client.state.put({ ...putting(entry, all), if_version })))) {
      const there = await unless("not_found", this.#client.state.get(entry));
      const kept = there ? await read<Written>(this.#client, there) : [];
      const indexes = new Set(kept.map(([index]) => index));
      const missing = writes.filter(([index]) => !indexes.has(index));
      if (missing.length === 0) return;
      [if_version, all] = [there?.version ?? 0, [...kept, ...missing]];
    }
  }

  /** The writes to a checkpoint, in LangGraph's order. */
  async of({ namespace, ns, id }: Place): Promise<CheckpointPendingWrite[]> {
    const entries: StateEntry[] = [];
    const prefix = writesPrefix(ns, id);
    for await (const entry of entriesOf(this.#client, { namespace, prefix })) entries.push(entry);
    return this.#inOrder(entries);
  }

  /**
   * Gives the writes to one checkpoint after the other, in descending order, and reads pages of many for it.
   *
   * @param before the checkpoint of this id and later ones are not asked for
   */
  backwards(
    namespace: string,
    ns?: string,
    before?: string,
  ): (place: Place) => Promise<CheckpointPendingWrite[]> {
    const entries = entriesOf(this.#client, {
      namespace,
      prefix: writesPrefix(ns),
      order: "desc",
      ...(before !== undefined && { before: writesPrefix(ns, before) }),
    });
    let next: Promise<IteratorResult<StateEntry, undefined>> | undefined;
    return async (place) => {
      const prefix = writesPrefix(place.ns, place.id);
      const own: StateEntry[] = [];
      for (;;) {
        next ??= entries.next();
        const { value } = await next;
        if (!value || value.key < prefix) return this.#inOrder(own);
        if (value.key.startsWith(prefix)) own.push(value);
        next = undefined;
      }
    };
  }

  async #inOrder(entries: StateEntry[]): Promise<CheckpointPendingWrite[]> {
    const found: { key: WritesSortKey; write: CheckpointPendingWrite }[] = [];
    for (const entry of entries) {
      const [taskId, taskPath] = [String(entry.metadata.task_id), String(entry.metadata.task_path)];
      for (const [index, channel, ...serialized] of await read<Written>(this.#client, entry)) {
        const value = await deserialize(this.#serde, serialized);
        found.push({ key: writesSortKey(taskPath, taskId, index), write: [taskId, channel, value] });
      }
    }
    return found.sort((a, b) => compareWritesSortKeys(a.key, b.key)).map(({ write }) => write);
  }
}

function putting(entry: { namespace: string; key: string; metadata: object }, writes: Written) {
  return { ...entry, metadata: { ...entry.metadata }, value: JSON.stringify(writes) };
}
