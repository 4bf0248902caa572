import { describe, expect, test } from "@jest/globals";
import { pollSome, useGround } from "../support/deliveries.ts";
import { newReceiver, type Receiver, type ReceiverOptions } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openStream, type Stream } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

const NEXT = "/delivery/next";

const ground = await useGround();

let names = 0;
type Typed = Receiver & { type: string };

/** Creates a receiver with a new event type and so many ready deliveries. */
async function receiverWith(ready: number, agent: ReceiverOptions["agent"] = {}): Promise<Typed> {
  const type = `com.example.next${++names}`;
  const made = await newReceiver(ground.server, ground.admin, type, { interests: [type], agent });
  const receiver = { ...made, type };
  await add(receiver, ready);
  return receiver;
}

async function add({ type, api }: Typed, ready: number): Promise<void> {
  const { pending } = ok(await api.get("/delivery/stats"));
  for (let n = 0; n < ready; n++) await ground.publish(type, { n });
  await settle(async () => ok(await api.get("/delivery/stats")).pending === pending + ready);
}

const next = async ({ api }: Typed, body: object = {}) => ok(await api.post(NEXT, body));
const statsOf = async ({ api }: Typed) => ok(await api.get("/delivery/stats"));
const ids = (deliveries: { id: string }[]) => deliveries.map(({ id }) => id);
const NOTHING = { acknowledged: 0, nacked: 0, dead_lettered: 0 };

describe("one request settles deliveries and returns the next", () => {
  test("with the answers of a poll, an acknowledgement and a rejection", async () => {
    const receiver = await receiverWith(4);
    const [a, b] = await pollSome(receiver.api, "limit=2");
    const nack = { delivery_ids: [b.id], lease: b.lease, delay_seconds: 3600, reason: "out of ink" };
    const answer = await receiver.api.post(NEXT, { ack: { delivery_ids: [a.id] }, nack, limit: 1 });
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const { deliveries, ...counts } = ok(answer);
    expect(counts).toEqual({ count: 1, acknowledged: 1, nacked: 1, dead_lettered: 0 });
    expect(deliveries).toMatchObject([{ payload: { data: { n: 2 } }, attempt_count: 1 }]);
    const { pending, in_flight, waiting } = await statsOf(receiver);
    expect({ pending, in_flight, waiting }).toEqual({ pending: 3, in_flight: 1, waiting: 1 });
    const { timeline } = ok(await ground.admin.get(`/events/${b.event_id}`)).receivers[0];
    expect(timeline.at(-1)).toMatchObject({ what: "nacked", reason: "out of ink" });
  });

  test("without any to settle it is a poll", async () => {
    const receiver = await receiverWith(2);
    const { deliveries, ...counts } = await next(receiver);
    expect(deliveries).toHaveLength(2);
    expect(counts).toEqual({ ...NOTHING, count: 2 });
    expect(await next(receiver, { limit: 0, wait: -3 })).toEqual({ ...NOTHING, deliveries: [], count: 0 });
  });

  test("a spent budget dead-letters, as a rejection does", async () => {
    const receiver = await receiverWith(1, { retry_budget: 1 });
    const { deliveries } = await next(receiver);
    const answer = await next(receiver, {
      nack: { delivery_ids: ids(deliveries), lease: deliveries[0].lease },
    });
    expect(answer).toEqual({ deliveries: [], count: 0, acknowledged: 0, nacked: 1, dead_lettered: 1 });
  });

  test("a rejected delivery without a delay is among those it waits for", async () => {
    const receiver = await receiverWith(1);
    const [{ id, lease }] = await pollSome(receiver.api);
    const nack = { delivery_ids: [id], lease, delay_seconds: 0 };
    expect(await next(receiver, { nack, wait: 30 })).toMatchObject({
      nacked: 1,
      deliveries: [{ id, attempt_count: 2 }],
    });
  });

  test("a late acknowledgement of one that is ready again is not answered with it", async () => {
    const receiver = await receiverWith(1, { visibility_timeout_seconds: 1 });
    const [{ id }] = await pollSome(receiver.api);
    await settle(async () => (await statsOf(receiver)).in_flight === 0);
    expect(await next(receiver, { ack: { delivery_ids: [id] } })).toEqual({
      ...NOTHING,
      ...{ deliveries: [], count: 0, acknowledged: 1 },
    });
  });

  test("settling an acknowledged delivery again counts nothing, nor does one of another agent", async () => {
    const [receiver, stranger] = [await receiverWith(1), await receiverWith(1)];
    const [{ id, lease }] = await pollSome(receiver.api);
    const ack = { delivery_ids: [id] };
    const nack = { delivery_ids: [id], lease, delay_seconds: 0 };
    expect(await next(stranger, { ack })).toMatchObject({ ...NOTHING, count: 1 });
    expect(await next(stranger, { nack })).toMatchObject(NOTHING);
    expect(await statsOf(receiver)).toMatchObject({ in_flight: 1 });
    expect(await next(receiver, { ack })).toMatchObject({ ...NOTHING, acknowledged: 1 });
    for (const settling of [{ ack }, { nack }]) expect(await next(receiver, settling)).toMatchObject(NOTHING);
  });
});

