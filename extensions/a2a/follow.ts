import { hash } from "node:crypto";
import type { EventEmitter } from "node:events";
import { StreamResponse } from "@a2a-js/sdk";
import { oncePerTick } from "../../lib/once-per.ts";
import { memory } from "../../lib/queue/work.ts";
import { emitted } from "../../services/edge/gateway/streams/sse.ts";
import type { CallersTasks } from "./callers-tasks.ts";
import type { TaskState } from "./tasks/a2a-tasks.contract.ts";
import { MAX_TASK, type Side, type TaskJson, type Versioned } from "./tasks/task.ts";

/** Until a task that somebody follows is checked again, in case the announcement of its change was lost. */
const LOOK_MS = 5000;

/** A waiting request: its end, and the check that its caller is still accepted. */
export interface Waiting {
  ended: AbortSignal;
  recheck(): unknown;
}

/** A version of a task as a request knows it: what an update needs, in little memory. */
export interface Known {
  id: string;
  version: number;
  state: TaskState;
  artifacts: BigUint64Array;
  status: bigint;
}

const digest = (value: object) => hash("sha256", JSON.stringify(value), "buffer").readBigUInt64LE();

export function toKnown({ task: { id, artifacts, status }, version }: Versioned): Known {
  return {
    ...{ id, version, state: status.state },
    ...{ artifacts: BigUint64Array.from(artifacts, digest), status: digest(status) },
  };
}

export interface Following {
  side: Side;
  tasks: Pick<CallersTasks, "read">;
  /** Emits the id of a task that has changed. */
  changes: EventEmitter;
  waiting: Waiting;
}

/**
 * Yields what has changed since a caller read its task, as JSON texts of A2A 1.0, until a state is the last one or the
 * request ends. A reader who is slow gets several changes as one.
 *
 * @throws Fault not_found once the task is gone
 */
export async function* follow(
  { side, tasks, changes, waiting: { ended, recheck } }: Following,
  from: Known,
  isLast: (state: TaskState) => boolean,
): AsyncGenerator<string[], void, undefined> {
  for (let known = from; !isLast(known.state) && !ended.aborted; ) {
    // Listen before looking, so that no change goes unnoticed in between.
    const changed = emitted(changes, known.id, ended, LOOK_MS);
    const key = JSON.stringify([side, known.id, known.version]);
    const next = await look(key, () => readNewer(side, tasks, known));
    if (!next) {
      await changed;
      continue;
    }
    known = next.known;
    await recheck();
    yield next.updates;
  }
}

/** A later version of a task, and the updates that lead to it. */
interface Newer {
  known: Known;
  updates: string[];
}

/** All streams of a caller that know the same version of a task share a look. */
const look = oncePerTick<Newer | null>();

async function readNewer(side: Side, tasks: Following["tasks"], known: Known): Promise<Newer | null> {
  const release = await memory.acquire({ ...side, caller: side.caller_id }, MAX_TASK, { queued: 1 });
  try {
    const { id: task_id, version } = known;
    const next = await tasks.read<Versioned | null>("read_newer", { task_id, version });
    return next && { known: toKnown(next), updates: updatesSince(known, next.task) };
  } finally {
    release();
  }
}

/** Returns the updates, as JSON texts of A2A 1.0, that lead from a version of a task to a later one. */
export function updatesSince(before: Pick<Known, "artifacts" | "status">, after: TaskJson): string[] {
  const ids = { taskId: after.id, contextId: after.contextId };
  const known = new Set(before.artifacts);
  const artifacts = after.artifacts
    .filter((artifact) => !known.has(digest(artifact)))
    .map((artifact) => ({ artifactUpdate: { ...ids, artifact, append: false, lastChunk: true } }));
  const isSame = before.status === digest(after.status);
  const updates = [...artifacts, ...(isSame ? [] : [{ statusUpdate: { ...ids, status: after.status } }])];
  return updates.map((update) => JSON.stringify(StreamResponse.toJSON(StreamResponse.fromJSON(update))));
}
