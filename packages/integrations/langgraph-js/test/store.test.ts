/** @needs frameworks */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { AsyncBatchedStore } from "@langchain/langgraph-checkpoint";
import { type ClientAgent, newClient, runProgram } from "../../../../test/support/integrations.ts";
import { settle } from "../../../../test/support/settle.ts";
import { useShared } from "../../../../test/support/use.ts";
import { SensoriumStore } from "../src/index.ts";

const server = await useShared("local");
let agent: ClientAgent;
let store: SensoriumStore;
beforeEach(async () => {
  agent = await newClient(server);
  store = new SensoriumStore(agent.client);
});

const keysOf = (items: { key: string }[]) => items.map(({ key }) => key);

test("puts, gets and deletes", async () => {
  const value = { text: "green tea", n: 1, nested: { list: [1, null, { a: "b" }] } };
  await store.put(["people", "ada"], "drink", value);
  const item = await store.get(["people", "ada"], "drink");
  expect(item).toEqual({
    value,
    key: "drink",
    namespace: ["people", "ada"],
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
  });
  await store.put(["people", "ada"], "drink", { text: "coffee" });
  const again = await store.get(["people", "ada"], "drink");
  expect([again?.value, again?.createdAt]).toEqual([{ text: "coffee" }, item?.createdAt]);
  await store.delete(["people", "ada"], "drink");
  await store.delete(["people", "ada"], "drink");
  expect(await store.get(["people", "ada"], "drink")).toBeNull();
});

test("keeps odd names, and writes namespaces as the store for Python does", async () => {
  await store.put(["a/b", "50% ü", "%2F\n"], "key/with %2F", { n: 1 });
  expect((await store.get(["a/b", "50% ü", "%2F\n"], "key/with %2F"))?.value).toEqual({ n: 1 });
  expect(await store.listNamespaces()).toEqual([["a/b", "50% ü", "%2F\n"]]);
  // urllib.parse.quote of the odd characters alone.
  expect((await agent.client.memories.namespaces()).namespaces).toEqual(["a%2Fb.50%25 ü.%252F%0A"]);
});

describe("search", () => {
  beforeEach(async () => {
    for (let n = 0; n < 12; n++)
      await store.put(["docs", n % 2 ? "odd" : "even"], `doc-${n}`, { text: `Page ${n}`, n, kind: "page" });
    const text = "Green tea is brewed at seventy degrees";
    await store.put(["docs", "odd"], "tea", {
      text,
      n: 50,
      kind: "recipe",
      of: { leaf: "green", parts: [1, 2] },
    });
  });

  test("lists by filter, in pages", async () => {
    expect((await store.search(["docs"], { limit: 50 })).length).toBe(13);
    const some = await store.search(["docs", "odd"], { filter: { n: { $gte: 5, $lt: 10 } } });
    expect(some.map(({ value }) => value.n).sort()).toEqual([5, 7, 9]);
    const one = async (filter: object) => keysOf(await store.search(["docs"], { filter }));
    expect(await one({ kind: "recipe" })).toEqual(["tea"]);
    expect(await one({ of: { leaf: "green" } })).toEqual(["tea"]);
    expect(await one({ of: { parts: [1, 2] } })).toEqual(["tea"]);
    expect(await one({ kind: { $ne: "page" }, n: { $gt: "4" } })).toEqual([]);
    const pages = await Promise.all([0, 5, 10].map((offset) => store.search(["docs"], { limit: 5, offset })));
    expect(new Set(keysOf(pages.flat())).size).toBe(13);
    await expect(store.search(["docs"], { filter: { n: { $near: 1 } } })).rejects.toThrow(
      "$near is no operator",
    );
  });

  test("ranks by words and meaning", async () => {
    const [best] = await store.search(["docs"], { query: "How hot is the water for tea?", limit: 3 });
    expect([best?.key, best?.score]).toEqual(["tea", expect.any(Number)]);
    const filter = { kind: "recipe" };
    expect(await store.search(["docs", "even"], { query: "seventy degrees", filter })).toEqual([]);
  });
});

