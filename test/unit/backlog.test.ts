import { expect, test } from "@jest/globals";
import { newOldestReady } from "../../services/sense/deliveries/backlog.ts";
import { type DeliveryDoc, DeliveryModel } from "../../services/sense/deliveries/deliveries.model.ts";
import { ownStore } from "../support/own-store.ts";

const tenant_id = "tn_late";

test("the oldest ready delivery is found of all agents and priorities, some agents at a time", async () => {
  const store = await ownStore();
  const deliveries = store.collection(DeliveryModel);
  await store.ready();
  const row = (agent_id: string, state: string, priority: number, at: number) =>
    ({
      ...{ _id: `dlv_${at}`, tenant_id, agent_id, event_id: `evt_${at}`, state, priority, attempt_count: 0 },
      ...{ created_at: new Date(at), size: 1, enrichment_depth: "none", timeline: [] },
      matched: { interest_ids: [], feed_ids: [] },
    }) as DeliveryDoc;
  const oldest = row("ag_b", "ready", 0, 2_000);
  await deliveries.insertMany([
    ...[row("ag_a", "ready", 5, 3_000), row("ag_b", "leased", 5, 1_000), row("ag_b", "ready", 5, 4_000)],
    oldest,
    row("ag_c", "ready", 0, 5_000),
    { ...row("ag_a", "ready", 0, 500), tenant_id: "tn_other" },
  ]);
  expect(await newOldestReady(deliveries, tenant_id)()).toBe(2_000);
  const slow = newOldestReady(deliveries, tenant_id, 1);
  expect([await slow(), await slow(), await slow()]).toEqual([3_000, 2_000, 2_000]);
  expect([await slow(), await slow()]).toEqual([2_000, 2_000]);
  await deliveries.update(tenant_id, { _id: oldest._id }, { $set: { state: "acknowledged" } });
  for (let agent = 0; agent < 8; agent++) await slow();
  expect(await slow()).toBe(3_000);
  await deliveries.updateMany(tenant_id, { state: "ready" }, { $set: { state: "acknowledged" } });
  expect(await newOldestReady(deliveries, tenant_id)()).toBeNull();
});
