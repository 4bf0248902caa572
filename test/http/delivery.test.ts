import { describe, expect, test } from "@jest/globals";
import { withKey } from "../support/agents.ts";
import { pollNow, pollSome, useGround } from "../support/deliveries.ts";
import { newReceiver, type ReceiverOptions } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok, refused } from "../support/tenancy.ts";

const ground = await useGround();

let names = 0;
/** Creates a receiver with a new event type. */
async function receiverOf(options: ReceiverOptions = {}) {
  const type = `com.example.delivery${++names}`;
  const receiver = await newReceiver(ground.server, ground.admin, type, { interests: [type], ...options });
  return { ...receiver, type };
}
const WAITS = { nacked: 1, dead_lettered: 0 };
const quick = { agent: { visibility_timeout_seconds: 1 } };
const ids = (deliveries: { id: string }[]) => deliveries.map(({ id }) => id);
type Receiver = Awaited<ReturnType<typeof receiverOf>>;
const statsOf = async ({ api }: Receiver) => ok(await api.get("/delivery/stats"));
/** Waits until a receiver has as many deliveries. */
const pending = (receiver: Receiver, count: number) =>
  settle(async () => (await statsOf(receiver)).pending === count);
const post = ({ api }: Receiver, action: string, body: object) =>
  api.post(`/delivery/${action}`, body).then(ok);
/** A new receiver, and the delivery of an event that it has got. */
async function published(options?: ReceiverOptions) {
  const receiver = await receiverOf(options);
  await ground.publish(receiver.type);
  const [{ id, lease }] = await pollSome(receiver.api);
  return { receiver, id: id as string, lease: lease as string };
}

