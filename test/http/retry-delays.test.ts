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
/** Creates an agent whose own delays are 5000 s, with an interest for each of the delays. */
async function receiverOf(delays: (number[] | null)[], agent: object = {}) {
  const type = `com.example.retry${++names}`;
  const interests = delays.map((retry_delays_seconds, i) => ({
    event_type: `${type}${"*".repeat(i)}`,
    retry_delays_seconds,
  }));
  const options = { interests, agent: { retry_delays_seconds: [5000], ...agent } };
  return { ...(await newReceiver(ground.server, ground.admin, type, options)), type };
}

/** Returns the seconds for which the agent's only waiting delivery waits, from its last failure. */
async function secondsOf({ id }: Receiver): Promise<number> {
  const { deliveries } = await settle(async () => {
    const found = ok(await ground.admin.get(`/agents/${id}/deliveries?status=waiting`));
    return found.deliveries.length === 1 && found;
  });
  const [{ next_attempt_at, last_error, timeline }] = deliveries;
  return (Date.parse(next_attempt_at) - Date.parse((last_error ?? timeline.at(-1)).at)) / 1000;
}

async function reject({ api }: Receiver, more: object = {}) {
  const [{ id, attempt_count }] = await pollSome(api);
  ok(await api.post("/delivery/nack", { delivery_ids: [id], ...more }));
  return { id, attempt_count };
}

/** Passes if the seconds are these, ±20 %. */
function expectAbout(seconds: number, wanted: number): void {
  expect(seconds).toBeGreaterThanOrEqual(0.8 * wanted - 0.001);
  expect(seconds).toBeLessThanOrEqual(1.2 * wanted + 0.001);
}

describe("a rejected delivery is retried", () => {
  test.each([
    ["after the delays of its interest", [[100]], 100],
    ["after the agent's delays, if its interest has none", [null], 5000],
    ["after those of the only interest that has some", [null, [200], null], 200],
    ["after those that retry soonest, of several", [[300], [30, 9000], [30, 600], [40]], 30],
  ])("%s", async (_, delays, wanted) => {
    const receiver = await receiverOf(delays);
    await ground.publish(receiver.type);
    await reject(receiver);
    expectAbout(await secondsOf(receiver), wanted);
  });

  test("after `delay_seconds`, whatever its interest says", async () => {
    const receiver = await receiverOf([[100]]);
    await ground.publish(receiver.type);
    await reject(receiver, { delay_seconds: 7 });
    expect(await secondsOf(receiver)).toBe(7);
  });

  test("after each delay in its turn, at most as often as the agent's budget allows", async () => {
    const receiver = await receiverOf([[1, 300]], { retry_budget: 3 });
    await ground.publish(receiver.type);
    expect((await reject(receiver)).attempt_count).toBe(1);
    expect((await reject(receiver)).attempt_count).toBe(2);
    expectAbout(await secondsOf(receiver), 300);
  });

  test("also when its push failed", async () => {
    endpoint.answer(500);
    const receiver = await receiverOf([[100]], { delivery_mode: "push", delivery_endpoint: endpoint.url });
    await ground.publish(receiver.type);
    expectAbout(await secondsOf(receiver), 100);
  });

  test("also when it was replayed: after the delays of the interest as it is then", async () => {
    const receiver = await receiverOf([[100]], { retry_budget: 1 });
    const { id } = receiver;
    await ground.publish(receiver.type);
    await reject(receiver);
    ok(await ground.admin.patch(`/agents/${id}`, { retry_budget: 5 }));
    const path = `/agents/${id}/interests/${receiver.interest_ids[0]}`;
    ok(await receiver.api.patch(path, { retry_delays_seconds: [900] }));
    expect(ok(await ground.admin.post("/delivery/dlq/replay", { agent_id: id })).count).toBe(1);
    await reject(receiver);
    expectAbout(await secondsOf(receiver), 900);
  });
});

test("a change applies to events published after it, and null is the agent's delays again", async () => {
  const receiver = await receiverOf([null]);
  const path = `/agents/${receiver.id}/interests/${receiver.interest_ids[0]}`;
  const after = async (retry_delays_seconds: number[] | null) => {
    for (const shown of [
      await receiver.api.patch(path, { retry_delays_seconds }),
      await receiver.api.get(path),
    ])
      expect(ok(shown)).toMatchObject({ retry_delays_seconds });
    await ground.publish(receiver.type);
    const { id } = await reject(receiver);
    const seconds = await secondsOf(receiver);
    ok(await receiver.api.post("/delivery/ack", { delivery_ids: [id] }));
    return seconds;
  };
  expectAbout(await after([60, 120]), 60);
  expectAbout(await after(null), 5000);
});