test("finds what a filter names among many that match better", async () => {
  const put = (n: number) => store.put(["many"], `n${n}`, { text: "Green tea, green tea", n, kind: "tea" });
  await Promise.all(Array.from({ length: 60 }, (_, n) => put(n)));
  const rare = { text: "A note, with tea", n: 60, kind: "note", labels: ["old"] };
  await store.put(["many"], "rare", rare);
  const found = async (filter: object) => {
    const ranked = await store.search(["many"], { query: "green tea", filter });
    const listed = await store.search(["many"], { filter });
    expect(keysOf(listed)).toEqual(keysOf(ranked));
    return keysOf(ranked);
  };
  expect(await found({ kind: "note" })).toEqual(["rare"]);
  expect(await found({ kind: { $eq: "note" }, n: { $gte: 60, $lt: 61 }, "odd.name": undefined })).toEqual([
    "rare",
  ]);
  // A list is no text, and conditions that the service does not know still count.
  expect(await found({ n: 60, labels: "old" })).toEqual([]);
  expect(await found({ n: { $gte: 59 }, kind: { $ne: "tea" } })).toEqual(["rare"]);
  expect(await found({ n: { $gte: 59 }, kind: { $lt: "o" } })).toEqual(["rare"]);
});

test("search reads the fields that it is told", async () => {
  const value = {
    text: "The invoice is due in May",
    hidden: "walrus",
    parts: [{ name: "pump" }, { name: "valve" }],
  };
  await store.put(["index"], "some", value, ["text", "parts[*].name"]);
  await store.put(["index"], "none", { text: "walrus" }, false);
  const best = async (query: string) => keysOf(await store.search(["index"], { query }));
  expect((await best("When is the invoice due?"))[0]).toBe("some");
  expect(await best("valve")).toContain("some");
  expect(await best("walrus")).not.toContain("some");
});

test("lists namespaces", async () => {
  for (const namespace of [["a"], ["a", "b"], ["a", "b", "c"], ["x", "b"], ["x", "b", "v1"]])
    await store.put(namespace, "k", { n: 1 });
  expect(await store.listNamespaces({ prefix: ["a"] })).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
  const both = [
    ["a", "b"],
    ["x", "b"],
  ];
  expect(await store.listNamespaces({ suffix: ["b"] })).toEqual(both);
  expect(await store.listNamespaces({ prefix: ["*", "b"], maxDepth: 2 })).toEqual(both);
  const page = await store.listNamespaces({ limit: 2, offset: 1 });
  expect(page).toEqual([
    ["a", "b"],
    ["a", "b", "c"],
  ]);
});

test("a batch does its operations in order, as does the one of a graph", async () => {
  const address = { namespace: ["batch"], key: "k" };
  const got = await store.batch([
    address,
    { ...address, value: { n: 1 } },
    address,
    { ...address, value: null },
    address,
  ]);
  expect(got.map((each) => each && (each as { value: unknown }).value)).toEqual([
    null,
    undefined,
    { n: 1 },
    undefined,
    null,
  ]);
  const batched = new AsyncBatchedStore(store);
  batched.start();
  try {
    await Promise.all(["a", "b", "c"].map((key) => batched.put(["many"], key, { key })));
    const items = await Promise.all(["a", "b", "c"].map((key) => batched.get(["many"], key)));
    expect(items.map((item) => item?.value.key)).toEqual(["a", "b", "c"]);
  } finally {
    await batched.stop();
  }
});

test("other agents do not see the items", async () => {
  await store.put(["private"], "k", { n: 1 });
  const other = new SensoriumStore((await newClient(server)).client);
  expect(await other.get(["private"], "k")).toBeNull();
  expect(await other.search([])).toEqual([]);
  expect(await other.listNamespaces()).toEqual([]);
});

test("the example", async () => {
  const example = "packages/integrations/langgraph-js/examples/remembers.ts";
  await settle(async () =>
    (await runProgram(example, agent)).includes("Ada drinks green tea in the morning"),
  );
});
