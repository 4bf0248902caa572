/** @needs frameworks */
import { beforeEach, expect, test } from "@jest/globals";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { ERROR, emptyCheckpoint, INTERRUPT, uuid6 } from "@langchain/langgraph-checkpoint";
import { byLogin, createClient } from "../../../../packages/client/index.ts";
import { type ClientAgent, newClient, runProgram } from "../../../../test/support/integrations.ts";
import { useShared } from "../../../../test/support/use.ts";
import { SensoriumSaver } from "../src/index.ts";

const EXAMPLE = "packages/integrations/langgraph-js/examples/approval.ts";
const MEGABYTE = 1024 * 1024;
const loop = { source: "loop", step: 0, parents: {} } as const;

const server = await useShared("local");
let agent: ClientAgent;
let saver: SensoriumSaver;
beforeEach(async () => {
  agent = await newClient(server);
  saver = new SensoriumSaver(agent.client);
});

const State = Annotation.Root({
  file: Annotation<string>,
  log: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
});

/** Three steps that each write to the log, and leave the file alone. */
function logging(checkpointer: SensoriumSaver) {
  return new StateGraph(State)
    .addNode("one", () => ({ log: ["one"] }))
    .addNode("two", () => ({ log: ["two"] }))
    .addNode("three", () => ({ log: ["three"] }))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .addEdge("two", "three")
    .addEdge("three", END)
    .compile({ checkpointer });
}

/** A saver whose client counts its requests. */
function counted({ url, apiKey }: ClientAgent) {
  const requests: string[] = [];
  const counting: typeof fetch = (input, init) => {
    if (!String(input).includes("/auth/"))
      requests.push(`${init?.method} ${String(init?.body ?? "").length}`);
    return fetch(input, init);
  };
  return { saver: new SensoriumSaver(createClient({ url, apiKey, fetch: counting })), requests };
}

test("a thread that one process interrupts is continued by another, after the server was killed", async () => {
  expect(await runProgram(EXAMPLE, agent, "a/b.c %~")).toBe("Send 12 chairs?\n");
  await server.kill();
  await server.restart();
  expect(await runProgram(EXAMPLE, agent, "a/b.c %~", "yes")).toBe("12 chairs, sent\n");
  expect(await runProgram(EXAMPLE, agent, "other")).toBe("Send 12 chairs?\n");
  expect(await runProgram(EXAMPLE, agent, "other", "no")).toBe("12 chairs, kept\n");
});

test("values of megabytes are kept, and written once while they do not change", async () => {
  const { saver, requests } = counted(agent);
  const graph = logging(saver);
  const file = "ü🍵".repeat(MEGABYTE / 2);
  const config = { configurable: { thread_id: "large" } };
  expect(await graph.invoke({ file }, config)).toEqual({ file, log: ["one", "two", "three"] });
  const large = () => requests.filter((request) => Number(request.split(" ")[1]) > MEGABYTE).length;
  const before = large();
  expect(before).toBeGreaterThan(0);
  await graph.invoke({ log: ["again"] }, config);
  expect(large()).toBe(before);
  const { values } = await logging(new SensoriumSaver(agent.client)).getState(config);
  expect(values).toEqual({ file, log: ["one", "two", "three", "again", "one", "two", "three"] });
});

test("bytes come back as bytes", async () => {
  const config = { configurable: { thread_id: "bytes" } };
  const blob = new Uint8Array([0, 255, 128, 10]);
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(1),
    channel_values: { blob },
    channel_versions: { blob: 1 },
  };
  const saved = await saver.put(config, checkpoint, loop, { blob: 1 });
  await saver.putWrites(saved, [["blob", blob]], "task");
  const tuple = await saver.getTuple(config);
  expect([tuple?.checkpoint.channel_values.blob, tuple?.pendingWrites]).toEqual([
    blob,
    [["task", "blob", blob]],
  ]);
});

test("history is read in a few requests, and each checkpoint has the values that it had", async () => {
  const config = { configurable: { thread_id: "history" } };
  const graph = logging(saver);
  for (let n = 0; n < 5; n++) await graph.invoke({ file: `file ${n}` }, config);
  const { saver: reading, requests } = counted(agent);
  const states = await Array.fromAsync(logging(reading).getStateHistory(config));
  expect(states).toHaveLength(25);
  expect(states[0]?.values).toMatchObject({ file: "file 4" });
  expect(states[0]?.values.log).toHaveLength(15);
  expect(states.find(({ values }) => values.log?.length === 4)?.values.file).toBe("file 1");
  // A page of checkpoints and one of writes, and not one or more for each checkpoint.
  expect(requests.length).toBeLessThan(15);
});

test("a thread forks from its past, with the values of that time", async () => {
  const config = { configurable: { thread_id: "fork" } };
  const graph = logging(saver);
  await graph.invoke({ file: "a" }, config);
  const states = await Array.fromAsync(graph.getStateHistory(config));
  const past = states.find(({ next }) => next[0] === "two");
  const forked = await graph.updateState(past?.config ?? {}, { file: "b" });
  // Another process does not know where values are.
  const again = await logging(new SensoriumSaver(agent.client)).invoke(null, forked);
  expect(again).toEqual({ file: "b", log: ["one", "two", "three"] });
  const first = await graph.getState(states[0]?.config ?? {});
  expect(first.values).toEqual({ file: "a", log: ["one", "two", "three"] });
});

