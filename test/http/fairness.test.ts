import { expect, test } from "@jest/globals";
import { receive } from "../support/agents.ts";
import { useGround } from "../support/deliveries.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import type { Answer, Api } from "../support/http.ts";
import { memory, remember } from "../support/memories.ts";
import { atEnd } from "../support/own-folder.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openStream } from "../support/stream.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { use } from "../support/use.ts";

const BACKLOG = 5_000;
const BATCH = 100;
const EVENTS = 40;
/** Far more than it takes, far less than waiting for the backlog, a lease or a push time-out would be: ms. */
const SOON = 10_000;
/** Scales with the time to publish half of the backlog, for slow machines. */
const HALVES = 4;
const BATCH_TYPE = { "content-type": "application/cloudevents-batch+json" };

const nested = (depth: number): string =>
  depth === 0 ? "data.list.size() > 0" : `data.list.all(x${depth}, ${nested(depth - 1)})`;
/** Without a bound each of these would take longer than the test. */
const HOSTILE = {
  nested: nested(12),
  long: Array.from({ length: 45 }, (_, i) => `data.text == "${i}"`).join(" || "),
  catastrophic:
    'data.text.matches("^(a+)+$") || data.text.matches("^(a|a)*b$") || data.text.matches("(.*a){20}c")',
  wide: "data.list.map(x, data.list.map(y, data.list.map(z, x + y + z))).size() > 0",
};
const release: (() => void)[] = [];

const ground = await useGround({ env: { PUSH_ALLOW_PRIVATE: "true", OPERATOR_TOKEN } });
const [dead, slow, good] = [await startEndpoint(), use(await startEndpoint()), use(await startEndpoint())];
await dead.stop();
const backlog = { interests: ["com.example.backlog"] };
const loaded = await newReceiver(ground.server, ground.admin, "loaded", backlog);
slow.answer((_, res) => release.push(() => res.writeHead(204).end()));
atEnd(() => {
  for (const answer of release) answer();
});

function event(id: string, type: string) {
  const data = { text: `${"a".repeat(2000)}!`, list: Array.from({ length: 200 }, (_, i) => i) };
  return { specversion: "1.0", id, type, source: "urn:fair", data };
}

async function publish(name: string, type: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - at) }, (_, i) =>
      type === "com.example.backlog"
        ? { specversion: "1.0", id: `${name}-${at + i}`, type, source: "urn:fair" }
        : event(`${name}-${at + i}`, type),
    );
    ok(await ground.admin.post("/events", events, BATCH_TYPE));
  }
}

function push(name: string, { url }: Endpoint): Promise<Receiver> {
  const agent = { delivery_mode: "push", delivery_endpoint: url };
  return newReceiver(ground.server, ground.admin, name, { agent, interests: ["com.example.fair"] });
}

/** Ids of the events that an agent gets by long-poll, added as they come, until `done`. */
async function pollInto(ids: Set<string>, { api }: Receiver, done: () => boolean): Promise<void> {
  while (!done()) for (const { payload } of await receive(api, 0)) ids.add(payload.id);
}

async function streamInto(ids: Set<string>, receiver: Receiver, done: () => boolean): Promise<void> {
  const stream = await openStream(`${ground.server.url}/delivery/stream`, receiver.token);
  for await (const messages of stream.chunks) {
    const deliveries = messages.filter((message) => message.event === "delivery").map(({ data }) => data);
    for (const { payload } of deliveries) ids.add(payload.id);
    const delivery_ids = deliveries.map(({ id }) => id);
    if (delivery_ids.length) ok(await receiver.api.post("/delivery/ack", { delivery_ids }));
    if (done()) return stream.close();
  }
}

