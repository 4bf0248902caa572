/** Work on rows of a tenant that fails, or is long, keeps no other tenant's: counted in rounds. */
import { afterEach, expect, jest, test } from "@jest/globals";
import type { Context } from "moleculer";
import { Grants } from "../../services/identity/oauth/grants.ts";
import { GrantModel } from "../../services/identity/oauth/oauth.model.ts";
import { StorageUsage } from "../../services/platform/usage/usage.ts";
import { CatchUp } from "../../services/remember/search/catch-up.ts";
import { ErasureModel } from "../../services/remember/search/search.model.ts";
import { ConnectorModel } from "../../services/sense/connectors/connectors.model.ts";
import { Runner } from "../../services/sense/connectors/runner.ts";
import { EventTypes } from "../../services/sense/events/event-types.ts";
import { EventModel } from "../../services/sense/events/events.model.ts";
import { FanOutQueue } from "../../services/sense/events/fan-out-queue.ts";
import { FanOutSweep } from "../../services/sense/events/fan-out-sweep.ts";
import { fanoutKey } from "../../services/sense/events/position.ts";
import { WebhookLogModel, WebhookModel } from "../../services/sense/ingest/ingest.model.ts";
import { RequestLog } from "../../services/sense/ingest/request-log.ts";
import { TenantCollection } from "../../storage/collection.ts";
import { ownBroker, ownStore } from "../support/own-store.ts";

const store = await ownStore();
const changed_at = 1_000;
const entry = (tenant_id: string, n: number) => {
  const texts = { title: "t", text: "x", tags: [], labels: [] };
  return { ...texts, tenant_id, id: `${tenant_id} ${n}`, kind: "memory", scope: "agent", changed_at };
};
const broker = await ownBroker([
  {
    name: "memories",
    actions: {
      search_entries: ({ params: { after } }: Context<{ after: { id: string } | null }>) => {
        const entries = [entry("tn_a", 0), entry("tn_a", 1), entry("tn_b", 0)];
        return after?.id ? { entries: [], last: null } : { entries, last: { changed_at, id: "z" } };
      },
    },
  },
  {
    name: "tenants",
    actions: {
      get_many: ({ params }: Context<{ tenant_ids: string[] }>) =>
        params.tenant_ids.map((id) => ({ id, status: "active" })),
    },
  },
  { name: "sessions", actions: { close: () => null } },
  {
    name: "keys",
    actions: {
      end({ params }: Context<{ tenant_id: string }>) {
        if (params.tenant_id === "tn_a") throw new Error("no such key");
      },
    },
  },
]);
afterEach(() => {
  jest.restoreAllMocks();
});

/** Lets reads of tenant A fail. */
function failForA(method: "find" | "findEach") {
  const proto = TenantCollection.prototype;
  const whole = proto[method] as (...args: unknown[]) => Promise<never>;
  jest.spyOn(proto, method).mockImplementation(async function (this: unknown, tenant_id, ...rest) {
    if (tenant_id === "tn_a") throw new Error("A's alone");
    return whole.call(this, tenant_id, ...rest);
  });
}

test("measuring what tenants store", async () => {
  const measured: string[] = [];
  const bytesOf = async (tenant_id: string) => {
    if (tenant_id === "tn_a") throw new Error("A's alone");
    measured.push(tenant_id);
    return 1;
  };
  const usage = new StorageUsage({ store, blobs: { bytesOf } as never, defaultMb: 0 });
  for (const tenant_id of ["tn_a", "tn_b", "tn_c"]) await usage.setQuota(tenant_id, 1);
  await expect(usage.measureDue()).rejects.toThrow("tn_a tn_a: A's alone");
  await usage.measureDue();
  expect(measured.sort()).toEqual(["tn_b", "tn_c"]);
});

test("the index's search for missed changes: an entry that it never takes is left out", async () => {
  const put: string[] = [];
  const cursors = new Map<string, string>();
  const index = {
    isShared: true,
    put: async (_: string, entries: { id: string }[]) => {
      if (entries.some(({ id }) => id === "tn_a 0")) throw new Error("no text");
      put.push(...entries.map(({ id }) => id));
    },
    cursor: async (name: string) => cursors.get(name) ?? null,
    setCursor: async (name: string, value: string) => void cursors.set(name, value),
  };
  const record = { embeddings: {}, erasures: store.collection(ErasureModel) };
  const view = () => ({ self: "one", nodes: ["one"] });
  const catchUp = new CatchUp({ broker, index, ...record, now: store.now, view } as never);
  for (let pass = 0; pass < 4; pass++) await expect(catchUp.run()).rejects.toThrow("no text");
  await catchUp.run();
  expect([...new Set(put)].sort()).toEqual(["tn_a 1", "tn_b 0"]);
});

