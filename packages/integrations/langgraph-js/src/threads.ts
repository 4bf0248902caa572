/** What a thread has done, as its checkpoints tell. */
import type { Interrupt, StateSnapshot } from "@langchain/langgraph";
import { type CheckpointPendingWrite, ERROR, INTERRUPT, RESUME } from "@langchain/langgraph-checkpoint";
import type { ResumableGraph } from "./resume.ts";
import { EVENT_ID, type SensoriumSaver } from "./saver.ts";

export interface Thread {
  /** `unfinished`: tasks are left that wait for no answer. A new thread is `finished`. */
  state: "finished" | "waiting" | "unfinished";
  /** Those that wait for an answer. */
  interrupts: Interrupt[];
  /** The events that its last step took, as an input or as an answer. */
  taken: Set<string>;
  /** The events that were given as an answer and that no node took yet. */
  given: Set<string>;
}

/** LangGraph's writes that are no output of a task. */
const CONTROL = new Set([ERROR, INTERRUPT, RESUME, "__error_source_node__"]);

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
  const eventId = (tuple?.metadata as { [EVENT_ID]?: string } | undefined)?.[EVENT_ID];
  const taskIds = new Set(tasks.map(({ id }) => id));
  const thread: Thread = {
    state: "finished",
    interrupts: [],
    taken: new Set([...(eventId ? [eventId] : []), ...answersIn(writes.filter(([id]) => taskIds.has(id)))]),
    given: new Set(answersIn(writes.filter(([id]) => !taskIds.has(id)))),
  };
  let unfinished = 0;
  for (const task of tasks) {
    const channels = writes.filter(([id]) => id === task.id).map(([, channel]) => channel);
    // Its output waits for the other tasks of the step.
    if (channels.some((channel) => !CONTROL.has(channel))) continue;
    const subgraph = task.state && "tasks" in task.state ? await inspect(task.state, saver) : undefined;
    for (const id of subgraph?.taken ?? []) thread.taken.add(id);
    const waits = channels.includes(INTERRUPT) && (subgraph?.state ?? "waiting") === "waiting";
    if (waits) thread.interrupts.push(...(subgraph?.interrupts ?? task.interrupts));
    // LangGraph keeps the error of a task that waits again after a retry: then it is run once more, up to its interrupt.
    if (!waits || channels.includes(ERROR)) unfinished++;
  }
  if (thread.interrupts.length > 0 && unfinished === 0) thread.state = "waiting";
  else if (tasks.length > 0) thread.state = "unfinished";
  return thread;
}

/** The ids of events in writes of answers, which are one or a list. */
function answersIn(writes: CheckpointPendingWrite[]): string[] {
  const answers = writes.filter(([, channel]) => channel === RESUME).map(([, , value]) => value);
  return (answers.flat(3) as { id?: string }[]).flatMap((answer) => answer?.id ?? []);
}
