import { beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type AcknowledgeDeps, acknowledge } from "../../services/sense/deliveries/acknowledge.ts";
import {
  type DeliveryDoc,
  DeliveryModel,
  SETTLED,
} from "../../services/sense/deliveries/deliveries.model.ts";
import { Enqueuer } from "../../services/sense/deliveries/enqueue.ts";
import { Ordering } from "../../services/sense/deliveries/ordering.ts";
import { AcknowledgementCounts } from "../../services/sense/deliveries/stats.ts";
import { orderingOf } from "../../services/sense/interests/routing-table.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { Store } from "../../storage/connection.ts";
import { atEnd } from "../support/own-folder.ts";
import { ownStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";
import { useMongo } from "../support/use.ts";

/** Of the test that runs: horizons are kept by tenant. */
let tenant_id: string;
let tenants = 0;
/** A queue that no claim may go through. */
const MANY = 500;
const mongo = await useMongo();

describe.each(["sqlite", ...("url" in mongo ? ["mongodb"] : [])])("ordered deliveries on %s", (driver) => {
  let store: Store;
  let deliveries: TenantCollection<DeliveryDoc>;
  /** No event up to here waits for its fan-out. */
  let horizon: string;
  const nodes: { ordering: Ordering; enqueuer: Enqueuer; acknowledging: AcknowledgeDeps }[] = [];
  /** The agents whose requests were woken, once each time. */
  const woken: string[] = [];

  beforeAll(async () => {
    store = await ownStore(driver === "mongodb" && "url" in mongo ? mongo.url : null);
    deliveries = store.collection(DeliveryModel);
    await store.ready();
    const broker = { call: async () => horizon, logger: { warn: () => {} } } as never;
    for (let n = 0; n < 2; n++) {
      const notifyReady = (ready: { agent_id: string }[]) =>
        void woken.push(...ready.map(({ agent_id }) => agent_id));
      const ordering = new Ordering({ broker, deliveries, ready: null, notifyReady });
      const requestQueues = { hasWaiting: () => false } as never;
      const enqueuer = new Enqueuer({
        ...{ deliveries, ready: null, store, requestQueues, ordering, notifyReady: () => {} },
      });
      // It has handed nothing out: the rows say which keys they have.
      const acknowledging: AcknowledgeDeps = {
        ...{ deliveries, ready: null, store, ordering, retentionMs: 1000 },
        claims: { acknowledgements: new AcknowledgementCounts() },
        progress: { acknowledged: () => {}, failed: () => {} } as never,
      };
      nodes.push({ ordering, enqueuer, acknowledging });
      atEnd(() => ordering.stop());
    }
  });
  beforeEach(() => {
    horizon = "z";
    tenant_id = `tn_${++tenants}`;
  });

  const nameOf = (n: number) => `evt_${String(n).padStart(6, "0")}`;
  const enqueue = (agent_id: string, numbers: number[], node = 0, keyOf = (_: number) => "k") => {
    const matched = { interest_ids: [], feed_ids: [] };
    const rest = { tenant_id, agent_id, priority: 5, matched, enrichment_depth: "none" } as const;
    const requests = numbers.map((n) => ({ ...rest, event_id: nameOf(n), ordering: keyOf(n) }));
    return nodes[node]?.enqueuer.enqueue(requests);
  };
  const ready = async (agent_id: string) => {
    const filter = { agent_id, state: "ready" as const };
    return (await deliveries.find(tenant_id, filter, { bounded: "a few" })).map(({ event_id }) => event_id);
  };
  /** Those that are ready, once some are. */
  const some = (agent_id: string) =>
    settle(async () => {
      const found = await ready(agent_id);
      return found.length > 0 && found;
    });
  const acknowledgeAll = async (agent_id: string, node = 0) => {
    const found = await deliveries.find(tenant_id, { agent_id, state: "ready" }, { bounded: "a few" });
    const delivery_ids = found.map(({ _id }) => _id);
    const { acknowledging } = nodes[node] as (typeof nodes)[number];
    await acknowledge(acknowledging, { tenant_id, agent_id, delivery_ids });
  };

  test("are ready one at a time, in the order of their events, and wake their receiver", async () => {
    horizon = "";
    woken.length = 0;
    await enqueue("ag_order", [3, 1]);
    await enqueue("ag_order", [2], 1);
    horizon = "z";
    for (const n of [1, 2, 3]) {
      expect(await some("ag_order")).toEqual([nameOf(n)]);
      await settle(() => woken.length === n);
      await acknowledgeAll("ag_order", n % 2);
    }
  });

  test("are released all at once, each with its key, by what acknowledges those before", async () => {
    const numbers = Array.from({ length: 90 }, (_, n) => n);
    await enqueue("ag_keys", numbers, 0, (n) => `k${n % 30}`);
    for (const from of [0, 30, 60]) {
      await settle(async () => (await ready("ag_keys")).length === 30);
      expect((await ready("ag_keys")).toSorted()).toEqual(numbers.slice(from, from + 30).map(nameOf));
      await acknowledgeAll("ag_keys", from % 4 ? 1 : 0);
    }
  });

  test.each([
    [1, 1],
    [6, 4],
    [40, 29],
  ])("with %d more of each key: the next of 30 keys take at most %d reads", async (each, most) => {
    const agent_id = `ag_reads${each}`;
    const numbers = Array.from({ length: 30 * (1 + each) }, (_, n) => n);
    await enqueue(agent_id, numbers, 0, (n) => `k${n % 30}`);
    await settle(async () => (await ready(agent_id)).length === 30);
    const reads = [jest.spyOn(deliveries, "find"), jest.spyOn(deliveries, "findOne")];
    try {
      const groups = Array.from({ length: 30 }, (_, n) => `${agent_id} k${n}`);
      const { heads } = await (nodes[0] as (typeof nodes)[0]).ordering.next(tenant_id, groups);
      expect(heads.map(({ event_id }) => event_id).toSorted()).toEqual(numbers.slice(30, 60).map(nameOf));
      expect(reads.flatMap(({ mock }) => mock.calls).length).toBeLessThanOrEqual(most);
    } finally {
      for (const each of reads) each.mockRestore();
    }
  });

  test("that come while the last one is being acknowledged are not left behind", async () => {
    await enqueue("ag_last", [1]);
    await some("ag_last");
    const { ordering } = nodes[0] as (typeof nodes)[0];
    const next = await ordering.next(tenant_id, ["ag_last k"]);
    await enqueue("ag_last", [2]);
    // It is found to be behind an active one.
    ordering.release(tenant_id, ["ag_last k"]);
    const end = { $set: { state: "acknowledged" as const }, $unset: SETTLED };
    const settling = deliveries.updateMany(tenant_id, { agent_id: "ag_last", state: "ready" }, end);
    await ordering.follow(next, settling);
    expect(await some("ag_last")).toEqual([nameOf(2)]);
  });

  test("wait for the fan-out of earlier events", async () => {
    horizon = nameOf(4).slice(4);
    await enqueue("ag_early", [5]);
    await nodes[0]?.ordering.sweep();
    expect(await ready("ag_early")).toEqual([]);
    // The earlier event is fanned out.
    await enqueue("ag_early", [4]);
    horizon = "z";
    expect(await some("ag_early")).toEqual([nameOf(4)]);
  });

  test("are never active twice, also if an earlier one comes late", async () => {
    await enqueue("ag_late", [2]);
    await some("ag_late");
    await enqueue("ag_late", [1]);
    for (const { ordering } of nodes) ordering.release(tenant_id, ["ag_late k"]);
    await Promise.all(nodes.map(({ ordering }) => ordering.sweep()));
    const second = { $set: { state: "ready", active_key: "ag_late k" } } as const;
    const writing = deliveries.update(
      tenant_id,
      { agent_id: "ag_late", held_key: { $exists: true } },
      second,
    );
    await expect(writing).rejects.toMatchObject({ code: 11000 });
    expect(await ready("ag_late")).toEqual([nameOf(2)]);
  });

  test("are released by the sweep if what settled the one before was lost", async () => {
    await enqueue("ag_lost", [1, 2]);
    await some("ag_lost");
    await deliveries.deleteMany(tenant_id, { agent_id: "ag_lost", state: "ready" });
    await settle(async () => {
      await nodes[1]?.ordering.sweep();
      return (await ready("ag_lost")).length > 0;
    });
    expect(await ready("ag_lost")).toEqual([nameOf(2)]);
  });

  test(`of ${MANY} with one key a claim finds one: the others are not in the index that it reads`, async () => {
    const numbers = Array.from({ length: MANY }, (_, n) => n);
    await enqueue("ag_many", numbers);
    for (let n = 0; n < 20; n++) {
      expect(await some("ag_many")).toEqual([nameOf(n)]);
      await acknowledgeAll("ag_many");
    }
    const left = await deliveries.count(tenant_id, { agent_id: "ag_many", state: "waiting" });
    expect(left).toBeGreaterThan(MANY - 22);
  });
});

test.each<[string, string, object]>([
  ["an attribute", "subject", { subject: "order/1" }],
  ["a part of the data", "data.order.id", { data: { order: { id: "order/1" } } }],
  ["an element of a list", "data.ids.0", { data: { ids: ["order/1"] } }],
])("the value of %s is a key", (_, path, event) =>
  expect(orderingOf(event as never, path)).toBe(orderingOf({ subject: "order/1" } as never, "subject")),
);

test.each<[string, string, object]>([
  ["missing", "data.id", { data: {} }],
  ["of a missing part", "data.order.id", {}],
  ["null", "data.id", { data: { id: null } }],
  ["empty", "subject", { subject: "" }],
  ["a list", "data.id", { data: { id: [1] } }],
  ["inherited", "data.constructor.name", { data: {} }],
  ["a property of a text", "data.length", { data: "text" }],
])("a value that is %s is none", (_, path, event) =>
  expect(orderingOf(event as never, path)).toBeUndefined(),
);