test("fan-out of events in the store", async () => {
  const events = store.collection(EventModel);
  const due = (tenant_id: string, n: number, more: object) => ({
    ...{ _id: `evt_${tenant_id} ${n}`, tenant_id, ce_id: `${n}`, type: "t", source: "/", subject: null },
    size: 2,
    ...{ envelope: "{}", publisher_id: null, accepted_at: new Date(), position: `${n}` },
    ...{ fanout_key: fanoutKey(tenant_id, 1), ...more },
  });
  await events.insertMany([due("tn_b", 1, {}), due("tn_b", 2, { accepted_at: "never" }), due("tn_a", 1, {})]);
  const queue = new FanOutQueue();
  const unread: string[] = [];
  const onUnreadable = async ({ _id }: { _id: string }) => void unread.push(_id);
  const sweep = new FanOutSweep({ events, store, broker, queue, instance: "i", onUnreadable } as never);
  failForA("find");
  queue.markSpilled("tn_a");
  queue.markSpilled("tn_b");
  await expect(sweep.claim(queue.nextSpilled() as string)).rejects.toThrow("A's alone");
  await sweep.claim(queue.nextSpilled() as string);
  expect([queue.waiting, queue.load.events, unread]).toEqual([["tn_b"], 1, ["evt_tn_b 2"]]);
});

test("counts and logs that are written together", async () => {
  const types = new EventTypes({ events: store.collection(EventModel), store, broker } as never);
  const [logs, webhooks] = [store.collection(WebhookLogModel), store.collection(WebhookModel)];
  const log = new RequestLog({ logs, webhooks, report: () => {} });
  for (const tenant_id of ["tn_a", "tn_b"]) {
    types.note({ tenant_id, type: "order.paid", source: "/s", accepted_at: new Date() } as never);
    log.add(broker, { _id: `wh_${tenant_id}`, tenant_id }, { request_id: "r" } as never);
    await webhooks.insert({ _id: `wh_${tenant_id}`, tenant_id } as never);
  }
  failForA("find");
  await expect(log.write()).rejects.toThrow("tn_a: A's alone");
  expect([await logs.count("tn_a", {}), await logs.count("tn_b", {})]).toEqual([0, 1]);
  jest.restoreAllMocks();
  await log.write();
  expect(await logs.count("tn_a", {})).toBe(1);
  failForA("findEach");
  await expect(types.flush()).rejects.toThrow("tn_a: A's alone");
  const found = (await store.collections()).get("event_types");
  expect((await found?.find({}).toArray())?.map(({ tenant_id }) => tenant_id)).toEqual(["tn_b"]);
});

test("connectors, and grants that have expired", async () => {
  const connectors = store.collection(ConnectorModel);
  const connector = (tenant_id: string, kind: string) =>
    connectors.insert({ _id: `con_${tenant_id}`, tenant_id, kind, paused: false, mapping: {} } as never);
  await connector("tn_a", "telex");
  await connector("tn_b", "amqp091");
  const runtime = { store, config: { MONGO_URL: null, NATS_URL: null }, secrets: { open: () => "amqp://[" } };
  const runner = new Runner(runtime as never, broker);
  await expect(runner.look()).rejects.toThrow("tn_a: ");
  expect(Object.values(runner.states())).toEqual([1]);
  await runner.stopAll();
  const rows = store.collection(GrantModel);
  const expires_at = new Date(1_000);
  for (const tenant_id of ["tn_a", "tn_b"])
    await rows.insert({
      _id: `g ${tenant_id}`,
      tenant_id,
      key_id: "k",
      session_id: "s",
      expires_at,
    } as never);
  await expect(new Grants(store, {} as never).removeOld(broker)).rejects.toThrow("no such key");
  expect(await rows.system.find({}).toArray()).toMatchObject([{ _id: "g tn_a", state: "ended", expires_at }]);
});
