import { Command, type StateSnapshot } from "@langchain/langgraph";
import { type Client, type CloudEvent, GiveUp, type Listener, type ListenOptions } from "sensorium";
import { threadNamespace } from "./keys.ts";
import { SensoriumSaver } from "./saver.ts";
import { readThread, threadConfig } from "./threads.ts";

/** A compiled graph, with a SensoriumSaver as its checkpointer. */
export interface ResumableGraph {
  checkpointer?: unknown;
  invoke(input: unknown, config?: object): Promise<unknown>;
  getState(config: object, options?: { subgraphs?: boolean }): Promise<StateSnapshot>;
}

export interface ResumeOptions extends ListenOptions {
  /** Takes the deliveries of the agent whose key it has. */
  client: Client;
  graph: ResumableGraph;
  /** The id of the thread that an event belongs to. Default: its `subject`, or else its `correlationid`. */
  threadOf?: (event: CloudEvent) => string | undefined;
  /** The input of a graph that waits for nothing. Default: the event. */
  inputOf?: (event: CloudEvent) => unknown;
}

/**
 * For each event of an agent, resumes the thread that the event belongs to with the event as the answer of its
 * `interrupt()`, or invokes the graph in it. Acknowledges the delivery when the graph has returned, and rejects it when
 * the graph throws. An event without a thread, or whose thread cannot have its id, becomes a dead letter at once. Returns
 * the client's listener, to be stopped.
 *
 * A redelivered event does not resume its thread again, as checkpoints have the id of their event. This takes a thread's
 * events one at a time: give the interest an `ordering_key`.
 *
 * @throws TypeError unless the graph's checkpointer is a SensoriumSaver
 */
export function resumeOnEvents({
  client,
  graph,
  threadOf = threadOfEvent,
  inputOf = (event) => event,
  ...options
}: ResumeOptions): Listener {
  const saver = graph.checkpointer;
  if (!(saver instanceof SensoriumSaver))
    throw new TypeError("graph.checkpointer must be a SensoriumSaver: it keeps which event was handled.");
  return client.listen(async (event, { signal }) => {
    const threadId = requireThread(threadOf(event));
    const run = (input: unknown, eventId?: string) =>
      graph.invoke(input, { ...threadConfig(threadId, eventId), signal });
    let thread = await readThread(graph, saver, threadId);
    if (thread.state === "unfinished") {
      // A node failed, or the process ended: finish that run first. The work of its other nodes is not repeated.
      await run(null, thread.taken.has(event.id) ? event.id : [...thread.taken][0]);
      thread = await readThread(graph, saver, threadId);
    }
    if (thread.taken.has(event.id)) return;
    const [interrupt] = thread.interrupts;
    // By its id: otherwise a node that fails before its second `interrupt()` gets the same answer there when retried.
    const input = interrupt ? new Command({ resume: { [String(interrupt.id)]: event } }) : inputOf(event);
    await run(input, event.id);
  }, options);
}

/** @throws GiveUp without an id, or with one that no thread can have: no retry would help */
function requireThread(threadId: string | undefined): string {
  if (!threadId) throw new GiveUp("The event has no subject and no correlationid: it belongs to no thread.");
  try {
    threadNamespace(threadId);
  } catch (error) {
    throw new GiveUp((error as Error).message);
  }
  return threadId;
}

function threadOfEvent({ subject, correlationid }: CloudEvent): string | undefined {
  return subject ?? (typeof correlationid === "string" ? correlationid : undefined);
}