test("checkpoints that are saved at the end alone have all values", async () => {
  const config = { configurable: { thread_id: "exit" } };
  await logging(saver).invoke({ file: "a" }, { ...config, durability: "exit" });
  await logging(saver).invoke({ log: ["more"] }, { ...config, durability: "exit" });
  const { values } = await logging(new SensoriumSaver(agent.client)).getState(config);
  expect(values).toEqual({ file: "a", log: ["one", "two", "three", "more", "one", "two", "three"] });
});

test("a run that goes on after its thread was deleted saves all of its values", async () => {
  const config = { configurable: { thread_id: "gone" } };
  const checkpoint = (n: number) => ({
    ...emptyCheckpoint(),
    id: uuid6(n),
    channel_values: { file: "a", n },
    channel_versions: { file: 1, n },
  });
  const first = await saver.put(config, checkpoint(1), loop, { file: 1, n: 1 });
  await saver.deleteThread("gone");
  await saver.put(first, checkpoint(2), loop, { n: 2 });
  expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual({ file: "a", n: 2 });
});

test("subgraphs have separate checkpoints, in names of any length", async () => {
  const inner = new StateGraph(State)
    .addNode("ask", () => ({ log: [interrupt("go on?") as string] }))
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile();
  const name = "inner".repeat(50);
  const graph = new StateGraph(State)
    .addNode(name, inner)
    .addEdge(START, name)
    .addEdge(name, END)
    .compile({ checkpointer: saver });
  const config = { configurable: { thread_id: "nested" } };
  await graph.invoke({ file: "a" }, config);
  const { tasks } = await graph.getState(config, { subgraphs: true });
  expect(tasks[0]?.state).toMatchObject({ values: { file: "a" }, next: ["ask"] });
  const namespaces = new Set<string>();
  for await (const { config } of saver.list({ configurable: { thread_id: "nested" } }))
    namespaces.add(config.configurable?.checkpoint_ns);
  expect([...namespaces].map((ns) => ns.split(":")[0]).sort()).toEqual(["", name]);
});

test("processes that run the same task at the same time lose no write, and none replaces another", async () => {
  const config = { configurable: { thread_id: "race" } };
  const at = await saver.put(config, { ...emptyCheckpoint(), id: uuid6(1) }, loop, {});
  const savers = Array.from({ length: 8 }, () => new SensoriumSaver(agent.client));
  await Promise.all(
    savers.map((each, n) =>
      each.putWrites(
        at,
        Array.from({ length: n + 1 }, (_, index) => ["log", `${n}/${index}`]),
        "same",
      ),
    ),
  );
  await Promise.all(savers.map((each, n) => each.putWrites(at, [["log", n]], `own-${n}`)));
  const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
  expect(writes.filter(([task]) => task === "same")).toHaveLength(8);
  expect(writes.filter(([task]) => task.startsWith("own-"))).toHaveLength(8);
  const before = writes.find(([task]) => task === "same");
  await saver.putWrites(
    at,
    [
      ["log", "late"],
      [ERROR, "first"],
      [INTERRUPT, "asks"],
    ],
    "same",
  );
  await saver.putWrites(at, [[ERROR, "second"]], "same");
  const after = ((await saver.getTuple(config))?.pendingWrites ?? []).filter(([task]) => task === "same");
  expect(after).toEqual(
    expect.arrayContaining([before, ["same", ERROR, "second"], ["same", INTERRUPT, "asks"]]),
  );
  expect(after).toHaveLength(10);
});

test("what another program wrote is refused, not misread", async () => {
  const config = { configurable: { thread_id: "mixed" } };
  await agent.client.state.put({
    namespace: "langgraph.js.mixed",
    key: "c//1ef",
    value: "{}",
    metadata: { format: "langgraph-python/1", checkpoint_ns: "" },
  });
  await expect(saver.getTuple(config)).rejects.toThrow(
    /format langgraph-python\/1, expected langgraph-js\/1/,
  );
  // A thread of the same name in Python is another one.
  await agent.client.state.put({ namespace: "langgraph.python.same", key: "c//1ef", value: "{}" });
  expect(await saver.getTuple({ configurable: { thread_id: "same" } })).toBeUndefined();
});

test("a thread is deleted, or erased with the person that it is about", async () => {
  const graph = logging(saver);
  const about = (thread_id: string, subject: string) => ({ configurable: { thread_id, subject } });
  await graph.invoke({ file: "a" }, about("one", "ada"));
  await graph.invoke({ file: "b" }, about("two", "ada"));
  await graph.invoke({ file: "c" }, about("three", "bob"));
  const there = async (thread_id: string) =>
    (await saver.getTuple({ configurable: { thread_id } })) !== undefined;
  await saver.deleteThread("one");
  expect([await there("one"), await there("two")]).toEqual([false, true]);
  const { admin, tenant_slug } = server.credentials;
  const authorize = byLogin({ ...admin, tenant_slug });
  await createClient({ url: server.url, authorize }).memories.erase({ subject: "ada" });
  expect([await there("two"), await there("three")]).toEqual([false, true]);
  const { namespaces } = await agent.client.state.namespaces();
  expect(namespaces).toEqual(["langgraph.js.three"]);
});
