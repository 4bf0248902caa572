import { describe, expect, test } from "@jest/globals";
import { pollMany, pollNow, pollSome, useGround } from "../support/deliveries.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openStream } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";
import { use } from "../support/use.ts";

const ground = await useGround("open");
const endpoint = use(await startEndpoint());

let names = 0;
/** Creates an agent with limits and an interest, and publishes so many events for it. */
async function receiverOf(agent: object, events: number) {
  const type = `com.example.limited${++names}`;
  const receiver = await newReceiver(ground.server, ground.admin, type, { interests: [type], agent });
  const event_ids: string[] = [];
  for (let n = 0; n < events; n++) event_ids.push(await ground.publish(type));
  return { ...receiver, type, event_ids };
}

const idsOf = (deliveries: { id: string }[]) => deliveries.map(({ id }) => id);
const statsOf = async ({ api }: Receiver) => ok(await api.get("/delivery/stats"));
const ack = async ({ api }: Receiver, deliveries: { id: string }[]) =>
  ok(await api.post("/delivery/ack", { delivery_ids: idsOf(deliveries) }));
describe("an agent with `max_in_flight`", () => {
  test("gets as many by polls, and the next when one is settled", async () => {
    const receiver = await receiverOf({ max_in_flight: 2 }, 5);
    await settle(async () => (await statsOf(receiver)).pending === 5);
    const first = await pollMany(receiver.api, 2);
    expect(first).toHaveLength(2);
    expect(await pollNow(receiver.api)).toEqual([]);
    expect(await statsOf(receiver)).toMatchObject({ in_flight: 2, limited_by: "max_in_flight" });
    // One waits and gets what an acknowledgement makes room for.
    const waiting = pollSome(receiver.api);
    await ack(receiver, first.slice(0, 1));
    expect(await waiting).toHaveLength(1);
    ok(
      await receiver.api.post("/delivery/nack", { delivery_ids: idsOf(first.slice(1)), delay_seconds: 3600 }),
    );
    expect(await pollMany(receiver.api, 1)).toHaveLength(1);
    expect(await statsOf(receiver)).toMatchObject({ in_flight: 2, waiting: 1, limited_by: "max_in_flight" });
  });

  test("gets the next in one request with the acknowledgement", async () => {
    const receiver = await receiverOf({ max_in_flight: 1 }, 3);
    await settle(async () => (await statsOf(receiver)).pending === 3);
    const given: string[] = [];
    for (let last = await pollMany(receiver.api, 1); last.length > 0; ) {
      given.push(...idsOf(last));
      const next = { ack: { delivery_ids: idsOf(last) } };
      last = ok(await receiver.api.post("/delivery/next", next)).deliveries;
    }
    expect(new Set(given).size).toBe(3);
  });

  test("gets as many over polls and streams together", async () => {
    const receiver = await receiverOf({ max_in_flight: 3 }, 6);
    await settle(async () => (await statsOf(receiver)).pending === 6);
    const polled = await pollSome(receiver.api, "limit=1");
    const stream = await openStream(`${ground.server.url}/delivery/stream`, receiver.token);
    const streamed: { id: string }[] = [];
    // Not by `for await`, which would close it at the end.
    while (streamed.length < 2) {
      const { value = [] } = await stream.chunks.next();
      streamed.push(
        ...(value as { data?: { id: string; payload?: object } }[]).flatMap(({ data }) =>
          data?.payload ? [data] : [],
        ),
      );
    }
    expect([polled.length, streamed.length]).toEqual([1, 2]);
    expect(await pollNow(receiver.api)).toEqual([]);
    stream.close();
    await settle(async () => (await statsOf(receiver)).in_flight === 1);
    const more = await pollMany(receiver.api, 2);
    expect(await pollNow(receiver.api)).toEqual([]);
    expect(await statsOf(receiver)).toMatchObject({ in_flight: 3, limited_by: "max_in_flight" });
    await ack(receiver, [...polled, ...more]);
    expect(await pollMany(receiver.api, 3)).toHaveLength(3);
  });

  test("is pushed to as often at once, and gets all", async () => {
    let most = 0;
    let now = 0;
    const pushed = new Set<string>();
    endpoint.answer(({ body }, res) => {
      most = Math.max(most, ++now);
      pushed.add(JSON.parse(body).id);
      setTimeout(() => {
        now--;
        res.writeHead(204).end();
      }, 20);
    });
    const pushes = { delivery_mode: "push", delivery_endpoint: endpoint.url, max_in_flight: 2 };
    const receiver = await receiverOf(pushes, 12);
    await settle(async () => pushed.size === 12);
    await settle(async () => (await statsOf(receiver)).pending === 0);
    expect(most).toBeLessThanOrEqual(2);
  });

  test("gets again what a lease has ended of, within its limit; all, once the limit is removed", async () => {
    const receiver = await receiverOf({ max_in_flight: 1, visibility_timeout_seconds: 1 }, 2);
    await settle(async () => (await statsOf(receiver)).pending === 2);
    const [first] = await pollMany(receiver.api, 1);
    const [again] = await pollMany(receiver.api, 1);
    const answer = [first.attempt_count + again.attempt_count, (await statsOf(receiver)).in_flight <= 1];
    expect(answer).toEqual([first.id === again.id ? 3 : 2, true]);
    const body = { max_in_flight: null, visibility_timeout_seconds: 60 };
    ok(await ground.admin.patch(`/agents/${receiver.id}`, body));
    await settle(async () => {
      await pollNow(receiver.api);
      return (await statsOf(receiver)).in_flight === 2;
    });
  });
});

