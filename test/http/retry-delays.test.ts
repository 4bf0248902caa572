import { afterAll, describe, expect, test } from "@jest/globals";
import { deliveryGround, pollSome } from "../support/deliveries.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openStream } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

const ground = await deliveryGround("open");
const endpoint = await startEndpoint();
afterAll(async () => {
  await ground.server.stop();
  await endpoint.stop();
});

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

  test("also when it was streamed", async () => {
    const receiver = await receiverOf([[100]], { delivery_mode: "sse" });
    await ground.publish(receiver.type);
    const stream = await openStream(`${ground.server.url}/delivery/stream`, receiver.token);
    for await (const messages of stream.chunks) {
      const [delivery] = messages.filter(({ event }) => event === "delivery");
      if (!delivery) continue;
      ok(await receiver.api.post("/delivery/nack", { delivery_ids: [delivery.id] }));
      break;
    }
    expectAbout(await secondsOf(receiver), 100);
    stream.close();
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
    expect(ok(await receiver.api.patch(path, { retry_delays_seconds }))).toMatchObject({
      retry_delays_seconds,
    });
    expect(ok(await receiver.api.get(path))).toMatchObject({ retry_delays_seconds });
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
