import { describe, expect, test } from "@jest/globals";
import { pollMany, pollNow, useGround } from "../support/deliveries.ts";
import type { Answer, Json } from "../support/http.ts";
import { newReceiver, type Receiver, type ReceiverOptions } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";

const ground = await useGround();

const BATCH = { "content-type": "application/cloudevents-batch+json" };
const EVER = { from: "2020-01-01T00:00:00.000Z" };
const FAST = { ...EVER, per_minute: 30_000 };

const receiver = (name: string, options: ReceiverOptions = {}) =>
  newReceiver(ground.server, ground.admin, name, options);
const place = ({ id }: Receiver) => `/agents/${id}/replays`;
const count = async (of: Receiver, wanted: object = EVER) =>
  ok(await ground.admin.post(`${place(of)}:count`, wanted));
const start = async (of: Receiver, wanted: object = FAST) => ok(await ground.admin.post(place(of), wanted));
const read = async (of: Receiver, id: string) => ok(await ground.admin.get(`${place(of)}/${id}`));
const becomes = (of: Receiver, id: string, state: string) =>
  settle(async () => {
    const replay = await read(of, id);
    return replay.state === state && replay;
  });
const refuses = async (asked: Promise<Answer>, status: number, code: string) =>
  expect(await asked).toMatchObject(refusal(status, code));
/** Starts a replay, and resolves when it has ended. */
const play = async (of: Receiver, wanted: object = FAST) =>
  becomes(of, (await start(of, wanted)).id, "completed");

/** Publishes events in batches; returns their ids, in order. */
async function publishMany(type: string, many: number, data: (n: number) => object = (n) => ({ n })) {
  const ids: string[] = [];
  while (ids.length < many) {
    const from = ids.length;
    const events = Array.from({ length: Math.min(100, many - from) }, (_, i) => ({
      ...{ specversion: "1.0", type, source: "urn:test", id: `${type}-${from + i}`, data: data(from + i) },
    }));
    const answers = ok(await ground.admin.post("/events", events, BATCH));
    ids.push(...answers.map((each: { event_id: string }) => each.event_id));
  }
  await settle(async () => ok(await ground.admin.get(`/events/${ids.at(-1)}`)).state === "matched");
  return ids;
}

/** Polls and acknowledges until it has so many and nothing is left; returns the deliveries in order of arrival. */
async function drain({ api }: Receiver, least = 0) {
  const all: Json[] = [];
  for (;;) {
    const found = await pollNow(api, "wait=1");
    if (found.length === 0 && all.length >= least) return all;
    all.push(...found);
    ok(await api.post("/delivery/ack", { delivery_ids: found.map(({ id }) => id) }));
  }
}
const eventsOf = (deliveries: { event_id: string }[]) => deliveries.map(({ event_id }) => event_id);

