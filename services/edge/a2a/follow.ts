import { setTimeout as pause } from "node:timers/promises";
import { isPaused, type TaskJson, type Versioned } from "../../work/a2a/task.ts";
import type { CallersTasks } from "./callers-tasks.ts";

/** Between reads of a task that somebody waits for. */
const EVERY_MS = 500;

/** A waiting request: its end, and the check that its caller is still accepted. */
export interface Waiting {
  ended: AbortSignal;
  recheck(): unknown;
}

/** Yields the task whenever it has changed, until it is final, waits for the caller, or the request ends. */
export async function* follow(
  tasks: CallersTasks,
  { task, version }: Versioned,
  { ended, recheck }: Waiting,
): AsyncGenerator<TaskJson, void, undefined> {
  let known = version;
  let state = task.status.state;
  while (!isPaused(state) && !ended.aborted) {
    await pause(EVERY_MS, undefined, { signal: ended }).catch(() => {});
    if (ended.aborted) return;
    const next = await tasks.read(task.id);
    if (next.version === known) continue;
    await recheck();
    known = next.version;
    state = next.task.status.state;
    yield next.task;
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
