import { beforeEach, expect, test } from "@jest/globals";
import type { CloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { Fault } from "../../lib/contract/faults.ts";
import { FairQueue } from "../../lib/queue/fair-queue.ts";
import { Arrivals } from "../../services/sense/events/arrivals.ts";
import { EventTypes } from "../../services/sense/events/event-types.ts";
import { type EventDoc, EventModel } from "../../services/sense/events/events.model.ts";
import { FanOut, missingFor } from "../../services/sense/events/fan-out.ts";
import { type Entry, FanOutQueue } from "../../services/sense/events/fan-out-queue.ts";
import { FanOutStamps } from "../../services/sense/events/fan-out-stamps.ts";
import { fanoutKey } from "../../services/sense/events/position.ts";
import { Publisher } from "../../services/sense/events/publish.ts";
import { RecentEvents } from "../../services/sense/events/recent-events.ts";
import type { Store } from "../../storage/connection.ts";
import { ownBroker, ownStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const TENANT = "tn_test";
/** Due times of the delayed events that were announced. */
const waiting: number[] = [];
/** Moves the clock that decides. */
let later = 0;
/** Hook that runs when an event is matched. */
let onMatch: (event: CloudEvent) => void;
let enqueued: string[];
/** Tenants whose events are being matched, or were. */
let matching: string[];
/** Blocks the matching of a tenant. */
const held = new Map<string, Promise<void>>();

const opened = await ownStore();
const events = opened.collection(EventModel);
const broker = await ownBroker([
  {
    name: "interests",
    actions: {
      match: async ({ params }) => {
        // All events here are fanned out after their acceptance.
        if (params.max_ms !== undefined) return { version: 0, matches: [] };
        matching.push(params.tenant_id);
        await held.get(params.tenant_id);
        const given: { event_id: string; envelope: CloudEvent }[] = params.events;
        const matches = given.map(({ event_id, envelope }) => {
          onMatch(envelope);
          const receiver = {
            ...{ agent_id: "ag_1", interest_ids: [], feed_ids: [], priority: 5, enrichment_depth: "none" },
          };
          return { event_id, receivers: [receiver] };
        });
        return { version: 0, matches };
      },
    },
  },
  {
    name: "deliveries",
    actions: {
      enqueue({ params }) {
        enqueued.push(...params.deliveries.map((each: { event_id: string }) => each.event_id));
      },
    },
  },
]);
beforeEach(() => {
  later = 0;
  enqueued = [];
  matching = [];
  held.clear();
  onMatch = () => undefined;
});

function start(instance: string, node: { driver?: Store["driver"]; events?: typeof events } = {}) {
  const store: Store = {
    ...opened,
    ...(node.driver && { driver: node.driver }),
    now: () => Date.now() + later,
  };
  const recent = new RecentEvents(1e6);
  const arrivals = new Arrivals(broker);
  const turns = new FairQueue({ capacity: 4, perTenant: 3, perCaller: 2, maxWaiting: 0 });
  const fanOut = new FanOut({ events: node.events ?? events, store, broker, arrivals, instance }, turns);
  const publisher = new Publisher({
    ...{ events, store, broker, fanOut, types: new EventTypes({ events, store, broker }), recent, arrivals },
    ...{ onWaiting: (due) => void waiting.push(due), maxBytes: 1e6 },
  });
  return { fanOut, publisher };
}

const published = (id: string): CloudEvent => ({ specversion: "1.0", id, source: "/s", type: "t", data: {} });
const origin = { tenant_id: TENANT, publisher_id: null };
const row = async (event_id: string) => (await events.findOne(TENANT, { _id: event_id })) as EventDoc;
const isDone = async (event_id: string) => (await row(event_id)).fanned_out_at !== undefined;

test("retries, then parks an event that fails alone; others are not held up", async () => {
  const { fanOut, publisher } = start("alone");
  let tries = 0;
  onMatch = ({ id }) => {
    if (id !== "poison") return;
    tries++;
    throw new Error("cannot be matched");
  };
  fanOut.start();
  const results = await publisher.publishEach(
    ["good-1", "poison", "good-2"].map((id) => () => published(id)),
    origin,
  );
  const [first, poison, second] = results.map((each) => (each as { event_id: string }).event_id) as [
    string,
    string,
    string,
  ];
  await settle(() => isDone(first));
  await settle(() => isDone(second));
  for (let failures = 1; failures < 5; failures++) {
    await settle(async () => ((await row(poison)).fanout_attempts ?? 0) >= failures);
    later += 400_000;
    fanOut.nudge();
  }
  const parked = await settle(async () => ((await row(poison)).parked_at ? row(poison) : null));
  expect(parked).toMatchObject({ park_reason: "cannot be matched" });
  expect(parked.fanout_key).toBeUndefined();
  // The batch that all three were in, and then five times alone.
  expect(tries).toBe(6);
  expect([...new Set(enqueued)].sort()).toEqual([first, second].sort());
  await fanOut.stop();
});

test("while nothing works nothing is parked, and all is done when it works again", async () => {
  const { fanOut, publisher } = start("systemic");
  let failures = 0;
  onMatch = () => {
    failures++;
    throw new Fault("service_unavailable", "not now");
  };
  fanOut.start();
  const { event_id } = await publisher.publish(published("outage"), origin);
  await settle(() => failures >= 3);
  expect((await row(event_id)).fanout_attempts).toBeUndefined();
  onMatch = () => undefined;
  await settle(() => isDone(event_id));
  expect(enqueued).toEqual([event_id]);
  await fanOut.stop();
});

test("what a node that died had leased is taken up by the next at once", async () => {
  const leased = { fanout_key: fanoutKey(TENANT, Date.now() + 9_000), fanout_owner: "dead" };
  const event = published("orphan");
  const envelope = JSON.stringify(event);
  await events.insert({
    ...{ _id: "evt_orphan", tenant_id: TENANT, ce_id: event.id, type: "t", source: "/s", subject: null },
    ...{ envelope, size: envelope.length, publisher_id: null, accepted_at: new Date(), position: "0" },
    ...leased,
  });
  const { fanOut } = start("next");
  fanOut.start();
  await settle(() => isDone("evt_orphan"));
  expect(enqueued).toEqual(["evt_orphan"]);
  await fanOut.stop();
});

test("what is not done when it stops is given back", async () => {
  const { fanOut, publisher } = start("stopping");
  onMatch = () => {
    throw new Fault("service_unavailable", "not now");
  };
  fanOut.start();
  const { event_id } = await publisher.publish(published("unfinished"), origin);
  await fanOut.stop();
  expect(await row(event_id)).toMatchObject({ fanout_key: expect.any(String) });
  expect((await row(event_id)).fanout_owner).toBeUndefined();
});

test("of events that share a stamp none is fanned out before it was accepted", async () => {
  const { fanOut, publisher } = start("together");
  const accepted = [new Date("2026-01-01T00:00:00.000Z"), new Date("2026-01-01T00:00:00.030Z")];
  const ids = await Promise.all(
    accepted.map(async (_, i) => (await publisher.publish(published(`shared-${i}`), origin)).event_id),
  );
  const stamps = new FanOutStamps(events, () => undefined);
  const entry = {
    ...{ tenant_id: TENANT, event: null, size: 1, position: "0", owner: "", leased_until: 0, attempts: 0 },
  };
  stamps.add(
    accepted.map((at, i) => ({
      entry: { ...entry, event_id: ids[i] as string, due_at: at.getTime() },
      ...{ matched: 1, at },
    })),
  );
  await stamps.flush();
  const rows = await Promise.all(ids.map(row));
  for (const [i, at] of accepted.entries())
    expect(rows[i]?.fanned_out_at?.getTime()).toBeGreaterThanOrEqual(at.getTime());
  await fanOut.stop();
});

/** Publishes events of a tenant in one batch; returns their ids. */
async function publishMany({ publisher }: ReturnType<typeof start>, tenant_id: string, count: number) {
  const candidates = Array.from({ length: count }, (_, n) => () => published(`${tenant_id}-${n}`));
  const results = await publisher.publishEach(candidates, { tenant_id, publisher_id: null });
  return results.map((each) => (each as { event_id: string }).event_id);
}

/** The batches of one tenant that are worked on at once at the most. */
const MOST_BATCHES = 3;
const BATCH = 400;
const atWork = (tenant_id: string) => matching.filter((each) => each === tenant_id).length;

test("stuck batches of one tenant do not delay another's events", async () => {
  const node = start("fair");
  const { promise, resolve } = Promise.withResolvers<void>();
  held.set("tn_stuck", promise);
  node.fanOut.start();
  const stuck = await publishMany(node, "tn_stuck", (MOST_BATCHES + 2) * BATCH);
  await settle(() => atWork("tn_stuck") === MOST_BATCHES);
  const [other] = (await publishMany(node, "tn_other", 1)) as [string];
  await settle(async () => (await events.findOne("tn_other", { _id: other }))?.fanned_out_at !== undefined);
  expect(enqueued).toContain(other);
  expect(stuck.filter((id) => enqueued.includes(id))).toEqual([]);
  resolve();
  await settle(() => new Set(stuck).isSubsetOf(new Set(enqueued)));
  await node.fanOut.stop();
});

test("what waited longer than its lease is left to the node that took it meanwhile", async () => {
  const [stuck, looking] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
  // Too busy to look what is due, so that it does not renew its leases.
  const system = new Proxy(events.system, {
    get(target, name) {
      if (name === "findOne") return () => looking.promise;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const busy = new Proxy(events, {
    get(target, name) {
      const value = name === "system" ? system : Reflect.get(target, name, target);
      return typeof value === "function" && name !== "system" ? value.bind(target) : value;
    },
  });
  const slow = start("slow", { driver: "mongodb", events: busy });
  const quick = start("quick", { driver: "mongodb" });
  held.set("tn_lapsed", stuck.promise);
  slow.fanOut.start();
  const all = await publishMany(slow, "tn_lapsed", (MOST_BATCHES + 2) * BATCH);
  await settle(() => atWork("tn_lapsed") === MOST_BATCHES);
  later = 11_000;
  held.clear();
  quick.fanOut.start();
  const times = () => {
    const counts = Map.groupBy(enqueued, (id) => id);
    return all.map((id) => counts.get(id)?.length ?? 0);
  };
  await settle(() => times().every((n) => n === 1));
  stuck.resolve();
  looking.resolve(null);
  await settle(() => slow.fanOut.load.events === 0);
  await slow.fanOut.stop();
  await quick.fanOut.stop();
  // The batches that it had begun it could not take back.
  expect(times()).toEqual(all.map((_, i) => (i < MOST_BATCHES * BATCH ? 2 : 1)));
});

test.each<[string, object]>([
  ["the database, which cannot be reached or written to", { name: "MongoServerSelectionError" }],
  [
    "the service interests, which does not answer",
    { name: "RequestTimeoutError", data: { action: "interests.match" } },
  ],
  ["other services, which are busy", { name: "QueueIsFullError" }],
])("waits for %s, and says so", (expected, error) => expect(missingFor(error)).toBe(expected));

test("a delayed event tells when it is due, in any time zone, and others nothing", async () => {
  const { fanOut, publisher } = start("delayed");
  const delayed = { ...published("delayed"), notbefore: "2099-01-31T11:30:00+02:00" };
  for (const event of [published("at-once"), delayed]) await publisher.publish(event, origin);
  expect(waiting).toEqual([Date.UTC(2099, 0, 31, 9, 30)]);
  await fanOut.stop();
});

function entry(tenant_id: string, n: number, more: Partial<Entry> = {}): Entry {
  const event_id = `${tenant_id}-${n}`;
  const event = { specversion: "1.0", id: event_id, source: "/", type: "t" } as const;
  return {
    ...{ event_id, tenant_id, event, size: 100, position: "", due_at: 0, owner: "me" },
    ...{ leased_until: Number.POSITIVE_INFINITY, attempts: 0 },
    ...more,
  };
}

function filled(...entries: Entry[]): FanOutQueue {
  const queue = new FanOutQueue();
  for (const each of entries) queue.push(each);
  return queue;
}

const ids = (entries: Entry[]) => entries.map(({ event_id }) => event_id);

test("each tenant's events are taken in their own order", () => {
  const queue = filled(entry("a", 1), entry("b", 1), entry("a", 2), entry("a", 3));
  expect(queue.waiting).toEqual(["a", "b"]);
  expect([ids(queue.take("a", 2)), ids(queue.take("a", 2))]).toEqual([["a-1", "a-2"], ["a-3"]]);
  expect([queue.waiting, ids(queue.take("b", 2)), queue.take("c", 2)]).toEqual([["b"], ["b-1"], []]);
});

test("a batch is bounded by bytes, but never empty", () => {
  const queue = filled(entry("a", 1, { size: 900 }), entry("a", 2), entry("a", 3), entry("a", 4));
  expect(ids(queue.take("a", 10, 300))).toEqual(["a-1"]);
  expect(ids(queue.take("a", 10, 200))).toEqual(["a-2", "a-3"]);
});

test("a tenant is behind while its events wait here or in the store", () => {
  const queue = filled(entry("a", 1));
  expect([queue.isBehind("a"), queue.isBehind("b")]).toEqual([true, false]);
  const batch = queue.take("a", 1);
  expect(queue.isBehind("a")).toBe(false);
  queue.putBack(batch);
  expect(queue.isBehind("a")).toBe(true);
  queue.markSpilled("b");
  expect(queue.isBehind("b")).toBe(true);
  queue.markCaughtUp("b");
  expect(queue.isBehind("b")).toBe(false);
});

test("what is put back comes first again", () => {
  const queue = filled(entry("a", 1), entry("a", 2), entry("a", 3));
  queue.putBack(queue.take("a", 2));
  expect(ids(queue.take("a", 3))).toEqual(["a-1", "a-2", "a-3"]);
});

test("an event is held until it is released, and taken once under one lease", () => {
  const first = entry("a", 1);
  const queue = filled(first, entry("a", 1));
  expect(queue.take("a", 5)).toEqual([first]);
  expect(queue.get("a-1")).toBe(first);
  queue.push(entry("a", 1));
  expect(queue.take("a", 5)).toEqual([]);
  queue.release(first);
  expect([queue.get("a-1"), queue.load.events]).toEqual([undefined, 0]);
});

test("a tenant that is full spills, alone, until the store's part is taken", () => {
  const queue = new FanOutQueue();
  let n = 0;
  while (queue.admits("a")) queue.push(entry("a", n++, { size: 1 }));
  expect(queue.capacity("a")).toBe(0);
  expect([queue.admits("b"), queue.nextSpilled()]).toEqual([true, null]);
  for (let at = 0; at < n * 0.75; at += 200) for (const each of queue.take("a", 200)) queue.release(each);
  expect(queue.nextSpilled()).toBe("a");
  expect(queue.admits("a")).toBe(false);
  queue.markCaughtUp("a");
  expect([queue.admits("a"), queue.nextSpilled()]).toEqual([true, null]);
});

test("large events fill it by their bytes, and never all of it", () => {
  const MB = 1_048_576;
  const queue = new FanOutQueue();
  const filledBy = (tenant_id: string) => {
    let n = 0;
    while (queue.admits(tenant_id)) queue.push(entry(tenant_id, n++, { size: MB }));
    return n;
  };
  expect(filledBy("a")).toBe(32);
  expect(filledBy("b")).toBe(16);
  const [first] = queue.take("a", 1);
  queue.release(first as Entry);
  queue.markCaughtUp("b");
  expect([queue.admits("a"), queue.admits("b")]).toEqual([false, true]);
  for (let tenant = 0; tenant < 100; tenant++) expect(queue.admits(`c${tenant}`)).toBe(true);
  queue.push(entry("huge", 1, { size: 64 * MB }));
  expect(queue.admits("late")).toBe(true);
});

test("what the store has of each is taken in turn", () => {
  const queue = new FanOutQueue();
  for (const tenant_id of ["flood", "b", "c"]) queue.markSpilled(tenant_id);
  const taken = Array.from({ length: 6 }, () => {
    const spilled = queue.nextSpilled() as string;
    queue.markSpilled(spilled);
    // It goes on publishing.
    queue.admits("flood");
    return spilled;
  });
  expect(taken).toEqual(["flood", "b", "c", "flood", "b", "c"]);
});
