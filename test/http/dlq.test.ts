import { describe, expect, test } from "@jest/globals";
import { pollNow, pollSome, useGround } from "../support/deliveries.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ground = await useGround();

let names = 0;
/** Creates an agent whose deliveries are dead-lettered at the first nack, and an event type for it. */
async function mortal() {
  const type = `com.example.dlq${++names}`;
  const options = { interests: [type], agent: { retry_budget: 1 } };
  return { ...(await newReceiver(ground.server, ground.admin, type, options)), type };
}

/** Publishes events and lets the receiver refuse them. @returns the deliveries' ids, in the order they died */
async function die(receiver: Receiver & { type: string }, reason: string, count = 1): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    await ground.publish(receiver.type, { i });
    const [{ id }] = await pollSome(receiver.api);
    ok(await receiver.api.post("/delivery/nack", { delivery_ids: [id], reason }));
    ids.push(id);
  }
  return ids;
}

const deadOf = async (receiver: Receiver, query = "") => ok(await receiver.api.get(`/delivery/dlq${query}`));
const dead = (reason: string) => `max attempts exceeded (1): ${reason}`;

describe("the list", () => {
  test("has all of a dead letter, latest first, page by page", async () => {
    const receiver = await mortal();
    const ids = await die(receiver, "no", 5);
    const first = await deadOf(receiver, "?limit=2");
    expect(first).toMatchObject({ count: 2, next_cursor: expect.any(String) });
    expect(first.items[0]).toEqual({
      ...{ id: ids[4], event_id: expect.stringMatching(/^evt_/), agent_id: receiver.id },
      ...{ payload: expect.objectContaining({ type: receiver.type, data: { i: 4 } }), attempt_count: 1 },
      ...{ dlq_reason: dead("no"), created_at: expect.any(String), dead_lettered_at: expect.any(String) },
      source: "urn:test",
    });
    const second = await deadOf(receiver, `?limit=2&cursor=${first.next_cursor}`);
    const third = await deadOf(receiver, `?limit=2&cursor=${second.next_cursor}`);
    expect([...first.items, ...second.items, ...third.items].map(({ id }) => id)).toEqual(ids.toReversed());
    expect(third).toMatchObject({ count: 1, next_cursor: null });
  });

  test("is the tenant's for an admin, and an agent's own for that", async () => {
    const [one, two] = [await mortal(), await mortal()];
    const [[first], [second]] = [await die(one, "no"), await die(two, "no")];
    expect((await deadOf(one)).items.map(({ id }: { id: string }) => id)).toEqual([first]);
    const all = ok(await ground.admin.get("/delivery/dlq?limit=200")).items.map(
      ({ id }: { id: string }) => id,
    );
    expect(all).toEqual(expect.arrayContaining([first, second]));
    expect((await one.api.post(`/delivery/dlq/${second}/replay`)).status).toBe(404);
    expect((await one.api.del(`/delivery/dlq/${second}`)).status).toBe(404);
  });
});

describe("replay of one", () => {
  test("gives the dead recipient a fresh budget", async () => {
    const receiver = await mortal();
    const [id] = await die(receiver, "not yet");
    const answer = await receiver.api.post(`/delivery/dlq/${id}/replay`);
    expect(answer).toMatchObject({ status: 200, body: { id, status: "accepted" } });
    expect(await pollSome(receiver.api)).toMatchObject([{ id, attempt_count: 1 }]);
    expect(await deadOf(receiver)).toMatchObject({ items: [], count: 0 });
    expect((await receiver.api.post(`/delivery/dlq/${id}/replay`)).status).toBe(404);
  });

  test("reaches agents that match now and never had it, and nobody twice", async () => {
    const receiver = await mortal();
    const had = await newReceiver(ground.server, ground.admin, "had it", { interests: [receiver.type] });
    const [id] = await die(receiver, "no");
    const [{ id: mine, event_id }] = await pollSome(had.api);
    ok(await had.api.post("/delivery/ack", { delivery_ids: [mine] }));
    const late = await newReceiver(ground.server, ground.admin, "late", { interests: [receiver.type] });

    const dry = ok(await receiver.api.post(`/delivery/dlq/${id}/replay`, { dry_run: true }));
    const answer = { ...dry, receivers: dry.receivers.toSorted() };
    expect(answer).toEqual({ id, status: "dry_run", receivers: [receiver.id, late.id].toSorted() });
    expect(await deadOf(receiver)).toMatchObject({ count: 1 });

    ok(await receiver.api.post(`/delivery/dlq/${id}/replay`));
    expect(await pollSome(receiver.api)).toMatchObject([{ id, event_id }]);
    expect(await pollSome(late.api)).toMatchObject([{ event_id, attempt_count: 1 }]);
    expect(await pollNow(had.api)).toEqual([]);
  });

  test("leaves it dead, and says so, when its recipient no longer matches", async () => {
    const receiver = await mortal();
    const [id] = await die(receiver, "no");
    ok(await receiver.api.del(`/agents/${receiver.id}/interests/${receiver.interest_ids[0]}`));
    ok(await receiver.api.post(`/delivery/dlq/${id}/replay`));
    const reason = `${dead("no")}; replay: its recipient no longer matches`;
    await settle(async () => (await deadOf(receiver)).items[0].dlq_reason === reason);
    expect(await pollNow(receiver.api)).toEqual([]);
    // Once it matches again, so does the next replay.
    ok(await receiver.api.post(`/agents/${receiver.id}/interests`, { event_type: "com.example.*" }));
    ok(await receiver.api.post(`/delivery/dlq/${id}/replay`));
    expect(await pollSome(receiver.api)).toMatchObject([{ id }]);
  });
});