describe("a replay of history", () => {
  test("gives a new agent what matches, in order, as many as were counted, while new events go on", async () => {
    const ids = await publishMany("com.past.order", 120);
    await publishMany("com.past.other", 20);
    const listener = await receiver("new", { interests: ["com.past.order"] });
    expect(await count(listener)).toMatchObject({ matched: 120, deliverable: 120, more: false });
    const started = await start(listener);
    expect(started).toMatchObject({ state: "running", interest_id: null, again: false, per_minute: 30_000 });
    const fresh = await ground.publish("com.past.order");
    const ended = await becomes(listener, started.id, "completed");
    expect(ended).toMatchObject({ matched: 120, delivered: 120, waiting_for: null, error: null });
    expect(Date.parse(ended.reached)).toBeLessThanOrEqual(Date.parse(ended.until));
    const given = await drain(listener, 121);
    const replayed = given.filter(({ replay_id }) => replay_id === started.id);
    expect(eventsOf(replayed)).toEqual(ids);
    expect(given.filter(({ replay_id }) => replay_id === undefined).map((each) => each.event_id)).toEqual([
      fresh,
    ]);
    expect(replayed[0].matched).toEqual({ interest_ids: listener.interest_ids, feed_ids: [] });
    // Nothing is given again.
    expect(await count(listener)).toMatchObject({ matched: 121, deliverable: 0 });
    expect(await play(listener)).toMatchObject({ matched: 121, delivered: 0 });
    expect(await drain(listener)).toEqual([]);
  });

  test("is limited to an interest, its filter and a range; feeds count as interests do", async () => {
    const ids = await publishMany("com.range.order", 10);
    const filtered = { event_type: "com.range.*", filter_expression: "data.n % 2 == 0", priority: 3 };
    const listener = await receiver("ranged", { interests: [filtered, "com.range.order"] });
    const [interest_id] = listener.interest_ids;
    expect(await count(listener, { ...EVER, interest_id })).toMatchObject({ deliverable: 5 });
    const from_event = ids[2] as string;
    const { accepted_at: until } = ok(await ground.admin.get(`/events/${ids[9]}`));
    const wanted = { from_event, until, interest_id, per_minute: 30_000 };
    expect(await play(listener, wanted)).toMatchObject({ delivered: 4, from: null, from_event, until });
    const given = await drain(listener);
    expect(eventsOf(given)).toEqual([ids[2], ids[4], ids[6], ids[8]]);
    expect(given[0].matched.interest_ids).toEqual([interest_id]);
    const member = await receiver("member", { scopes: ["receive", "channel:write"] });
    const channel = ok(await ground.admin.post("/channels", { name: "past" }));
    ok(await ground.admin.post(`/channels/${channel.id}/feeds`, { event_type_glob: "com.range.order" }));
    ok(await ground.admin.post(`/channels/${channel.id}/members`, { agent_id: member.id }));
    expect(await play(member)).toMatchObject({ delivered: 10 });
    expect((await drain(member))[0].matched.feed_ids).toHaveLength(1);
  });

  test("gives a reset agent again what it has settled, on request, and once for each replay", async () => {
    const type = "com.again.order";
    const listener = await receiver("reset", { interests: [type], agent: { retry_budget: 1 } });
    const ids = await publishMany(type, 6);
    const first = await pollMany(listener.api, 6);
    const settled = first.map(({ id }) => id);
    ok(await listener.api.post("/delivery/ack", { delivery_ids: settled.slice(0, 3) }));
    ok(await listener.api.post("/delivery/nack", { delivery_ids: settled.slice(3, 5), reason: "no" }));
    // One is in flight, two are dead letters.
    const wanted = { ...FAST, again: true };
    expect(await count(listener, { ...EVER, again: true })).toMatchObject({ matched: 6, deliverable: 5 });
    expect(await play(listener, wanted)).toMatchObject({ matched: 6, delivered: 5 });
    const again = await drain(listener);
    expect(eventsOf(again).toSorted()).toEqual(ids.slice(0, 5).toSorted());
    expect(again.every(({ attempt_count }) => attempt_count === 1)).toBe(true);
    expect(ok(await listener.api.get("/delivery/stats")).dead).toBe(0);
    ok(await listener.api.post("/delivery/ack", { delivery_ids: settled.slice(5) }));
    expect(await play(listener, wanted)).toMatchObject({ delivered: 6 });
    expect(await drain(listener)).toHaveLength(6);
  });

  test("keeps its rate; an agent has one at a time, which can be cancelled", async () => {
    await publishMany("com.slow.order", 30);
    const listener = await receiver("slow", { interests: ["com.slow.order"] });
    const { id } = await start(listener, { ...EVER, per_minute: 1 });
    const second = await ground.admin.post(place(listener), FAST);
    await refused(second, "conflict", { existing_resource_id: id });
    await settle(async () => (await read(listener, id)).delivered === 1);
    const cancelled = ok(await ground.admin.post(`${place(listener)}/${id}:cancel`, {}));
    expect(cancelled).toMatchObject({ state: "cancelled", delivered: 1, waiting_for: null });
    expect(ok(await ground.admin.post(`${place(listener)}/${id}:cancel`, {}))).toEqual(cancelled);
    expect(await drain(listener)).toHaveLength(1);
    // The rest is delivered by the next one.
    const next = await play(listener);
    expect(next).toMatchObject({ matched: 30, delivered: 29 });
    const page = ok(await listener.api.get(`${place(listener)}?limit=1`));
    expect(page.replays).toEqual([next]);
    expect(ok(await listener.api.get(`${place(listener)}?limit=1&cursor=${page.next}`))).toEqual({
      replays: [cancelled],
      next: null,
    });
    const { entries } = ok(await ground.admin.get("/audit?action=deliveries.start_replay"));
    expect(entries[0]).toMatchObject({ outcome: "done" });
  });

  test("waits while the agent has too many pending deliveries, or is inactive", async () => {
    await publishMany("com.full.order", 1600);
    const listener = await receiver("full", { interests: ["com.full.order"] });
    const { id } = await start(listener);
    await settle(async () => (await read(listener, id)).waiting_for === "pending");
    const { delivered } = await read(listener, id);
    expect(delivered).toBeGreaterThanOrEqual(1000);
    expect(delivered).toBeLessThan(1600);
    expect(await drain(listener, 1600)).toHaveLength(1600);
    expect(await becomes(listener, id, "completed")).toMatchObject({ matched: 1600, delivered: 1600 });
    const idle = await receiver("idle", { interests: ["com.full.order"] });
    ok(await ground.admin.patch(`/agents/${idle.id}/status`, { status: "inactive" }));
    const waiting = await start(idle);
    await settle(async () => (await read(idle, waiting.id)).waiting_for === "inactive");
    expect((await read(idle, waiting.id)).delivered).toBe(0);
    ok(await ground.admin.del(`/agents/${idle.id}`));
    await refuses(ground.admin.get(`${place(idle)}/${waiting.id}`), 404, "not_found");
  });

  test("fails when its interest is deleted", async () => {
    await publishMany("com.gone.order", 5);
    const listener = await receiver("gone", { interests: ["com.gone.order"] });
    const [interest_id] = listener.interest_ids;
    const { id } = await start(listener, { ...EVER, per_minute: 1, interest_id });
    ok(await ground.admin.del(`/agents/${listener.id}/interests/${interest_id}`));
    const failed = await becomes(listener, id, "failed");
    expect(failed.error).toContain(interest_id);
  });

  test("gives nobody an event that is for others", async () => {
    const author = await receiver("author", {
      interests: ["service.memory.*"],
      scopes: ["receive", "memory:write", "memory:read"],
    });
    const own = { content: "The code is 7.", scope: "agent" };
    ok(await author.api.post("/memories", { ...own, title: "Code", type: "semantic" }));
    const given = await drain(author, 1);
    expect(given.length).toBeGreaterThan(0);
    const other = await receiver("curious", { interests: ["service.memory.*"] });
    expect(await count(other)).toMatchObject({ matched: 0, deliverable: 0 });
    expect(await play(other)).toMatchObject({ matched: 0, delivered: 0 });
    expect(await play(author, { ...FAST, again: true })).toMatchObject({ delivered: given.length });
  });

  test("is read by its agent, and needs a range", async () => {
    const listener = await receiver("itself", { interests: ["com.past.order"] });
    const { id } = await start(listener, { ...EVER, per_minute: 1 });
    expect(ok(await listener.api.get(`${place(listener)}/${id}`)).id).toBe(id);
    const other = await receiver("stranger");
    await refuses(other.api.get(place(listener)), 403, "forbidden");
    for (const wanted of [
      {},
      { ...EVER, from_event: "evt_none" },
      { ...EVER, until: "2019-01-01T00:00:00Z" },
    ])
      await refuses(ground.admin.post(place(other), wanted), 400, "validation_error");
    await refuses(ground.admin.post(place(other), { from_event: "evt_none" }), 404, "not_found");
    await refuses(
      ground.admin.post(place(other), { ...EVER, interest_id: listener.interest_ids[0] }),
      404,
      "not_found",
    );
  });
});
