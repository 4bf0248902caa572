/** @needs frameworks */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Agent, type AgentInputItem, setTracingDisabled, tool, user } from "@openai/agents-core";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import type { CloudEvent, Listener } from "../../../../packages/client/index.ts";
import { type ClientAgent, newClient, withoutAcknowledging } from "../../../../test/support/integrations.ts";
import { settle } from "../../../../test/support/settle.ts";
import { useShared } from "../../../../test/support/use.ts";
import { type RunOnEventsOptions, runOnEvents, SensoriumSession } from "../src/index.ts";

const server = await useShared("local");
let account: ClientAgent;
let listeners: Listener[];
let problems: string[];
setTracingDisabled(true);
beforeEach(async () => {
  [listeners, problems] = [[], []];
  account = await newClient(server);
  const { agent: me } = await account.client.auth.me();
  const interest = { event_type: "com.example.order.*", ordering_key: "subject", retry_delays_seconds: [1] };
  await account.client.interests.create({ agent_id: String(me?.id), ...interest });
});
afterEach(() => Promise.all(listeners.map((each) => each.stop())));

function start(agent: Agent, { client = account.client, ...options }: Partial<RunOnEventsOptions> = {}) {
  const onProblem = (problem: unknown) => problems.push((problem as Error).message);
  const listener = runOnEvents({ client, agent, onProblem, ...options });
  listeners.push(listener);
  return listener;
}

let count = 0;
const publish = (name: string, attributes: Partial<CloudEvent> = { subject: "order-1" }) =>
  account.client.publish({
    id: `order-${server.url}-${++count}`,
    type: `com.example.order.${name}`,
    source: "https://shop.example.com",
    ...attributes,
  });
const pending = (number: number) =>
  settle(async () => (await account.client.deliveries.stats()).pending === number);
const itemsOf = (sessionId = "order-1") => new SensoriumSession(account.client, { sessionId }).getItems();
const rolesOf = (items: AgentInputItem[]) => items.map((item) => ("role" in item ? item.role : item.type));

/** Says how many messages it has read. */
const counting = () =>
  new ScriptedModel(
    Array.from({ length: 10 }, () =>
      modelResponder(({ request: { input } }) => [
        assistantMessage(`${typeof input === "string" ? 1 : input.length}`),
      ]),
    ),
  );

test("events run the agent in their sessions, one after the other", async () => {
  for (const name of ["placed", "paid"])
    for (const subject of ["order-1", "order-2"]) await publish(name, { subject });
  await publish("placed", { correlationid: "order-3", data: "x".repeat(50_000) });
  await publish("placed", {});
  await publish("placed", { subject: "o".repeat(600) });
  await pending(7);
  const agent = new Agent({ name: "Clerk", model: counting() });
  start(agent, { concurrency: 2, runOptions: { maxTurns: 1 } });
  await pending(0);
  for (const id of ["order-1", "order-2"]) {
    const items = await itemsOf(id);
    expect(rolesOf(items)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(JSON.stringify(items)).toMatch(/not instructions.*order\.placed.*"1".*order\.paid.*"3"/);
  }
  const [long, ...others] = (await itemsOf("order-3")).map((item) => JSON.stringify(item));
  expect([long?.length, others]).toEqual([expect.closeTo(40_500, -3), [expect.any(String)]]);
  expect(long).toMatch(/of 50,\d+ characters, 40,000 are above.* events_get with event_id \\"evt_/);
  const { items } = await account.client.deliveries.deadLetters();
  const reasons = items.map(({ dlq_reason, attempt_count }) => `${attempt_count} ${dlq_reason}`).sort();
  expect(reasons).toEqual([
    expect.stringMatching(/^1 .*no session/),
    expect.stringMatching(/^1 .*sessionId: expected 1 to 483 characters/),
  ]);
});

test("an event whose acknowledgement was lost does not run again", async () => {
  const { client, lost } = withoutAcknowledging(account);
  const model = counting();
  const agent = new Agent({ name: "Clerk", model });
  await publish("placed");
  const crashed = start(agent, { client });
  await settle(() => lost.length > 0);
  await crashed.stop(0);
  // Another program talks in the session meanwhile.
  await new SensoriumSession(account.client, { sessionId: "order-1" }).addItems([user("Hello")]);
  start(agent);
  await pending(0);
  expect(rolesOf(await itemsOf())).toEqual(["user", "assistant", "user"]);
  expect(model.calls).toHaveLength(1);
});

test("a run that fails leaves nothing in the session, and its event is redelivered", async () => {
  let failures = 1;
  const weigh = tool({
    name: "weigh",
    description: "Weighs the parcel.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    strict: false,
    errorFunction: null,
    execute: () => {
      if (failures-- > 0) throw new Error("the scales are off");
      return "31 kg";
    },
  });
  const call = () => [functionCall("weigh", {}, { callId: "1" })];
  const model = new ScriptedModel([call(), call(), [assistantMessage("31 kg.")]]);
  await publish("placed", { data: { order: "7" }, subject: "ignored" });
  start(new Agent({ name: "Scales", model, tools: [weigh] }), {
    sessionOf: ({ data }) => (data as { order: string }).order,
    inputOf: ({ type }) => [user(`Handle ${type}`)],
  });
  await settle(() => problems.length > 0);
  expect(await itemsOf("7")).toEqual([]);
  await settle(async () => (await itemsOf("7")).length > 0);
  expect(rolesOf(await itemsOf("7"))).toEqual(["user", "function_call", "function_call_result", "assistant"]);
  expect(problems).toEqual([expect.stringContaining("the scales are off")]);
});

test("an event whose run waits for an approval is a dead letter", async () => {
  const refund = tool({
    name: "refund",
    description: "Refunds the order.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    strict: false,
    needsApproval: true,
    execute: () => "refunded",
  });
  const model = new ScriptedModel([[functionCall("refund", {}, { callId: "1" })]]);
  await publish("returned");
  start(new Agent({ name: "Clerk", model, tools: [refund] }));
  const [letter] = await settle(async () => {
    const { items } = await account.client.deliveries.deadLetters();
    return items.length > 0 && items;
  });
  expect(letter?.dlq_reason).toContain("an approval of refund");
  expect(await itemsOf()).toEqual([]);
});