describe("replay of many", () => {
  test("by reason, with a dry run that groups", async () => {
    const receiver = await mortal();
    const full = await die(receiver, "full", 3);
    const [other] = await die(receiver, "other");
    const groups = [{ dlq_reason: dead("full"), count: 3 }];
    const body = { reason: dead("full") };
    const dry = ok(await receiver.api.post("/delivery/dlq/replay", { ...body, dry_run: true }));
    expect(dry).toEqual({ status: "dry_run", count: 3, groups, more: false });
    expect(await deadOf(receiver)).toMatchObject({ count: 4 });
    const answer = ok(await receiver.api.post("/delivery/dlq/replay", body));
    expect(answer).toEqual({ status: "accepted", count: 3, groups, more: false });
    const { items } = await settle(async () => {
      const left = await deadOf(receiver);
      return left.count === 1 && left;
    });
    expect(items).toMatchObject([{ id: other }]);
    expect((await pollSome(receiver.api)).map(({ id }) => id).toSorted()).toEqual(full.toSorted());
  });

  test("by ids, and skips those of other agents", async () => {
    const [receiver, other] = [await mortal(), await mortal()];
    const [[mine], [others]] = [await die(receiver, "no"), await die(other, "no")];
    const ids = [mine, others, "dlv_0000000000000000000000"];
    expect(ok(await receiver.api.post("/delivery/dlq/replay", { ids }))).toMatchObject({ count: 1 });
    expect(await pollSome(receiver.api)).toMatchObject([{ id: mine }]);
    expect(await deadOf(other)).toMatchObject({ count: 1 });
  });
});

test("a deleted dead letter is gone, and no replay brings it back", async () => {
  const [one, two] = [await mortal(), await mortal()];
  ok(await two.api.post(`/agents/${two.id}/interests`, { event_type: one.type }));
  const [id] = await die(one, "no");
  const [{ id: twos }] = await pollSome(two.api);
  ok(await two.api.post("/delivery/nack", { delivery_ids: [twos] }));
  expect(await one.api.del(`/delivery/dlq/${id}`)).toMatchObject({ status: 204, body: undefined });
  expect((await one.api.del(`/delivery/dlq/${id}`)).status).toBe(404);
  ok(await two.api.post(`/delivery/dlq/${twos}/replay`));
  expect(await pollSome(two.api)).toMatchObject([{ id: twos }]);
  expect(await pollNow(one.api)).toEqual([]);
  expect(await deadOf(one)).toMatchObject({ count: 0 });
});

test("service.delivery.dead_lettered: carries ids and reason, never content; its own dead letter publishes nothing", async () => {
  const watcher = await newReceiver(ground.server, ground.admin, "watcher", {
    interests: [{ event_type: "service.delivery.*", filter_expression: 'data.dlq_reason.endsWith("told")' }],
    agent: { retry_budget: 1 },
  });
  const receiver = await mortal();
  const [id] = await die(receiver, "told");
  const [told] = await pollSome(watcher.api);
  const expected = { type: "service.delivery.dead_lettered", source: "sensorium", subject: id };
  expect(told.payload).toMatchObject(expected);
  expect(told.payload.data).toEqual({
    ...{ delivery_id: id, event_id: expect.stringMatching(/^evt_/), agent_id: receiver.id },
    ...{ attempt_count: 1, dlq_reason: dead("told") },
  });
  // The watcher's dead letter is written before the second one, which it is notified of.
  ok(await watcher.api.post("/delivery/nack", { delivery_ids: [told.id], reason: "told" }));
  const [second] = await die(receiver, "told");
  const [after, ...more] = await pollSome(watcher.api);
  expect(after.payload.subject).toBe(second);
  expect(more).toEqual([]);
});

test("an event's id names its dead letter, where it has one", async () => {
  const receiver = await mortal();
  const [id] = (await die(receiver, "no")) as [string];
  const { event_id } = (await deadOf(receiver)).items[0];
  const replay = (named: string) => receiver.api.post(`/delivery/dlq/${named}/replay`, {});
  expect(ok(await replay(event_id))).toEqual({ id, status: "accepted" });
  const [again] = await pollSome(receiver.api);
  expect(again.id).toBe(id);
  ok(await receiver.api.post("/delivery/nack", { delivery_ids: [id] }));
  const other = await mortal();
  expect(await other.api.post(`/delivery/dlq/${event_id}/replay`, {})).toMatchObject({ status: 404 });
  ok(await receiver.api.del(`/delivery/dlq/${event_id}`));
  expect(await replay(event_id)).toMatchObject({ status: 404 });
});

test("the id of an event with several dead letters is ambiguous to those who see them", async () => {
  const one = await mortal();
  const options = { interests: [one.type], agent: { retry_budget: 1 } };
  const two = await newReceiver(ground.server, ground.admin, "two", options);
  await die(one, "no");
  const [{ id, event_id }] = await pollSome(two.api);
  ok(await two.api.post("/delivery/nack", { delivery_ids: [id] }));
  const path = `/delivery/dlq/${event_id}/replay`;
  const answer = await ground.admin.post(path, {});
  expect(answer).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
  expect(ok(await two.api.post(path, { dry_run: true }))).toMatchObject({ id, status: "dry_run" });
});
