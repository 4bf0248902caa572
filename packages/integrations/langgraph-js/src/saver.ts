import { isDeepStrictEqual } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { Client, StateEntry } from "sensorium";
import { Checkpoints, type Loaded } from "./checkpoints.ts";
import { entriesOf, unless } from "./entries.ts";
import {
  checkpointIdOf,
  checkpointKey,
  checkpointsPrefix,
  FORMAT,
  type Place,
  THREADS,
  threadNamespace,
  threadOf,
} from "./keys.ts";
import { Writes } from "./writes.ts";

/** In `configurable`, and in the metadata of checkpoints: the event that a run handles. */
export const EVENT_ID = "sensorium_event_id";
/** How many entries a list reads ahead at most. */
const MOST_OF_PAGE = 100;

/**
 * Keeps the checkpoints of graphs in the state of the agent whose client it has, so that any process continues a thread.
 * `subject` in `configurable` names the person that a thread is about, for erasure.
 */
export class SensoriumSaver extends BaseCheckpointSaver {
  readonly #client: Client;
  readonly #checkpoints: Checkpoints;
  readonly #writes: Writes;

  constructor(client: Client, serde?: SerializerProtocol) {
    super(serde);
    this.#client = client;
    this.#checkpoints = new Checkpoints(client, this.serde);
    this.#writes = new Writes(client, this.serde);
  }

  /** The checkpoint that the config names, or the latest one of its thread. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns: ns = "" } = config.configurable ?? {};
    if (thread_id === undefined) return undefined;
    const namespace = threadNamespace(thread_id);
    const id = getCheckpointId(config);
    const entry = await (id
      ? unless("not_found", this.#client.state.get({ namespace, key: checkpointKey({ ns, id }) }))
      : this.#latest(namespace, ns));
    if (!entry) return undefined;
    const place = placeOf(entry);
    const [loaded, writes] = await Promise.all([
      this.#checkpoints.load(place, entry),
      this.#writes.of(place),
    ]);
    return this.#tupleOf(place, loaded, writes);
  }

  async #latest(namespace: string, ns: string): Promise<StateEntry | undefined> {
    const prefix = checkpointsPrefix(ns);
    return (await this.#client.state.list({ namespace, prefix, order: "desc", limit: 1 })).entries[0];
  }

  /** Checkpoints of a thread, or of all threads, the latest of a thread first. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id } = config.configurable ?? {};
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for await (const namespace of thread_id === undefined ? this.#threads() : [threadNamespace(thread_id)]) {
      if (left <= 0) return;
      for await (const tuple of this.#listThread(namespace, config, options)) {
        yield tuple;
        if (--left <= 0) return;
      }
    }
  }

  async *#listThread(namespace: string, config: RunnableConfig, options: CheckpointListOptions) {
    const { checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
    const { limit = MOST_OF_PAGE, filter = {} } = options;
    const before = options.before && getCheckpointId(options.before);
    const bounded = ns === undefined ? undefined : before;
    const entries = entriesOf(this.#client, {
      namespace,
      prefix: ns !== undefined && id ? checkpointKey({ ns, id }) : checkpointsPrefix(ns),
      order: "desc",
      ...(bounded && { before: checkpointKey({ ns, id: bounded }) }),
      limit: options.filter ? MOST_OF_PAGE : Math.min(MOST_OF_PAGE, limit),
    });
    const writesTo = this.#writes.backwards(namespace, ns, bounded);
    const read = new Map();
    for await (const entry of entries) {
      const place = placeOf(entry);
      if ((id && place.id !== id) || (before && place.id >= before)) continue;
      const loaded = await this.#checkpoints.load(place, entry, read);
      const fits = Object.entries(filter).every(([name, value]) =>
        isDeepStrictEqual(loaded.metadata[name], value),
      );
      if (fits) yield this.#tupleOf(place, loaded, await writesTo(place));
    }
  }

  async *#threads(): AsyncGenerator<string> {
    for (let after: string | null | undefined; after !== null; ) {
      const page = await this.#client.state.namespaces({ prefix: THREADS, ...(after && { after }) });
      yield* page.namespaces;
      after = page.next;
    }
  }

  async #tupleOf(
    place: Place,
    { checkpoint, metadata, parent: id }: Loaded,
    pendingWrites: CheckpointPendingWrite[],
  ): Promise<CheckpointTuple> {
    const config = configOf(place);
    if (id === null) return { config, checkpoint, metadata, pendingWrites };
    const parent = { ...place, id };
    if (checkpoint.v < 4) await this.#addSends(checkpoint, parent);
    return { config, checkpoint, metadata, pendingWrites, parentConfig: configOf(parent) };
  }

  /** Before version 4, a checkpoint had what its parent's tasks sent as a channel. */
  async #addSends(checkpoint: Checkpoint, parent: Place): Promise<void> {
    const sent = (await this.#writes.of(parent)).filter(([, channel]) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = sent.map(([, , value]) => value);
    checkpoint.channel_versions[TASKS] = versions.length
      ? maxChannelVersion(...versions)
      : this.getNextVersion(undefined);
  }

  /** @param versions those of the channels that changed since the checkpoint that the config names */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { place, about } = targetOf(config, checkpoint.id);
    const parent = getCheckpointId(config) || null;
    const { [EVENT_ID]: event } = config.configurable ?? {};
    const told = { ...metadata, ...(typeof event === "string" && { [EVENT_ID]: event }) };
    const saved = { checkpoint: copyCheckpoint(checkpoint), metadata: told, parent };
    await this.#checkpoints.put(place, saved, versions, about);
    return configOf(place);
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, path = ""): Promise<void> {
    const id = getCheckpointId(config);
    if (!id)
      throw new TypeError("configurable.checkpoint_id is missing: which checkpoint do the writes belong to?");
    const { place, about } = targetOf(config, id);
    await this.#writes.put(place, { id: taskId, path, metadata: about }, writes);
  }

  async deleteThread(threadId: string): Promise<void> {
    const namespace = threadNamespace(threadId);
    await this.#client.state.clear({ namespace });
    this.#checkpoints.forget(namespace);
  }
}

/** Where to write, and what entries say about themselves. @throws TypeError without a thread */
function targetOf(
  { configurable }: RunnableConfig,
  id: string,
): { place: Place; about: Record<string, unknown> } {
  const { thread_id, checkpoint_ns: ns = "", subject } = configurable ?? {};
  if (!thread_id) throw new TypeError("configurable.thread_id is missing: which thread is to be saved?");
  const about = { format: FORMAT, checkpoint_ns: ns, ...(typeof subject === "string" && { subject }) };
  return { place: { namespace: threadNamespace(thread_id), ns, id }, about };
}

function placeOf({ namespace, key, metadata }: StateEntry): Place {
  return { namespace, ns: String(metadata.checkpoint_ns), id: checkpointIdOf(key) };
}

function configOf({ namespace, ns, id }: Place): RunnableConfig {
  return { configurable: { thread_id: threadOf(namespace), checkpoint_ns: ns, checkpoint_id: id } };
}
