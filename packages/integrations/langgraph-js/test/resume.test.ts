/** @needs frameworks */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import type { CloudEvent, Listener } from "../../../../packages/client/index.ts";
import { type ClientAgent, newClient, withoutAcknowledging } from "../../../../test/support/integrations.ts";
import { settle } from "../../../../test/support/settle.ts";
import { useShared } from "../../../../test/support/use.ts";
import { type ResumableGraph, type ResumeOptions, resumeOnEvents, SensoriumSaver } from "../src/index.ts";

const server = await useShared("local");
let agent: ClientAgent;
let saver: SensoriumSaver;
let listeners: Listener[];
beforeEach(async () => {
  listeners = [];
  agent = await newClient(server);
  saver = new SensoriumSaver(agent.client);
  const { agent: me } = await agent.client.auth.me();
  const interest = {
    event_type: "com.example.step.*",
    ordering_key: "subject",
    retry_delays_seconds: [1, 1, 1],
  };
  await agent.client.interests.create({ agent_id: String(me?.id), ...interest });
});
afterEach(() => Promise.all(listeners.map((each) => each.stop())));

const State = Annotation.Root({
  type: Annotation<string>,
  log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
});
const answer = (question: string) =>
  (interrupt(question) as CloudEvent).type.replace("com.example.step.", "");
const log = (...lines: string[]) => ({ log: lines });

function start(graph: ResumableGraph, { client = agent.client, ...options }: Partial<ResumeOptions> = {}) {
  const listener = resumeOnEvents({ client, graph, onProblem: () => {}, ...options });
  listeners.push(listener);
  return listener;
}

let count = 0;
async function publish(name: string, attributes: Partial<CloudEvent> = { subject: "order-1" }) {
  const source = "https://example.com";
  const event = {
    id: `step-${server.url}-${++count}`,
    type: `com.example.step.${name}`,
    source,
    ...attributes,
  };
  return (await agent.client.publish(event)).event_id;
}

/** All events have become deliveries, or no delivery is left. */
const arrived = (number: number) =>
  settle(async () => (await agent.client.deliveries.stats()).pending === number);
const settled = () => arrived(0);
const valuesOf = async (
  graph: { getState(config: object): Promise<{ values: unknown }> },
  thread_id: string,
) => ((await graph.getState({ configurable: { thread_id } })).values as { log?: string[] }).log;

/** Handles one event and ends before the acknowledgement; then another process gets the event again. */
async function handleTwice(graph: ResumableGraph): Promise<void> {
  const { client, lost } = withoutAcknowledging(agent);
  const crashed = start(graph, { client });
  await settle(() => lost.length > 0);
  await crashed.stop(0);
  const next = start(graph);
  await settled();
  await next.stop();
}

/** Two questions in one node; then a third one. */
const asking = () =>
  new StateGraph(State)
    .addNode("ask", ({ type }) => log(type, answer("one"), answer("two")))
    .addNode("more", () => log(answer("three")))
    .addEdge(START, "ask")
    .addEdge("ask", "more")
    .addEdge("more", END)
    .compile({ checkpointer: saver });

test("events start threads and answer their interrupts, each thread's in order", async () => {
  const graph = asking();
  for (const name of ["start", "a", "b", "c"])
    for (const subject of ["order-1", "order-2"]) await publish(name, { subject });
  await publish("start", { correlationid: "order-3" });
  await publish("start", {});
  await publish("start", { subject: "o".repeat(600) });
  await arrived(11);
  const failures: unknown[] = [];
  start(graph, { concurrency: 3, onProblem: (problem) => failures.push(problem) });
  await settled();
  const all = ["com.example.step.start", "a", "b", "c"];
  expect([await valuesOf(graph, "order-1"), await valuesOf(graph, "order-2")]).toEqual([all, all]);
  const { tasks } = await graph.getState({ configurable: { thread_id: "order-3" } });
  expect(tasks[0]?.interrupts[0]?.value).toBe("one");
  const { items } = await agent.client.deliveries.deadLetters();
  expect(items.map(({ dlq_reason, attempt_count }) => ({ dlq_reason, attempt_count }))).toEqual(
    expect.arrayContaining([
      { dlq_reason: expect.stringContaining("no thread"), attempt_count: 1 },
      { dlq_reason: expect.stringContaining("(got 600)"), attempt_count: 1 },
    ]),
  );
  expect(failures).toHaveLength(2);
});