test("the others get theirs soon, and nothing is lost", async () => {
  const { server, admin } = ground;
  const attacker = await newReceiver(server, admin, "attacker");
  for (const filter_expression of Object.values(HOSTILE)) {
    const interest = { event_type: "com.example.fair", filter_expression };
    // Refusing it at once is as good as bounding it later.
    const { status } = await attacker.api.post(`/agents/${attacker.id}/interests`, interest);
    expect([201, 400]).toContain(status);
  }
  const [stuck, late] = await Promise.all([push("dead", dead), push("slow", slow), push("good", good)]);
  const polling = await newReceiver(server, admin, "polling", { interests: ["com.example.fair"] });
  const streaming = await newReceiver(server, admin, "streaming", { interests: ["com.example.fair"] });
  const [polled, streamed] = [new Set<string>(), new Set<string>()];
  const all = (ids: Set<string>) => () => ids.size === EVENTS;

  const calls = [pollInto(polled, polling, all(polled)), streamInto(streamed, streaming, all(streamed))];
  const receiving = Promise.all(calls);
  const half = BACKLOG / 2;
  const began = performance.now();
  await publish("before", "com.example.backlog", half);
  const took = performance.now() - began;
  // The rest of the backlog comes at the same time.
  const rest = publish("during", "com.example.backlog", half);
  await publish("fair", "com.example.fair", EVENTS);
  const pushed = () => new Set(good.pushed.map(({ body }) => JSON.parse(body).id));
  const fields = { within: Math.max(SOON, HALVES * took), what: `${EVENTS} events by poll, stream and push` };
  await settle(() => polled.size === EVENTS && streamed.size === EVENTS && pushed().size === EVENTS, fields);
  await Promise.all([receiving, rest]);

  const pendingOf = async (receiver: Receiver) => ok(await receiver.api.get("/delivery/stats")).pending;
  await settle(async () => (await pendingOf(loaded)) === BACKLOG);
  expect(await pendingOf(stuck)).toBe(EVENTS);
  expect(await pendingOf(late)).toBeLessThanOrEqual(EVENTS);
  for (const receiver of [polling, streaming]) await settle(async () => (await pendingOf(receiver)) === 0);
  expect((await admin.get("/delivery/dlq")).body.count).toBe(0);
});

// Order is best effort: batches that are fanned out at once may change places.
test("the backlog itself is given out oldest first, about", async () => {
  const { deliveries } = ok(await loaded.api.get("/delivery/poll"));
  expect(deliveries).toHaveLength(100);
  for (const { payload } of deliveries) {
    expect(payload.id).toMatch(/^before-\d+$/);
    expect(Number(payload.id.slice("before-".length))).toBeLessThan(1000);
  }
});

const BATCHES = 5;
const MEMORIES = 500;
const READS = 120;

const [crowded, calm] = await Promise.all([
  makeWorld(ground.server, "crowded"),
  makeWorld(ground.server, "calm"),
]);
for (let batch = 0; batch < BATCHES; batch++) {
  const memories = Array.from({ length: MEMORIES }, (_, i) => memory({ content: `crowd ${batch} ${i}` }));
  ok(await crowded.agent.post("/memories/batch", { memories }));
}
await remember(calm.agent);

test("reads continue despite any number of costly ones of another tenant and a colleague", async () => {
  const answers: Answer[] = [];
  const done = () => answers.filter(({ status }) => status === 200).length;
  const ask = async () => {
    answers.push(await crowded.admin.post("/memories/erase", { agent_id: crowded.agentId, dry_run: true }));
  };
  const all = Array.from({ length: READS }, ask);
  const others: [Api, string][] = [
    [calm.agent, "/memories/health"],
    [calm.agent, "/memories"],
    [calm.admin, "/delivery/stats"],
    [crowded.agent, "/memories?limit=1"],
  ];
  await Promise.all(
    others.map(async ([by, path]) => expect(await by.get(path)).toMatchObject({ status: 200 })),
  );
  // Most of them still wait.
  expect(done()).toBeLessThan(READS / 2);
  await Promise.all(all);
  // One after the other: those that could not begin in time are to be repeated.
  expect(done()).toBeGreaterThan(0);
  for (const { status, body } of answers)
    if (status !== 200) expect(body.error).toMatchObject({ details: { retry_after_seconds: 1 } });
});