test.each([[[]], [[0]], [[86_401]], [[1.5]], ["10"], [Array(21).fill(1)]])(
  "refuses %j as an interest's delays",
  async (retry_delays_seconds) => {
    const receiver = await receiverOf([[100]]);
    const path = `/agents/${receiver.id}/interests`;
    const [id] = receiver.interest_ids;
    for (const answer of [
      await receiver.api.post(path, { event_type: "com.refused", retry_delays_seconds }),
      await receiver.api.patch(`${path}/${id}`, { retry_delays_seconds }),
    ])
      expect({ status: answer.status, ...answer.body.error.details }).toMatchObject({
        status: 400,
        field: expect.stringContaining("retry_delays_seconds"),
      });
    const { interests } = ok(await receiver.api.get(path));
    expect(interests).toMatchObject([{ id, retry_delays_seconds: [100] }]);
  },
);

/** Creates an agent with an interest that orders by `data.order`. */
async function orderedReceiver(agent: object = {}, interest: object = {}) {
  const type = `com.example.ordered${++names}`;
  const interests = [{ event_type: type, ordering_key: "data.order", ...interest }];
  return { ...(await newReceiver(ground.server, ground.admin, type, { interests, agent })), type };
}

/** Publishes one event after the other: `a1` is the first of the order `a`. */
async function publishAll(type: string, steps: string[]): Promise<void> {
  for (const step of steps) await ground.publish(type, { order: step[0], step });
}

const stepsOf = (deliveries: { payload: { data: { step: string } } }[]) =>
  deliveries.map(({ payload }) => payload.data.step);
const idsOf = (deliveries: { id: string }[]) => deliveries.map(({ id }) => id);

const ack = async ({ api }: Receiver, deliveries: { id: string }[]) =>
  ok(await api.post("/delivery/ack", { delivery_ids: idsOf(deliveries) }));
const allWritten = (receiver: Receiver, pending: number) =>
  settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === pending);