test("threads and inputs are what the program says", async () => {
  const graph = asking();
  for (const name of ["start", "a", "b", "c"])
    await publish(name, { subject: "ignored", data: { order: "7" } });
  await arrived(4);
  start(graph, {
    threadOf: ({ data }) => String((data as { order: string }).order),
    inputOf: () => ({ type: "mine", log: ["first"] }),
  });
  await settled();
  expect(await valuesOf(graph, "7")).toEqual(["first", "mine", "a", "b", "c"]);
});

test("an event whose acknowledgement was lost does not resume its thread again", async () => {
  const graph = asking();
  for (const name of ["start", "a", "b", "c"]) {
    await publish(name);
    await handleTwice(graph);
  }
  expect(await valuesOf(graph, "order-1")).toEqual(["com.example.step.start", "a", "b", "c"]);
  await publish("again");
  await handleTwice(graph);
  const { tasks } = await graph.getState({ configurable: { thread_id: "order-1" } });
  expect(tasks[0]?.interrupts[0]?.value).toBe("one");
});

test("the same holds within a subgraph, and for nodes that wait at the same time", async () => {
  const inner = new StateGraph(State)
    .addNode("deep", () => log(answer("one"), answer("two")))
    .addNode("deeper", () => log(answer("three")))
    .addEdge(START, "deep")
    .addEdge("deep", "deeper")
    .addEdge("deeper", END)
    .compile();
  const nested = new StateGraph(Annotation.Root({ type: Annotation<string>, log: Annotation<string[]> }))
    .addNode("inner", inner)
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile({ checkpointer: saver });
  const parallel = new StateGraph(State)
    .addNode("left", () => log(answer("left")))
    .addNode("right", () => log(answer("right")))
    .addEdge(START, "left")
    .addEdge(START, "right")
    .compile({ checkpointer: saver });
  for (const [graph, subject, names] of [
    [nested, "nested", ["a", "b", "c"]],
    [parallel, "parallel", ["a", "b"]],
  ] as const) {
    for (const name of ["start", ...names]) {
      await publish(name, { subject });
      await handleTwice(graph);
    }
    expect(await valuesOf(graph, subject)).toEqual(names);
  }
});

/** Lines once: a subgraph returns those of its parent, too. */
const Once = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, more) => [...new Set([...all, ...more])], default: () => [] }),
});

test.each(["node", "subgraph"])("a failed run of a %s goes on where it failed", async (kind) => {
  const calls: string[] = [];
  const failing = new Set(["ask 2", "asked 1", "last 1", "first 2"]);
  const call = (name: string) => {
    calls.push(name);
    const nth = `${name} ${calls.filter((each) => each === name).length}`;
    if (failing.has(nth)) throw new Error(nth);
    return log(name);
  };
  const ask = () => {
    call("ask");
    const one = answer("one");
    call("asked");
    return log(one, answer("two"));
  };
  const inner = new StateGraph(Once).addNode("ask", ask).addEdge(START, "ask").addEdge("ask", END);
  const graph = new StateGraph(Once)
    .addNode("first", () => call("first"))
    .addNode("middle", kind === "node" ? ask : inner.compile())
    .addNode("last", () => call("last"))
    .addEdge(START, "first")
    .addEdge("first", "middle")
    .addEdge("middle", "last")
    .addEdge("last", END)
    .compile({ checkpointer: saver });
  const inputOf = () => ({ log: [] });
  const problems: string[] = [];
  const onProblem = (problem: unknown) => problems.push((problem as Error).message);
  for (const name of ["start", "a", "b"]) await publish(name);
  await arrived(3);
  const listener = start(graph, { inputOf, onProblem });
  await settled();
  await listener.stop();
  expect(await valuesOf(graph, "order-1")).toEqual(["first", "a", "b", "last"]);
  expect(problems).toEqual(["ask 2", "asked 1", "last 1"]);
  expect(calls.filter((name) => name === "first")).toHaveLength(1);

  // Something else left a thread unfinished: it is finished before the event.
  const other = { configurable: { thread_id: "other" } };
  await expect(graph.invoke({ log: ["by hand"] }, other)).rejects.toThrow("first 2");
  for (const name of ["c", "d"]) await publish(name, { subject: "other" });
  await arrived(2);
  start(graph, { inputOf });
  await settled();
  expect(await valuesOf(graph, "other")).toEqual(["by hand", "first", "c", "d", "last"]);
});

test("needs a checkpointer that keeps the events", () => {
  const graph = new StateGraph(State).addNode("one", () => ({})).addEdge(START, "one");
  const { client } = agent;
  const compiled = graph.compile({ checkpointer: new MemorySaver() });
  expect(() => resumeOnEvents({ client, graph: compiled })).toThrow(/must be a SensoriumSaver/);
});
