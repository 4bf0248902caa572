/** The progress of a thread, by its checkpoints. */
import type { Interrupt, StateSnapshot } from "@langchain/langgraph";
import { type CheckpointTuple, ERROR, INTERRUPT, RESUME } from "@langchain/langgraph-checkpoint";
import type { ResumableGraph } from "./resume.ts";
import { EVENT_ID, type SensoriumSaver } from "./saver.ts";

export interface Thread {
  /** `unfinished`: tasks are left that wait for no answer. A new thread is `finished`. */
  state: "finished" | "waiting" | "unfinished";
  /** Those that wait for an answer. */
  interrupts: Interrupt[];
  /** The events that its last step took, as an input or as an answer. */
  taken: Set<string>;
}

/** LangGraph's writes that are no output of a task. */
const CONTROL = new Set([ERROR, INTERRUPT, RESUME, "__error_source_node__"]);
/** Has the writes that belong to no task. */
const NULL_TASK_ID = "00000000-0000-0000-0000-000000000000";

/** @param eventId is kept with the run's checkpoints */
export const threadConfig = (thread_id: string, eventId?: string) => ({
  configurable: { thread_id, [EVENT_ID]: eventId },
});

export async function readThread(graph: ResumableGraph, saver: SensoriumSaver, id: string): Promise<Thread> {
  return inspect(await graph.getState(threadConfig(id), { subgraphs: true }), saver);
}

async function inspect({ config, tasks }: StateSnapshot, saver: SensoriumSaver): Promise<Thread> {
  const tuple = await saver.getTuple(config);
  const writes = tuple?.pendingWrites ?? [];
  const thread: Thread = {
    state: "finished",
    interrupts: [],
    taken: new Set(tuple && takenIn(tuple)),
  };
  let unfinished = 0;
  for (const task of tasks) {
    const channels = writes.filter(([id]) => id === task.id).map(([, channel]) => channel);
    // Its output waits for the other tasks of the step.
    if (channels.some((channel) => !CONTROL.has(channel))) continue;
    const subgraph = task.state && "tasks" in task.state ? await inspect(task.state, saver) : undefined;
    // LangGraph gives no state of a subgraph that has failed.
    const failed = task.error ? await saver.getTuple(subgraphConfig(config, task)) : undefined;
    for (const id of subgraph?.taken ?? (failed ? takenIn(failed) : [])) thread.taken.add(id);
    const waits = channels.includes(INTERRUPT) && (subgraph?.state ?? "waiting") === "waiting";
    if (waits) thread.interrupts.push(...(subgraph?.interrupts ?? task.interrupts));
    // LangGraph keeps the error of a task that waits again after a retry: then it is run again, up to its interrupt.
    if (!waits || channels.includes(ERROR)) unfinished++;
  }
  if (thread.interrupts.length > 0 && unfinished === 0) thread.state = "waiting";
  else if (tasks.length > 0) thread.state = "unfinished";
  return thread;
}

/** The ids of the events that the run of a checkpoint handled, or that its tasks took as an answer. */
function takenIn({ metadata, pendingWrites = [] }: CheckpointTuple): string[] {
  const { [EVENT_ID]: eventId } = (metadata ?? {}) as { [EVENT_ID]?: string };
  // Those that are given are under the id of the interrupt; a task has a list of those that it took.
  const answers = pendingWrites.filter(
    ([id, channel]) => channel === RESUME && id.includes("-") && id !== NULL_TASK_ID,
  );
  const ids = answers
    .flatMap(([, , value]) => [value as { id?: string }[]].flat(2))
    .map((answer) => answer?.id);
  return [eventId, ...ids].filter((id) => id !== undefined);
}

function subgraphConfig(
  { configurable }: StateSnapshot["config"],
  { name, id }: { name: string; id: string },
) {
  const { thread_id, checkpoint_ns: parent } = configurable ?? {};
  return { configurable: { thread_id, checkpoint_ns: `${parent ? `${parent}|` : ""}${name}:${id}` } };
}
