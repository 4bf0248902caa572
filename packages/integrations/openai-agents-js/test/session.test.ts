/** @needs frameworks */
import { beforeEach, expect, test } from "@jest/globals";
import { Agent, type AgentInputItem, run, setTracingDisabled, tool, user } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { byLogin, createClient } from "../../../../packages/client/index.ts";
import { type ClientAgent, newClient, runProgram } from "../../../../test/support/integrations.ts";
import { useShared } from "../../../../test/support/use.ts";
import { SensoriumSession } from "../src/index.ts";

const server = await useShared("local");
let account: ClientAgent;
setTracingDisabled(true);
beforeEach(async () => {
  account = await newClient(server);
});

const open = (sessionId = "chat", from = account) => new SensoriumSession(from.client, { sessionId });
const said = (items: unknown) => JSON.stringify(items);
const texts = (items: AgentInputItem[]) =>
  items.map((item) => (item as { content: { text: string }[] }).content[0]?.text);

test("keeps items in order, gives the latest, and takes the last one back", async () => {
  const session = open();
  expect([await session.getItems(), await session.popItem()]).toEqual([[], undefined]);
  await session.addItems([user("one"), user("two")]);
  await session.addItems([]);
  await session.addItems([user("three")]);
  expect(texts(await open().getItems())).toEqual(["one", "two", "three"]);
  expect(texts(await session.getItems(2))).toEqual(["two", "three"]);
  expect(await session.getItems(0)).toEqual([]);
  expect(await session.popItem()).toEqual(user("three"));
  expect(await open().popItem()).toEqual(user("two"));
  await session.addItems([user("four")]);
  expect(texts(await session.getItems())).toEqual(["one", "four"]);
  await session.clearSession();
  await session.addItems([user("five")]);
  expect(texts(await open().getItems())).toEqual(["five"]);
});

test("two processes keep their order, also after one of them cleared the session", async () => {
  const [one, two] = [open(), open()];
  for (const text of ["a", "b", "c"]) await one.addItems([user(text)]);
  await two.clearSession();
  for (const [session, text] of [
    [two, "1"],
    [one, "2"],
    [two, "3"],
    [one, "4"],
  ] as const)
    await session.addItems([user(text)]);
  expect(texts(await open().getItems())).toEqual(["1", "2", "3", "4"]);
});

test("sessions have ids of any form, and are apart, also from those of other agents", async () => {
  const odd = open("a/b.c %\n");
  await odd.addItems([user("odd")]);
  expect([await odd.getSessionId(), texts(await open("a/b.c %\n").getItems())]).toEqual([
    "a/b.c %\n",
    ["odd"],
  ]);
  expect(await open("a").getItems()).toEqual([]);
  expect(await open("a/b.c %\n", await newClient(server)).getItems()).toEqual([]);
  const [one, two] = [new SensoriumSession(account.client), new SensoriumSession(account.client)];
  expect(await one.getSessionId()).not.toBe(await two.getSessionId());
});

test("large items, bytes and long conversations come back as they were", async () => {
  const session = open();
  const image: AgentInputItem = {
    type: "function_call_result",
    name: "draw",
    callId: "1",
    status: "completed",
    output: { type: "image", image: { data: new Uint8Array([0, 255, 10]), mediaType: "image/png" } },
  };
  const large = user("🍵".repeat(1_500_000));
  await session.addItems([image, large]);
  for (let n = 0; n < 150; n++) await session.addItems([user(`message ${n}`)]);
  const items = await open().getItems();
  expect(items.slice(0, 2)).toEqual([image, large]);
  expect(items).toHaveLength(152);
  expect(texts(await open().getItems(120))).toEqual(
    Array.from({ length: 120 }, (_, n) => `message ${n + 30}`),
  );
});

test("processes that write at the same time lose no item, and each batch stays together", async () => {
  await Promise.all(
    Array.from({ length: 10 }, async (_, writer) => {
      const session = open();
      for (let n = 0; n < 5; n++)
        await session.addItems([user(`${writer}/${n}/a`), user(`${writer}/${n}/b`)]);
    }),
  );
  const all = texts(await open().getItems());
  expect(new Set(all).size).toBe(100);
  for (let at = 0; at < all.length; at += 2) expect(all[at + 1]).toBe(all[at]?.replace("/a", "/b"));
  const popped = await Promise.all(Array.from({ length: 30 }, () => open().popItem()));
  expect(new Set(popped.map(said)).size).toBe(30);
  expect(await open().getItems()).toHaveLength(70);
});

test("an agent continues a conversation that another process began", async () => {
  const weigh = tool({
    name: "weigh",
    description: "Weighs a parcel.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    strict: false,
    execute: () => "31 kg",
  });
  const first = new ScriptedModel([
    [functionCall("weigh", {}, { callId: "1" })],
    [assistantMessage("31 kg.")],
  ]);
  await run(new Agent({ name: "Scales", model: first, tools: [weigh] }), "Weigh it.", { session: open() });
  const second = new ScriptedModel([[assistantMessage("You asked for its weight.")]]);
  const { finalOutput } = await run(
    new Agent({ name: "Scales", model: second, tools: [weigh] }),
    "What did I ask?",
    { session: open() },
  );
  expect(finalOutput).toBe("You asked for its weight.");
  const input = second.firstCall?.request.input as AgentInputItem[];
  expect(input.map((item) => ("role" in item ? item.role : item.type))).toEqual([
    "user",
    "function_call",
    "function_call_result",
    "assistant",
    "user",
  ]);
  expect(said(input)).toContain("31 kg");
  expect(await open().getItems()).toHaveLength(6);
});

test("what another program wrote is refused, not misread", async () => {
  const entry = { namespace: "openai-agents.js.chat", key: "000000000001", value: "[]" };
  await account.client.state.put({ ...entry, metadata: { format: "openai-agents-python/1" } });
  await expect(open().getItems()).rejects.toThrow(
    /format openai-agents-python\/1, expected openai-agents-js\/1/,
  );
});

test("a session is erased with the person that it is with", async () => {
  for (const subject of ["ada", "bob"]) {
    const session = new SensoriumSession(account.client, { sessionId: subject, subject });
    await session.addItems([user("Hello")]);
  }
  const { admin, tenant_slug } = server.credentials;
  const person = createClient({ url: server.url, authorize: byLogin({ ...admin, tenant_slug }) });
  await person.memories.erase({ subject: "ada" });
  expect([await open("ada").getItems(), texts(await open("bob").getItems())]).toEqual([[], ["Hello"]]);
});

test("the example", async () => {
  const example = "packages/integrations/openai-agents-js/examples/remembers.ts";
  expect(await runProgram(example, account)).toBe("It is 1 message long.\n");
  expect(await runProgram(example, account)).toBe("It is 3 messages long.\n");
});