describe("an agent with `max_per_minute`", () => {
  test("gets as many, and is said to wait", async () => {
    const receiver = await receiverOf({ max_per_minute: 3 }, 5);
    await settle(async () => (await statsOf(receiver)).pending === 5);
    const given = await pollMany(receiver.api, 3);
    await ack(receiver, given);
    expect(given).toHaveLength(3);
    expect(await pollNow(receiver.api, "wait=1")).toEqual([]);
    expect(await statsOf(receiver)).toMatchObject({ pending: 2, in_flight: 0, limited_by: "max_per_minute" });
    const { agents } = ok(await ground.admin.get("/delivery/stats?limit=200"));
    const answer = agents.find(({ agent_id }: { agent_id: string }) => agent_id === receiver.id);
    expect(answer).toMatchObject({ limited_by: "max_per_minute" });
    const left = receiver.event_ids.find((id) => !given.some(({ event_id }) => event_id === id));
    const why = ok(await ground.admin.get(`/agents/${receiver.id}/reception?event_id=${left}`));
    const found = why.reasons[0];
    expect(found).toMatchObject({ reason: "limited", text: expect.stringContaining("`max_per_minute`: 3") });
    expect(why.limits).toMatchObject({ max_in_flight: null, max_per_minute: 3 });
    expect(why.health.limited_by).toBe("max_per_minute");
    ok(await ground.admin.patch(`/agents/${receiver.id}`, { max_per_minute: 4 }));
    expect(await pollMany(receiver.api, 1)).toHaveLength(1);
  });

  test("is pushed to as often", async () => {
    endpoint.answer(204);
    endpoint.pushed.length = 0;
    const pushes = { delivery_mode: "push", delivery_endpoint: endpoint.url, max_per_minute: 4 };
    const receiver = await receiverOf(pushes, 7);
    await settle(async () => (await statsOf(receiver)).pending === 3);
    await settle(async () => (await statsOf(receiver)).limited_by === "max_per_minute");
    expect(endpoint.pushed).toHaveLength(4);
  });
});

test("the limits of an agent are shown, changed and removed; others are refused", async () => {
  const { id } = await receiverOf({ max_in_flight: 5, max_per_minute: 60 }, 0);
  const path = `/agents/${id}`;
  expect(ok(await ground.admin.get(path))).toMatchObject({ max_in_flight: 5, max_per_minute: 60 });
  const none = { max_in_flight: null, max_per_minute: null };
  expect(ok(await ground.admin.patch(path, none))).toMatchObject(none);
  for (const wrong of [{ max_in_flight: 0 }, { max_in_flight: 1001 }, { max_per_minute: 1.5 }]) {
    const { status, body } = await ground.admin.patch(path, wrong);
    expect([status, body.error.details.field]).toEqual([400, Object.keys(wrong)[0]]);
  }
});