describe("deliveries with the same key", () => {
  test("are polled one after the other in the order of publication, those of other keys pass", async () => {
    const receiver = await orderedReceiver();
    await publishAll(receiver.type, ["a1", "a2", "b1", "a3", "b2"]);
    await allWritten(receiver, 5);
    const first = await pollMany(receiver.api, 2);
    expect(stepsOf(first).toSorted()).toEqual(["a1", "b1"]);
    expect(await pollNow(receiver.api)).toEqual([]);
    const a1 = first.filter(({ payload }) => payload.data.step === "a1");
    await ack(receiver, a1);
    const second = await pollMany(receiver.api, 1);
    expect(stepsOf(second)).toEqual(["a2"]);
    await ack(receiver, [...first, ...second]);
    expect(stepsOf(await pollMany(receiver.api, 2)).toSorted()).toEqual(["a3", "b2"]);
  });

  test("wait for one that waits for its retry or whose lease has ended, and pass it when it is dead", async () => {
    const receiver = await orderedReceiver({ retry_budget: 3, visibility_timeout_seconds: 1 });
    await publishAll(receiver.type, ["a1", "a2"]);
    await allWritten(receiver, 2);
    const [first] = await pollMany(receiver.api, 1);
    ok(await receiver.api.post("/delivery/nack", { delivery_ids: [first.id], delay_seconds: 1 }));
    // The retry; its lease ends, and that of the last attempt.
    const retried = await pollMany(receiver.api, 2);
    expect(stepsOf(retried)).toEqual(["a1", "a1"]);
    expect(retried.map(({ attempt_count }) => attempt_count)).toEqual([2, 3]);
    ok(await ground.admin.patch(`/agents/${receiver.id}`, { visibility_timeout_seconds: 3600 }));
    const [next] = await pollMany(receiver.api, 1);
    expect(next.payload.data.step).toBe("a2");
    ok(await receiver.api.post("/delivery/ack", { delivery_ids: [next.id] }));
    await publishAll(receiver.type, ["a3"]);
    const [last] = await pollMany(receiver.api, 1);
    // A replay takes its turn: it waits for the one that is in flight.
    ok(await ground.admin.post(`/delivery/dlq/${first.id}/replay`, {}));
    await settle(async () => ok(await receiver.api.get("/delivery/stats")).dead === 0);
    ok(await receiver.api.post("/delivery/ack", { delivery_ids: [last.id] }));
    expect(stepsOf(await pollMany(receiver.api, 1))).toEqual(["a1"]);
  });

  test("come one by one on a stream", async () => {
    const receiver = await orderedReceiver();
    const steps = ["a1", "a2", "a3"];
    await publishAll(receiver.type, steps);
    const stream = await openStream(`${ground.server.url}/delivery/stream`, receiver.token);
    const given: string[] = [];
    for await (const messages of stream.chunks) {
      const deliveries = messages.flatMap(({ data }) => (data?.payload ? [data] : []));
      if (deliveries.length === 0) continue;
      given.push(...stepsOf(deliveries));
      expect(deliveries).toHaveLength(1);
      const { in_flight } = ok(await receiver.api.get("/delivery/stats"));
      expect(in_flight).toBe(1);
      if (given.length === steps.length) break;
      await ack(receiver, deliveries);
    }
    stream.close();
    expect(given).toEqual(steps);
  });

  test("are pushed one by one, also after failures", async () => {
    const attempts: string[] = [];
    endpoint.answer(({ body }, res) => {
      const { step } = JSON.parse(body).data;
      attempts.push(step);
      // The first attempt at each fails.
      res.writeHead(attempts.filter((each) => each === step).length === 1 ? 500 : 204).end();
    });
    const receiver = await orderedReceiver(
      { delivery_mode: "push", delivery_endpoint: endpoint.url },
      { retry_delays_seconds: [1] },
    );
    await publishAll(receiver.type, ["a1", "a2", "a3"]);
    await settle(async () => attempts.length >= 6);
    expect(attempts).toEqual(["a1", "a1", "a2", "a2", "a3", "a3"]);
  });

  test("without a value are not ordered; text and numbers with the same digits are one key", async () => {
    const receiver = await orderedReceiver();
    for (const data of [{ step: "x1" }, { order: null, step: "x2" }, { order: {}, step: "x3" }])
      await ground.publish(receiver.type, data);
    await ground.publish(receiver.type, { order: 5, step: "n1" });
    await ground.publish(receiver.type, { order: "5", step: "n2" });
    await allWritten(receiver, 5);
    expect(stepsOf(await pollMany(receiver.api, 4)).toSorted()).toEqual(["n1", "x1", "x2", "x3"]);
    expect(await pollNow(receiver.api)).toEqual([]);
  });

  test("keep their order when the rest of a queue is emptied", async () => {
    const receiver = await orderedReceiver();
    await publishAll(receiver.type, ["a1", "a2", "a3"]);
    await allWritten(receiver, 3);
    const first = await pollMany(receiver.api, 1);
    expect(await pollNow(receiver.api)).toEqual([]);
    await ack(receiver, first);
    const second = await pollMany(receiver.api, 1);
    expect(stepsOf(second)).toEqual(["a2"]);
    ok(await ground.admin.post(`/agents/${receiver.id}/deliveries:drain`, {}));
    await publishAll(receiver.type, ["a4"]);
    await ack(receiver, second);
    expect(stepsOf(await pollMany(receiver.api, 1))).toEqual(["a4"]);
  });

  test("are said to be held", async () => {
    const receiver = await orderedReceiver();
    await publishAll(receiver.type, ["a1"]);
    const event_id = await ground.publish(receiver.type, { order: "a", step: "a2" });
    await allWritten(receiver, 2);
    await pollMany(receiver.api, 1);
    const why = ok(await ground.admin.get(`/agents/${receiver.id}/reception?event_id=${event_id}`));
    expect(why.reasons[0]).toMatchObject({ reason: "held", text: expect.stringContaining("earlier one") });
    expect(why.delivery).toMatchObject({ status: "waiting", next_attempt_at: null });
  });
});

test("the key of an interest is shown, changed and removed", async () => {
  const { id, api, interest_ids } = await orderedReceiver();
  const path = `/agents/${id}/interests/${interest_ids[0]}`;
  expect(ok(await api.get(path)).ordering_key).toBe("data.order");
  expect(ok(await api.patch(path, { ordering_key: "subject" })).ordering_key).toBe("subject");
  expect(ok(await api.patch(path, { ordering_key: null })).ordering_key).toBeNull();
});

test.each(["", "data..order", ".data", "data.a b", "9", "x".repeat(201)])(
  "the key of an interest cannot be %p",
  async (ordering_key) => {
    const { id, api } = await orderedReceiver();
    const { status, body } = await api.post(`/agents/${id}/interests`, { event_type: "com.x", ordering_key });
    expect([status, body.error.details.field]).toEqual([400, "ordering_key"]);
  },
);
