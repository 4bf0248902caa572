import { afterAll, expect, test } from "@jest/globals";
import { deliveryGround, pollSome } from "../support/deliveries.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ground = await deliveryGround({});
afterAll(() => ground.server.stop());

async function crash(): Promise<void> {
  await ground.server.kill();
  await ground.server.restart();
}

const TYPE = "com.example.crash";
const idsOf = (deliveries: { id: string }[]) => deliveries.map(({ id }) => id).toSorted();

test("after a SIGKILL, leased and waiting deliveries are redelivered, settled ones are not", async () => {
  const agent = { visibility_timeout_seconds: 3 };
  const receiver = await newReceiver(ground.server, ground.admin, "leased", { interests: [TYPE], agent });
  await Promise.all(Array.from({ length: 20 }, () => ground.publish(TYPE)));
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === 20);
  const all = idsOf(await pollSome(receiver.api, ""));
  expect(all).toHaveLength(20);
  const [done, waiting] = [all.slice(0, 5), all.slice(5, 10)];
  ok(await receiver.api.post("/delivery/ack", { delivery_ids: done }));
  ok(await receiver.api.post("/delivery/nack", { delivery_ids: waiting, delay_seconds: 1 }));
  await crash();
  const again = new Map<string, number>();
  await settle(async () => {
    for (const { id, attempt_count } of await pollSome(receiver.api, "wait=1")) {
      if (!again.has(id)) again.set(id, attempt_count);
    }
    return again.size === 15;
  });
  expect([...again.keys()].toSorted()).toEqual(all.slice(5));
  expect(new Set(again.values())).toEqual(new Set([2]));
});

test("after a SIGKILL, an accepted replay is carried out", async () => {
  const type = `${TYPE}.replay`;
  const options = { interests: [type], agent: { retry_budget: 1 } };
  const receiver = await newReceiver(ground.server, ground.admin, "replayed", options);
  await Promise.all(Array.from({ length: 60 }, () => ground.publish(type)));
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === 60);
  const delivery_ids = idsOf(await pollSome(receiver.api, ""));
  ok(await receiver.api.post("/delivery/nack", { delivery_ids, reason: "no" }));
  const reason = "max attempts exceeded (1): no";
  expect(ok(await receiver.api.post("/delivery/dlq/replay", { reason }))).toMatchObject({ count: 60 });
  await crash();
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).dead === 0);
  const again = await pollSome(receiver.api, "");
  expect(idsOf(again)).toEqual(delivery_ids);
  expect(again.every(({ attempt_count }) => attempt_count === 1)).toBe(true);
});