/** Yields the ids of a stream's deliveries. */
async function* deliveriesOf({ chunks }: Stream): AsyncGenerator<string> {
  for await (const messages of chunks)
    for (const { event, id } of messages) if (event === "delivery") yield id as string;
}

test("settling does not wait for the next deliveries, and stays if the caller disconnects", async () => {
  const receiver = await receiverWith(1);
  const [{ id }] = await pollSome(receiver.api);
  const leaving = new AbortController();
  const left = fetch(`${ground.server.url}${NEXT}`, {
    method: "POST",
    headers: { authorization: `Bearer ${receiver.token}`, "content-type": "application/json" },
    body: JSON.stringify({ ack: { delivery_ids: [id] }, wait: 30 }),
    signal: leaving.signal,
  });
  await settle(async () => (await statsOf(receiver)).pending === 0);
  leaving.abort();
  await expect(left).rejects.toThrow();
  // Answered on another connection, after the server has seen this one end.
  await statsOf(receiver);
  await ground.publish(receiver.type);
  // Not one that the other request got.
  expect((await next(receiver, { wait: 30 })).deliveries).toMatchObject([{ attempt_count: 1 }]);
});

test("settling does not wait and gives streams capacity", async () => {
  const receiver = await receiverWith(1);
  const stream = await openStream(`${ground.server.url}/delivery/stream?max_in_flight=1`, receiver.token);
  const deliveries = deliveriesOf(stream);
  const first = await deliveries.next();
  expect(await next(receiver, { ack: { delivery_ids: [first.value] } })).toMatchObject({
    acknowledged: 1,
    count: 0,
  });
  await ground.publish(receiver.type);
  const second = await deliveries.next();
  expect(second.value).not.toBe(first.value);
  stream.close();
  await deliveries.next();
});

test.each([
  ["more ids than are allowed", { ack: { delivery_ids: Array(101).fill("dlv_1") } }, "ack.delivery_ids"],
  ["another number of leases", { nack: { delivery_ids: ["dlv_1"], lease: ["x", "y"] } }, "nack.lease"],
  ["ids that are none", { ack: { delivery_ids: [7] } }, "ack.delivery_ids.0"],
  ["an unknown key", { acks: { delivery_ids: [] } }, "acks"],
  ["a limit that is no number", { limit: "many" }, "limit"],
])("refusals change nothing %s", async (_, body, field) => {
  const receiver = await receiverWith(2);
  const [{ id }] = await pollSome(receiver.api, "limit=1");
  const answer = await receiver.api.post(NEXT, { ack: { delivery_ids: [id] }, ...body });
  expect(answer).toMatchObject({ status: 400, body: { error: { details: { field } } } });
  expect(await statsOf(receiver)).toMatchObject({ pending: 2, in_flight: 1 });
});

test("refusals change nothing for a delivery that is both acknowledged and rejected: it keeps its lease", async () => {
  const receiver = await receiverWith(1, { retry_budget: 1 });
  const delivery_ids = ids(await pollSome(receiver.api));
  const { status, body } = await receiver.api.post(NEXT, { ack: { delivery_ids }, nack: { delivery_ids } });
  expect({ status, ...body.error.details }).toMatchObject({ status: 400, field: "nack.delivery_ids" });
  expect(await next(receiver, { ack: { delivery_ids } })).toMatchObject({ ...NOTHING, acknowledged: 1 });
});

test("what one caller may use a body has 64 kB at most", async () => {
  const receiver = await receiverWith(0);
  const long = { ack: { delivery_ids: Array.from({ length: 100 }, () => "x".repeat(700)) } };
  expect((await receiver.api.post(NEXT, long)).status).toBe(413);
});

test("what one caller may use two hundred requests may wait; a waiting one takes no place of an acknowledgement", async () => {
  const receiver = await receiverWith(1);
  const [{ id }] = await pollSome(receiver.api);
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${receiver.token}`, "content-type": "application/json" };
  const wait = () =>
    fetch(`${ground.server.url}${NEXT}`, {
      ...{ method: "POST", headers, signal: ending.signal },
      body: JSON.stringify({ wait: 30 }),
    }).then(({ status }) => status);
  const waiting = Array.from({ length: 201 }, wait);
  expect(await Promise.race(waiting)).toBe(429);
  expect(ok(await receiver.api.post("/delivery/ack", { delivery_ids: [id] }))).toEqual({ acknowledged: 1 });
  ending.abort();
  await Promise.allSettled(waiting);
  await settle(async () => (await receiver.api.post(NEXT, {})).status === 200);
});

test("what one caller may use deliveries are not stored for a key, and the effect stays one", async () => {
  const receiver = await receiverWith(0);
  await ground.publish(receiver.type, { text: "x".repeat(3000) });
  await settle(async () => (await statsOf(receiver)).pending === 1);
  const key = { "idempotency-key": `next-${receiver.id}` };
  expect(ok(await receiver.api.post(NEXT, {}, key)).count).toBe(1);
  expect((await receiver.api.post(NEXT, {}, key)).body.error).toMatchObject({ code: "conflict" });
  const short = { "idempotency-key": `short-${receiver.id}` };
  const first = await receiver.api.post(NEXT, { limit: 5 }, short);
  const again = await receiver.api.post(NEXT, { limit: 5 }, short);
  expect([first.body, again.headers.get("idempotency-replayed")]).toEqual([again.body, "true"]);
});
