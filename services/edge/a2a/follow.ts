import type { TaskState } from "../../work/a2a/a2a-tasks.contract.ts";
import type { TaskJson, Versioned } from "../../work/a2a/task.ts";
import type { CallersTasks } from "./callers-tasks.ts";
import type { Changes } from "./changes.ts";

/** Until a task that somebody waits for is read again, in case the announcement of its change was lost. */
const LOOK_MS = 5000;

/** A waiting request: its end, and the check that its caller is still accepted. */
export interface Waiting {
  ended: AbortSignal;
  changes: Changes;
  recheck(): unknown;
}

/**
 * Yields the task whenever it has changed until a state is the last one, or the request ends.
 */
export async function* follow(
  tasks: CallersTasks,
  { task, version }: Versioned,
  { ended, changes, recheck }: Waiting,
  isLast: (state: TaskState) => boolean,
): AsyncGenerator<TaskJson, void, undefined> {
  let known = version;
  let state = task.status.state;
  const watch = changes.watch(task.id);
  try {
    // The first read finds what has changed since the given version.
    for (let first = true; !isLast(state) && !ended.aborted; first = false) {
      if (!first) await watch.next(LOOK_MS, ended);
      if (ended.aborted) return;
      const next = await tasks.read(task.id);
      if (next.version === known) continue;
      await recheck();
      known = next.version;
      state = next.task.status.state;
      yield next.task;
    }
  } finally {
    watch.close();
  }
}

/** Returns the updates, as JSON of A2A 1.0, that lead from one version of a task to a later one. */
export function updatesBetween(before: TaskJson, after: TaskJson): object[] {
  const ids = { taskId: after.id, contextId: after.contextId };
  const known = new Map(before.artifacts.map((each) => [each.artifactId, JSON.stringify(each)]));
  const artifacts = after.artifacts
    .filter((each) => known.get(each.artifactId) !== JSON.stringify(each))
    .map((artifact) => ({ artifactUpdate: { ...ids, artifact, append: false, lastChunk: true } }));
  const isSame = JSON.stringify(before.status) === JSON.stringify(after.status);
  return [...artifacts, ...(isSame ? [] : [{ statusUpdate: { ...ids, status: after.status } }])];
}
