import { expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, receive } from "../support/agents.ts";
import { connectMcp } from "../support/mcp.ts";
import { memory, remember } from "../support/memories.ts";
import { ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

/** Half a character: what is left of "😀" where somebody cut a text in the middle of it. */
const HALF = "so glad \ud83d";

const server = await useShared();
const agent = await firstAgent(server);

const MANY = Array.from({ length: 60 }, () => memory({ content: "x".repeat(10_000) }));

test.each<[string, string, object, string]>([
  ["a field", "/memories", memory({ title: HALF }), "title"],
  ["free fields", "/memories", memory({ metadata: { notes: ["whole", { a: HALF }] } }), "metadata.notes.1.a"],
  ["a key", "/memories", memory({ metadata: { [HALF]: 1 } }), "metadata"],
  ["a list", "/memories/batch", { memories: [memory(), memory({ content: HALF })] }, "memories.1.content"],
  ["a long list", "/memories/batch", { memories: [...MANY, memory({ title: HALF })] }, "memories.60.title"],
  ["a long text", "/outputs", { body: `${"😀".repeat(50_000)}${HALF}` }, "body"],
  ["a field next to one", "/outputs", { title: HALF, body: "# A" }, "title"],
  ["a query", "/memories/search", { query: HALF }, "query"],
  ["a payload", "/handoffs", { name: "half", payload: { next_action: HALF } }, "payload.next_action"],
])("in %s is refused, and nothing is kept", async (_, path, body, field) => {
  const totals = async () =>
    Promise.all(["/memories", "/outputs"].map(async (each) => ok(await agent.get(each)).total));
  const before = await totals();
  await refused(agent.post(path, body), "validation_failed", { field });
  expect(await totals()).toEqual(before);
});

test("in a tool's arguments is refused in the same words", async () => {
  await using mcp = await connectMcp(server, agent.token);
  const refused = await mcp.refused("memories_create", memory({ title: HALF }));
  expect(refused).toMatchObject({ code: "validation_failed", details: { field: "title" } });
});

test("in an event's data is the publisher's, and arrives as it was sent", async () => {
  ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.half" }));
  const event = cloudEvent("half", { type: "com.half", data: { said: HALF } });
  ok(await agent.post("/events", event));
  const [{ payload }] = await receive(agent, 1);
  expect(payload).toEqual(event);
});

test("written as two escapes a whole one is kept", async () => {
  const whole = await remember(agent, { title: "whole" });
  const body = String.raw`{"title": "glad \ud83d\ude00", "content": "\uD83D\uDE00"}`;
  const answer = ok(await agent.patch(`/memories/${whole.id}`, body, { "content-type": "application/json" }));
  expect(answer).toMatchObject({ title: "glad 😀", content: "😀" });
});

test("no error quotes half of one, wherever it cuts a long text", async () => {
  const long = `x${"😀".repeat(150)}`;
  const { id } = await remember(agent);
  for (const answer of [
    await agent.post("/handoffs/resume", { query: long }),
    await agent.post(`/memories/${id}/relationships`, { target_memory_id: id, relationship_type: long }),
    await agent.get(`/memories?cursor=${encodeURIComponent(long)}`),
  ]) {
    const { message, details } = answer.body.error;
    for (const quoted of [message, ...Object.values(details)].filter((each) => typeof each === "string"))
      expect(quoted.isWellFormed()).toBe(true);
  }
});
