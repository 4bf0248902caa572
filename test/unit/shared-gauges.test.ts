import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Service, ServiceBroker } from "moleculer";
import { nodesWith } from "../../mixins/affinity.ts";
import { readGauges } from "../../observability/metrics.ts";
import { TenantModel } from "../../services/identity/tenants/tenants.model.ts";
import { tenantsService } from "../../services/identity/tenants/tenants.service.ts";
import { StorageUsage } from "../../services/platform/usage/usage.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const GAUGES = ["requests", "events", "deliveries", "searches", "cpu_ms", "stored_bytes"].map(
  (kind) => `top_tenants_${kind}`,
);
const USED = { requests: 9, published: 3, created: 2, dead_lettered: 1, searches: 4, cpu_ms: 5 };

let files: TemporaryStore;
let brokers: ServiceBroker[];

beforeEach(async () => {
  files = await temporaryStore();
  const rows = files.store.collection(TenantModel);
  await files.store.ready();
  const at = new Date();
  const row = { _id: "tn_1", tenant_id: "tn_1", slug: "noisy", name: "Noisy", status: "active" };
  await rows.insert({ ...row, created_at: at, updated_at: at } as never);
  brokers = ["one", "two", "three"].map((nodeID) => {
    const broker = new ServiceBroker({ nodeID, transporter: "Fake", logger: false });
    broker.createService({ name: "tenants" });
    return broker;
  });
  await Promise.all(brokers.map((broker) => broker.start()));
  await seeEachOther(brokers);
});
afterEach(async () => {
  await Promise.all(brokers.map((broker) => broker.stop()));
  await files.remove();
});

const seeEachOther = (nodes: ServiceBroker[]) =>
  settle(() => nodes.every((broker) => nodesWith(broker, "tenants").length === nodes.length));

/** Each node's gauge of the tenants that use most, and its values, if any. */
async function reported(nodes: ServiceBroker[]): Promise<Record<string, Record<string, unknown>>> {
  const { store } = files;
  const usage = new StorageUsage({ store, blobs: {} as never, defaultMb: 0 });
  store.growth.add("tn_1", 6);
  const traffic = { use: async () => new Map([["tn_1", USED]]) };
  const { started } = tenantsService({ store, usage, traffic, config: {} } as never);
  const said: Record<string, Record<string, unknown>> = {};
  for (const broker of nodes) {
    // The gauges of a process: those of the node before are replaced.
    (started as (this: Service) => void).call({ broker, name: "tenants" } as Service);
    const gauges = Object.entries(await readGauges(GAUGES)).filter(([, values]) => "noisy" in values);
    if (gauges.length > 0) said[broker.nodeID] = Object.fromEntries(gauges);
  }
  return said;
}

test("one node says how much tenants use, all of it, and another one when it has gone", async () => {
  const [owner, ...none] = Object.entries(await reported(brokers));
  expect(none).toEqual([]);
  expect(Object.keys(owner?.[1] ?? {}).sort()).toEqual([...GAUGES].sort());
  expect(owner?.[1]).toMatchObject({ top_tenants_events: { noisy: 3 }, top_tenants_cpu_ms: { noisy: 5 } });

  await brokers.find(({ nodeID }) => nodeID === owner?.[0])?.stop();
  brokers = brokers.filter(({ nodeID }) => nodeID !== owner?.[0]);
  await seeEachOther(brokers);
  const after = Object.keys(await reported(brokers));
  expect(after).toHaveLength(1);
  expect(after).not.toContain(owner?.[0]);
});
