import { expect, test } from "@jest/globals";
import { pollMany, useGround } from "../support/deliveries.ts";
import { newReceiver, type Receiver, type ReceiverOptions } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openStream, type Stream, type StreamMessage } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

const ground = await useGround();

type Mine = Receiver & { type: string };

let names = 0;
async function receiverOf(options: ReceiverOptions = {}): Promise<Mine> {
  const type = `com.example.sse${++names}`;
  const receiver = await newReceiver(ground.server, ground.admin, type, {
    interests: [type],
    ...options,
    agent: { delivery_mode: "sse", ...options.agent },
  });
  return { ...receiver, type };
}

/** An open stream, and everything it has brought. */
async function listen(receiver: Mine, query = "") {
  const stream = await openStream(`${ground.server.url}/delivery/stream${query}`, receiver.token);
  const got: StreamMessage[] = [];
  const ended = collect(stream, got);
  return { ...stream, deliveries: () => got.filter(({ event }) => event === "delivery"), ended };
}

async function collect(stream: Stream, into: StreamMessage[]): Promise<void> {
  for await (const chunk of stream.chunks) into.push(...chunk);
}

const statsOf = async (receiver: Mine) => ok(await receiver.api.get("/delivery/stats"));
const publish = (receiver: Mine, count: number) =>
  Promise.all(Array.from({ length: count }, () => ground.publish(receiver.type)));
const ack = (receiver: Mine, messages: StreamMessage[]) =>
  receiver.api.post("/delivery/ack", { delivery_ids: messages.map(({ id }) => id) });

test("sends pending and new deliveries, each as in a poll", async () => {
  const receiver = await receiverOf();
  const before = await ground.publish(receiver.type, { n: 1 });
  const stream = await listen(receiver);
  expect(stream.status).toBe(200);
  await settle(() => stream.deliveries().length === 1);
  const after = await ground.publish(receiver.type, { n: 2 });
  await settle(() => stream.deliveries().length === 2);
  const [first, second] = stream.deliveries();
  expect(first).toEqual({
    event: "delivery",
    id: expect.stringMatching(/^dlv_/),
    data: {
      id: first?.id,
      event_id: before,
      payload: expect.objectContaining({ type: receiver.type, data: { n: 1 } }),
      ...{ attempt_count: 1, created_at: expect.any(String), lease: expect.stringMatching(/^[\w.-]{8,}$/) },
      lease_expires_at: expect.any(String),
      matched: { interest_ids: receiver.interest_ids, feed_ids: [] },
    },
  });
  expect(second?.data.event_id).toBe(after);
  expect((await ack(receiver, stream.deliveries())).body).toEqual({ acknowledged: 2 });
  stream.close();
});

test("a late rejection does not hit the new lease of a redelivery on the same stream", async () => {
  const receiver = await receiverOf({ agent: { visibility_timeout_seconds: 1 } });
  await publish(receiver, 1);
  const stream = await listen(receiver, "?max_in_flight=1");
  const first = await settle(() => stream.deliveries()[0]?.data);
  const on = (action: string, body: object) =>
    receiver.api.post(`/delivery/${action}`, { delivery_ids: [first.id], ...body }).then(ok);
  // The second one, unless its lease of a second ended before that.
  const second = await settle(async () => {
    const { data } = stream.deliveries().at(-1) as StreamMessage;
    const isLate =
      data.lease === first.lease || (await on("extend", { lease: data.lease, seconds: 60 })).extended === 0;
    return !isLate && data;
  });
  expect(second.id).toBe(first.id);
  const redelivered = stream.deliveries().length;
  expect(await on("extend", { lease: first.lease, seconds: 1 })).toEqual({ extended: 0 });
  expect(await on("nack", { lease: first.lease, delay_seconds: 0 })).toEqual({ nacked: 0, dead_lettered: 0 });
  // The stream is still full.
  await publish(receiver, 1);
  expect(ok(await receiver.api.get("/delivery/stats"))).toMatchObject({ in_flight: 1 });
  expect(await on("nack", { lease: second.lease })).toEqual({ nacked: 1, dead_lettered: 0 });
  await settle(() => stream.deliveries().length === redelivered + 1);
  stream.close();
});

test("its headers say what it is, and a HEAD request has no more", async () => {
  const receiver = await receiverOf();
  const headers = { authorization: `Bearer ${receiver.token}` };
  const answer = await fetch(`${ground.server.url}/delivery/stream`, { method: "HEAD", headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("no-store, no-transform");
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
});

test("what is in flight is at most max_in_flight, and goes on as it is acknowledged", async () => {
  const receiver = await receiverOf();
  await publish(receiver, 10);
  await settle(async () => (await statsOf(receiver)).pending === 10);
  const stream = await listen(receiver, "?max_in_flight=4");
  await settle(() => stream.deliveries().length === 4);
  expect(await statsOf(receiver)).toMatchObject({ pending: 10, in_flight: 4 });
  await ack(receiver, stream.deliveries().slice(0, 2));
  await settle(() => stream.deliveries().length === 6);
  await receiver.api.post("/delivery/nack", {
    delivery_ids: [stream.deliveries()[2]?.id],
    delay_seconds: 60,
  });
  await settle(() => stream.deliveries().length === 7);
  expect(await statsOf(receiver)).toMatchObject({ pending: 8, in_flight: 4, waiting: 1 });
  stream.close();
});

test("what is in flight counts over all streams of an agent", async () => {
  const receiver = await receiverOf();
  const streams = [await listen(receiver, "?max_in_flight=3"), await listen(receiver, "?max_in_flight=3")];
  await publish(receiver, 8);
  const all = () => streams.flatMap((stream) => stream.deliveries());
  await settle(() => all().length === 3);
  await settle(async () => (await statsOf(receiver)).pending === 8);
  expect(await statsOf(receiver)).toMatchObject({ pending: 8, in_flight: 3 });
  const done = new Set<string>();
  await settle(async () => {
    const held = all().filter(({ id }) => !done.has(id as string));
    await ack(receiver, held);
    for (const { id } of held) done.add(id as string);
    return done.size === 8;
  });
  expect(all()).toHaveLength(8);
  for (const stream of streams) stream.close();
});

test.each(["0", "1001", "many"])("what is in flight refuses max_in_flight=%s", async (value) => {
  const receiver = await receiverOf();
  const answer = await receiver.api.get(`/delivery/stream?max_in_flight=${value}`);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_failed" } } });
});

test("closing returns what it held at once, without counting an attempt", async () => {
  const receiver = await receiverOf();
  await publish(receiver, 5);
  const stream = await listen(receiver);
  await settle(() => stream.deliveries().length === 5);
  const [done] = stream.deliveries();
  await ack(receiver, [done as StreamMessage]);
  stream.close();
  const again = await listen(receiver);
  await settle(() => again.deliveries().length === 4);
  expect(again.deliveries().map(({ data }) => data.attempt_count)).toEqual([1, 1, 1, 1]);
  expect(again.deliveries().map(({ id }) => id)).not.toContain(done?.id);
  again.close();
  await settle(async () => (await statsOf(receiver)).in_flight === 0);
  expect(await pollMany(receiver.api, 4)).toHaveLength(4);
});

test("closing a revoked key ends the stream", async () => {
  const receiver = await receiverOf();
  const stream = await listen(receiver);
  const { keys } = ok(await ground.admin.get(`/agents/${receiver.id}/keys`));
  ok(await ground.admin.del(`/agents/${receiver.id}/keys/${keys[0].id}`));
  await stream.ended;
  expect((await receiver.api.get("/delivery/poll")).status).toBe(401);
});