describe("poll", () => {
  test("returns the whole event, the matching interests and the end of the lease", async () => {
    const receiver = await receiverOf();
    const more = { subject: "order/1", partitionkey: "p" };
    const event_id = await ground.publish(receiver.type, { amount: 7 }, more);
    const before = Date.now();
    const answer = await receiver.api.get("/delivery/poll?wait=30");
    const took = Date.now() - before;
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.body).toEqual({
      count: 1,
      deliveries: [
        {
          ...{ id: expect.stringMatching(/^dlv_/), event_id },
          payload: {
            ...{ specversion: "1.0", type: receiver.type, source: "urn:test", id: expect.any(String) },
            ...{ subject: "order/1", partitionkey: "p", data: { amount: 7 } },
          },
          ...{ attempt_count: 1, created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) },
          ...{ lease: expect.stringMatching(/^[\w-]{8,}$/), lease_expires_at: expect.any(String) },
          matched: { interest_ids: receiver.interest_ids, feed_ids: [] },
        },
      ],
    });
    const lease = Date.parse(answer.body.deliveries[0].lease_expires_at) - before;
    expect(lease).toBeGreaterThan(29_000);
    expect(lease).toBeLessThan(31_000 + took);
  });

  test("several waiting polls share arriving deliveries; each goes to one of them", async () => {
    const receiver = await receiverOf();
    const waiting = Promise.all(Array.from({ length: 6 }, () => pollSome(receiver.api, "limit=2")));
    const published = await Promise.all(Array.from({ length: 12 }, () => ground.publish(receiver.type)));
    const given = (await waiting).flat();
    const rest: typeof given = [];
    // Those who waited may be answered before the last event has its delivery.
    await settle(async () => {
      rest.push(...(await pollNow(receiver.api, "limit=100")));
      return given.length + rest.length >= published.length;
    });
    const all = [...given, ...rest].map(({ event_id }) => event_id);
    expect(all.toSorted()).toEqual(published.toSorted());
    // Each got some: two, where they were there in time.
    expect(given.length).toBeGreaterThanOrEqual(6);
  });

  test("limit and wait are clamped, what is no number is refused", async () => {
    const receiver = await receiverOf();
    await Promise.all(Array.from({ length: 3 }, () => ground.publish(receiver.type)));
    await pending(receiver, 3);
    expect(await pollNow(receiver.api, "limit=0&wait=-5")).toHaveLength(1);
    expect(await pollNow(receiver.api, "limit=100000")).toHaveLength(2);
    await refused(receiver.api.get("/delivery/poll?limit=many"), "validation_failed", "limit");
  });

  test("HEAD, which only looks, is not for it", async () => {
    const receiver = await receiverOf();
    await ground.publish(receiver.type);
    await pending(receiver, 1);
    const url = `${ground.server.url}/delivery/poll`;
    const headers = { authorization: `Bearer ${receiver.token}` };
    const head = await fetch(url, { method: "HEAD", headers });
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET"]);
    expect(await statsOf(receiver)).toMatchObject({ pending: 1, in_flight: 0 });
  });

  test("gives higher priorities first, then the older", async () => {
    const typeOf = (priority: number) => `com.example.priority.${priority}`;
    const interests = [1, 9, 5].map((priority) => ({ event_type: typeOf(priority), priority }));
    const receiver = await receiverOf({ interests });
    for (const priority of [1, 5, 9, 9, 1]) await ground.publish(typeOf(priority));
    await pending(receiver, 5);
    const all = [...(await pollSome(receiver.api, "limit=2")), ...(await pollNow(receiver.api))];
    expect(all.map(({ payload }) => payload.type.at(-1))).toEqual(["9", "9", "5", "1", "1"]);
  });

  test("stops at 4 MB of events, and continues from there", async () => {
    const receiver = await receiverOf();
    const text = "x".repeat(900_000);
    for (let i = 0; i < 6; i++) await ground.publish(receiver.type, { text });
    await pending(receiver, 6);
    expect(await pollNow(receiver.api)).toHaveLength(4);
    expect(await pollNow(receiver.api)).toHaveLength(2);
  });

  test("a disconnected caller gets no later deliveries", async () => {
    const receiver = await receiverOf();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${receiver.token}` };
    const left = fetch(`${ground.server.url}/delivery/poll?wait=30`, { headers, signal: leaving.signal });
    await ground.publish("com.example.nobody");
    leaving.abort();
    await expect(left).rejects.toThrow();
    // Through the same connection pool, so that the server has seen the other one end.
    await pending(receiver, 0);
    await ground.publish(receiver.type);
    expect(await pollSome(receiver.api)).toMatchObject([{ attempt_count: 1 }]);
  });
});

describe("leases", () => {
  test("redelivers unacknowledged deliveries with their attempt count", async () => {
    const receiver = await receiverOf(quick);
    const event_id = await ground.publish(receiver.type);
    const asked = performance.now();
    expect(await pollSome(receiver.api)).toMatchObject([{ event_id, attempt_count: 1 }]);
    expect(await pollSome(receiver.api)).toMatchObject([{ event_id, attempt_count: 2 }]);
    // Not before its lease of a second has ended.
    expect(performance.now() - asked).toBeGreaterThan(950);
  });

  test("the budget spent, it is dead", async () => {
    const receiver = await receiverOf({ agent: { visibility_timeout_seconds: 1, retry_budget: 2 } });
    const event_id = await ground.publish(receiver.type);
    for (const attempt_count of [1, 2])
      expect(await pollSome(receiver.api)).toMatchObject([{ attempt_count }]);
    const dead = await settle(async () => (await receiver.api.get("/delivery/dlq")).body.items[0]);
    expect(dead).toMatchObject({ event_id, agent_id: receiver.id, attempt_count: 2 });
    expect(dead.dlq_reason).toBe("max attempts exceeded (2): lease expired");
    expect(await pollNow(receiver.api)).toEqual([]);
  });

  test("extend keeps a delivery longer than its timeout", async () => {
    const receiver = await receiverOf(quick);
    const extend = async (id: string, seconds: number) =>
      (await post(receiver, "extend", { delivery_ids: [id], seconds })).extended;
    await ground.publish(receiver.type);
    await ground.publish(receiver.type);
    const held = new Map<string, number>();
    await settle(async () => {
      for (const { id, attempt_count } of await pollSome(receiver.api)) {
        // Those whose lease of a second ended before that are redelivered.
        if ((await extend(id, 60)) === 1) held.set(id, attempt_count);
      }
      return held.size === 2;
    });
    const [kept, lapsed] = [...held.keys()] as [string, string];
    // The second is given back by a lease that ends at once.
    expect(await extend(lapsed, 1)).toBe(1);
    const attempt_count = (held.get(lapsed) as number) + 1;
    expect(await pollSome(receiver.api)).toMatchObject([{ id: lapsed, attempt_count }]);
    expect(ids(await pollNow(receiver.api))).not.toContain(kept);
    expect(await post(receiver, "ack", { delivery_ids: [kept] })).toEqual({ acknowledged: 1 });
    expect(await extend(kept, 60)).toBe(0);
  });
});

describe("ack", () => {
  test("counts what was pending: not twice, not another's, not unknown ones", async () => {
    const [receiver, other] = [await receiverOf(), await receiverOf()];
    await ground.publish(receiver.type);
    await ground.publish(other.type);
    const [mine] = await pollSome(receiver.api);
    const [others] = await pollSome(other.api);
    const delivery_ids = [mine.id, mine.id, others.id, "dlv_0000000000000000000000"];
    const ack = (who: Receiver) => post(who, "ack", { delivery_ids });
    const unknown_ids = delivery_ids.slice(2);
    expect(await ack(receiver)).toEqual({ acknowledged: 1, unknown_ids });
    expect(await ack(receiver)).toEqual({ acknowledged: 0, unknown_ids });
    expect(await ack(other)).toMatchObject({ acknowledged: 1 });
    expect(await pollNow(receiver.api)).toEqual([]);
  });

  test("counts after the lease has ended, whether it was given again or not", async () => {
    const { receiver, id } = await published(quick);
    await settle(async () => (await statsOf(receiver)).in_flight === 0);
    expect(await post(receiver, "ack", { delivery_ids: [id] })).toEqual({ acknowledged: 1 });
    expect(await pollNow(receiver.api, "wait=2")).toEqual([]);
  });

  test.each([
    ["no ids", {}],
    ["text", { delivery_ids: "dlv_1" }],
    ["101 ids", { delivery_ids: Array(101).fill("dlv_1") }],
  ])("refuses %s", async (_, body) => {
    const { api } = await receiverOf();
    await refused(api.post("/delivery/ack", body), "validation_failed", "delivery_ids");
  });
});

describe("nack", () => {
  test("of what nobody has tried counts no attempt, however often", async () => {
    const receiver = await receiverOf({ agent: { retry_delays_seconds: [1] } });
    const event_id = await ground.publish(receiver.type);
    for (const n of [1, 2, 3, 4]) {
      const [{ id, attempt_count }] = await pollSome(receiver.api);
      expect(attempt_count).toBe(1);
      const body = { delivery_ids: [id], attempted: false, reason: `not now ${n}` };
      expect(await post(receiver, "nack", body)).toEqual(WAITS);
    }
    const { receivers } = ok(await ground.admin.get(`/events/${event_id}`));
    expect(receivers).toMatchObject([{ state: "pending", attempt_count: 0 }]);
    expect(JSON.stringify(receivers)).toContain("not now 4");
  });

  test("without a delay makes it wait by the delays of the agent, or of the installation", async () => {
    const [own, usual] = [await receiverOf({ agent: { retry_delays_seconds: [5] } }), await receiverOf()];
    for (const receiver of [own, usual]) {
      await ground.publish(receiver.type);
      const [{ id }] = await pollSome(receiver.api);
      expect(await post(receiver, "nack", { delivery_ids: [id] })).toEqual(WAITS);
      expect(await statsOf(receiver)).toMatchObject({ waiting: 1 });
    }
    expect(await pollSome(own.api)).toMatchObject([{ attempt_count: 2 }]);
  });

  test.each([[[]], [[0]], [[86_401]], [[1.5]], ["10"]])("refuses %j as an agent's delays", async (delays) => {
    const receiver = await receiverOf();
    const answer = await ground.admin.patch(`/agents/${receiver.id}`, { retry_delays_seconds: delays });
    const found = { status: answer.status, ...answer.body.error.details };
    expect(found).toMatchObject({ status: 400, field: expect.stringContaining("retry_delays_seconds") });
  });

  test("with a delay brings the delivery back after it", async () => {
    const { receiver, id } = await published();
    await post(receiver, "nack", { delivery_ids: [id], delay_seconds: 0 });
    expect(await pollSome(receiver.api)).toMatchObject([{ id, attempt_count: 2 }]);
    await post(receiver, "nack", { delivery_ids: [id], delay_seconds: 60 });
    expect(await statsOf(receiver)).toMatchObject({ pending: 1, waiting: 1, in_flight: 0 });
    expect(await pollNow(receiver.api)).toEqual([]);
  });

  test("dead-letters with the given reason when the budget is spent", async () => {
    const { receiver, id } = await published({ agent: { retry_budget: 1 } });
    const body = { delivery_ids: [id], reason: "billing is closed" };
    expect(await post(receiver, "nack", body)).toEqual({ nacked: 1, dead_lettered: 1 });
    const expected = [{ id, attempt_count: 1, dlq_reason: "max attempts exceeded (1): billing is closed" }];
    expect(ok(await receiver.api.get("/delivery/dlq")).items).toMatchObject(expected);
  });

  test("dead-letters at once what no retry can handle, though its lease has to be the one it is under", async () => {
    const { receiver, id, lease } = await published({ agent: { retry_budget: 5 } });
    const body = { delivery_ids: [id], dead_letter: true, reason: "it has no lines" };
    const nack = (more: object) => post(receiver, "nack", { ...body, ...more });
    expect(await nack({ lease: [`${lease}x`] })).toEqual({ nacked: 0, dead_lettered: 0 });
    expect(await nack({ lease: [lease] })).toEqual({ nacked: 1, dead_lettered: 1 });
    const expected = [{ id, attempt_count: 1, dlq_reason: "it has no lines" }];
    expect(ok(await receiver.api.get("/delivery/dlq")).items).toMatchObject(expected);
  });
});

test("statistics: an agent's own, and one row per agent for an admin", async () => {
  const receiver = await receiverOf();
  expect(await statsOf(receiver)).toEqual({
    ...{ pending: 0, in_flight: 0, waiting: 0, limited_by: null, dead: 0, oldest_age_seconds: null },
  });
  for (let i = 0; i < 3; i++) await ground.publish(receiver.type);
  await pending(receiver, 3);
  const [first] = await pollSome(receiver.api, "limit=1");
  const own = await statsOf(receiver);
  expect(own).toMatchObject({ pending: 3, in_flight: 1, waiting: 0, dead: 0 });
  const age = (Date.now() - Date.parse(first.created_at)) / 1000;
  expect(Math.abs(own.oldest_age_seconds - age)).toBeLessThan(5);
  const all = ok(await ground.admin.get("/delivery/stats?limit=200"));
  expect(all.total).toBe(all.agents.length);
  const row = all.agents.find((each: { agent_id: string }) => each.agent_id === receiver.id);
  expect(row).toMatchObject({ pending: 3, in_flight: 1 });
  expect(all.pending).toBe(all.agents.reduce((sum: number, each: typeof row) => sum + each.pending, 0));
});

test("a deactivated agent keeps its deliveries and gets them when it is active again", async () => {
  const receiver = await receiverOf();
  const event_id = await ground.publish(receiver.type);
  await pending(receiver, 1);
  ok(await ground.admin.patch(`/agents/${receiver.id}/status`, { status: "inactive" }));
  await settle(async () => (await receiver.api.get("/delivery/poll")).status === 401);
  ok(await ground.admin.patch(`/agents/${receiver.id}/status`, { status: "active" }));
  const back = await withKey(ground.server, ground.admin, receiver.id, ["receive"]);
  const given = await settle(async () => {
    const { status, body } = await back.get("/delivery/poll");
    return status === 200 && body.deliveries;
  });
  expect(given).toMatchObject([{ event_id, attempt_count: 1 }]);
});

test("an agent settles no delivery of another one", async () => {
  const [{ receiver, id, lease }, stranger] = [await published(), await receiverOf()];
  const delivery_ids = [id];
  for (const named of [{ delivery_ids }, { delivery_ids, lease }]) {
    expect(await post(stranger, "extend", { seconds: 1, ...named })).toEqual({ extended: 0 });
    const rejected = await post(stranger, "nack", { delay_seconds: 0, ...named });
    expect(rejected).toEqual({ nacked: 0, dead_lettered: 0 });
  }
  expect(await post(stranger, "ack", { delivery_ids })).toEqual({ acknowledged: 0, unknown_ids: [id] });
  expect(await statsOf(receiver)).toMatchObject({ in_flight: 1 });
});

describe("the lease of an attempt", () => {
  /** Returns a delivery as its first holder has it, whose lease has ended, and as the second one has it now. */
  async function passedOn(retry_budget = 5) {
    const { receiver, ...first } = await published({
      agent: { visibility_timeout_seconds: 1, retry_budget },
    });
    ok(await ground.admin.patch(`/agents/${receiver.id}`, { visibility_timeout_seconds: 3600 }));
    const [second] = await pollSome(receiver.api);
    expect(second.id).toBe(first.id);
    expect(second.lease).not.toBe(first.lease);
    return { receiver, delivery_ids: [first.id], first, second };
  }

  test("a late rejection or extension changes nothing for the next holder", async () => {
    const { receiver, delivery_ids, first, second } = await passedOn(2);
    const late = { delivery_ids, lease: first.lease };
    const answer = await post(receiver, "nack", { ...late, delay_seconds: 0 });
    expect(answer).toEqual({ nacked: 0, dead_lettered: 0 });
    expect(await post(receiver, "extend", { ...late, seconds: 1 })).toEqual({ extended: 0 });
    expect(ok(await receiver.api.get("/delivery/stats"))).toMatchObject({ in_flight: 1, dead: 0 });
    const own = { delivery_ids, lease: [second.lease], delay_seconds: 0 };
    expect(await post(receiver, "nack", own)).toEqual({ nacked: 1, dead_lettered: 1 });
  });

  test("an acknowledgement counts, whichever lease it has", async () => {
    const { receiver, delivery_ids, first } = await passedOn();
    expect(await post(receiver, "ack", { delivery_ids, lease: first.lease })).toEqual({ acknowledged: 1 });
  });

  test("without a lease the request applies to the holder of the delivery", async () => {
    const { receiver, delivery_ids } = await passedOn();
    expect(await post(receiver, "nack", { delivery_ids })).toEqual(WAITS);
  });

  test("one lease is for all deliveries of a poll, a list has one for each", async () => {
    const receiver = await receiverOf({ agent: { visibility_timeout_seconds: 60 } });
    for (let n = 0; n < 3; n++) await ground.publish(receiver.type);
    await pending(receiver, 3);
    const [one] = await pollSome(receiver.api, "limit=1");
    const [two, three] = await pollNow(receiver.api, "limit=2");
    expect(three.lease).toBe(two.lease);
    const delivery_ids = [one.id, two.id, three.id];
    const each = [one.lease, "gone", three.lease];
    for (const lease of [two.lease, each])
      expect(await post(receiver, "extend", { delivery_ids, lease, seconds: 60 })).toEqual({ extended: 2 });
    const given = await post(receiver, "nack", { delivery_ids, lease: each });
    expect(given).toEqual({ nacked: 2, dead_lettered: 0 });
    const short = await receiver.api.post("/delivery/nack", { delivery_ids, lease: ["x"] });
    const message = "lease: expected one for all deliveries, or one for each, got 1 for 3 deliveries.";
    expect(short).toMatchObject({ status: 400, body: { error: { message } } });
  });

  test("ids that name nothing, of whatever form, are not counted, and the others are settled", async () => {
    const receiver = await receiverOf();
    for (let n = 0; n < 3; n++) await ground.publish(receiver.type);
    await pending(receiver, 3);
    const [a, b, c] = ids(await pollNow(receiver.api));
    const odd = ["", "nonsense", "evt_1", `dlv_${"x".repeat(500)}`, "dlv_ä\u2028", "42"];
    const acknowledged = await post(receiver, "ack", { delivery_ids: [...odd, a] });
    expect(acknowledged).toEqual({ acknowledged: 1, unknown_ids: odd });
    expect(await post(receiver, "nack", { delivery_ids: [b, ...odd] })).toEqual(WAITS);
    const extended = await post(receiver, "extend", { delivery_ids: [...odd, c], seconds: 9 });
    expect(extended).toEqual({ extended: 1 });
  });
});
