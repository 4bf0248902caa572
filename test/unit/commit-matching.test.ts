import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import type { CloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { Claims } from "../../services/sense/deliveries/claim.ts";
import { type DeliveryDoc, DeliveryModel } from "../../services/sense/deliveries/deliveries.model.ts";
import { ofEvent } from "../../services/sense/deliveries/delivery-id.ts";
import { type CommitDeliveries, Enqueuer } from "../../services/sense/deliveries/enqueue.ts";
import { Receivers } from "../../services/sense/deliveries/receive.ts";
import { Arrivals } from "../../services/sense/events/arrivals.ts";
import { matchBeforeCommit } from "../../services/sense/events/commit-matching.ts";
import { type EventDoc, EventModel } from "../../services/sense/events/events.model.ts";
import { FanOut } from "../../services/sense/events/fan-out.ts";
import { Publisher } from "../../services/sense/events/publish.ts";
import type { Published } from "../../services/sense/events/publish-answers.ts";
import { RecentEvents, toLoaded } from "../../services/sense/events/recent-events.ts";
import type { CommitMatching, Receiver } from "../../services/sense/interests/receiver.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import { openStore, type Store } from "../../storage/connection.ts";
import { settle } from "../support/settle.ts";

const TENANT = "tn_test";
const AGENT = "ag_1";
let dataDir: string;
let store: Store;
let events: TenantCollection<EventDoc>;
let deliveries: TenantCollection<DeliveryDoc>;
let broker: ServiceBroker;
let receivers: Receivers;
let enqueuer: Enqueuer;
let fanOut: FanOut;
let publisher: Publisher;
/** Events of this type need a filter; those of "nobody" have no receiver. */
const FILTERED = "filtered";
/** Delays fan-out. */
let gate: Promise<void>;
let enqueued: string[];

const receiversOf = ({ type }: CloudEvent): Receiver[] =>
  type === "nobody"
    ? []
    : [{ agent_id: AGENT, interest_ids: ["int_1"], feed_ids: [], priority: 5, enrichment_depth: "none" }];

function matchByLookup(given: CloudEvent[]): Receiver[][] {
  const filtered = given.findIndex(({ type }) => type === FILTERED);
  return given.slice(0, filtered < 0 ? given.length : filtered).map(receiversOf);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "sensorium-at-once-"));
  store = await openStore({ DATA_DIR: dataDir });
  events = store.collection(EventModel);
  deliveries = store.collection(DeliveryModel);
  broker = new ServiceBroker({ logger: false });
  const agents = { get: async () => ({ visibility_timeout_seconds: 30 }) } as never;
  const claims = new Claims({ broker, store, deliveries, agents, tracing: null });
  receivers = new Receivers(claims, () => store.now());
  enqueuer = new Enqueuer({ deliveries, store, receivers, notifyReady: () => {} });
  // Keeps the last event alone, so that the others of a batch have to be read back.
  const recent = new RecentEvents(0);
  broker.createService({
    name: "interests",
    actions: {
      async match({ params }) {
        await gate;
        return params.events.map(({ event_id, envelope }: { event_id: string; envelope: CloudEvent }) => ({
          event_id,
          receivers: receiversOf(envelope),
        }));
      },
    },
    methods: {
      matchByLookup: async (_, given) => matchByLookup(given),
    } satisfies CommitMatching,
  });
  broker.createService({
    name: "deliveries",
    actions: {
      async enqueue({ params }) {
        enqueued.push(...params.deliveries.map((each: { event_id: string }) => each.event_id));
        await enqueuer.enqueue(params.deliveries);
      },
    },
    methods: {
      prepareDeliveries: (requests) => enqueuer.prepareDeliveries(requests),
      confirmDeliveries: (prepared, ids) => enqueuer.confirmDeliveries(prepared, ids),
    } satisfies CommitDeliveries,
  });
  broker.createService({
    name: "events",
    actions: {
      async load({ params: { event_ids } }) {
        const known = event_ids.map((id: string) => recent.get(TENANT, id));
        const rows = await events.find(TENANT, { _id: { $in: event_ids } }, { bounded: "a few" });
        return [...known.filter((each: unknown) => each !== null), ...rows.map(toLoaded)];
      },
    },
  });
  await broker.start();
  const arrivals = new Arrivals(broker);
  fanOut = new FanOut({ events, store, broker, recent, arrivals, instance: "one" });
  publisher = new Publisher({
    events,
    store,
    broker,
    fanOut,
    recent,
    arrivals,
    onWaiting: () => {},
    maxBytes: 1e6,
  });
  fanOut.start();
});
afterAll(async () => {
  await fanOut.stop();
  await broker.stop();
  await store.close();
  await rm(dataDir, { recursive: true });
});
beforeEach(() => {
  gate = Promise.resolve();
  enqueued = [];
});

const origin = { tenant_id: TENANT, publisher_id: null };
const event = (id: string, type = "t"): CloudEvent => ({
  specversion: "1.0",
  id,
  source: "/s",
  type,
  data: {},
});
const row = async (event_id: string) => (await events.findOne(TENANT, { _id: event_id })) as EventDoc;
const delivered = (event_id: string) => deliveries.find(TENANT, ofEvent(event_id), { bounded: "a few" });
const isDone = async (event_id: string) => (await row(event_id)).fanned_out_at !== undefined;

/** Publishes in one batch. */
async function publish(...given: CloudEvent[]): Promise<string[]> {
  const results = await publisher.publishEach(
    given.map((each) => () => each),
    origin,
  );
  return results.map((each) => (each as Published).event_id);
}

test("an event is written together with its deliveries", async () => {
  const [wanted, ignored] = (await publish(event("a"), event("b", "nobody"))) as [string, string];
  expect(await row(wanted)).toMatchObject({ fanned_out_at: expect.any(Date), matched_count: 1 });
  expect(await row(ignored)).toMatchObject({ matched_count: 0, unmatched_key: expect.any(String) });
  for (const id of [wanted, ignored]) expect((await row(id)).fanout_key).toBeUndefined();
  expect(await delivered(wanted)).toEqual([expect.objectContaining({ agent_id: AGENT, state: "ready" })]);
  expect(await delivered(ignored)).toEqual([]);
  expect(enqueued).toEqual([]);
});

test("a duplicate event adds no delivery", async () => {
  const [first, second] = await publish(event("twice"), event("twice"));
  expect(second).toBe(first);
  expect(await publish(event("twice"))).toEqual([first]);
  expect(await delivered(first as string)).toHaveLength(1);
  const of = await deliveries.find(TENANT, { agent_id: AGENT, state: "ready" }, { bounded: "a few" });
  for (const { event_id } of of) expect(await row(event_id as string)).not.toBeNull();
});

test("an event with a filter is left to fan-out, and later events do not overtake it", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const [before, filtered, after] = (await publish(event("1"), event("2", FILTERED), event("3"))) as [
    string,
    string,
    string,
  ];
  const [later] = (await publish(event("4"))) as [string];
  expect(await isDone(before)).toBe(true);
  for (const id of [filtered, after, later]) expect(await isDone(id)).toBe(false);
  resolve();
  for (const id of [filtered, after, later]) await settle(() => isDone(id));
  expect(enqueued).toEqual([filtered, after, later]);
  const [again] = (await publish(event("5"))) as [string];
  expect(await isDone(again)).toBe(true);
  expect(enqueued).not.toContain(again);
});

test("a waiting request gets the written deliveries once, with their events", async () => {
  await deliveries.deleteMany(TENANT, {});
  const request = { tenant_id: TENANT, agent_id: AGENT, limit: 10, wait_ms: 60_000, cancel_key: "k" };
  const waiting = receivers.receive(request);
  await settle(() => receivers.hasWaiting(AGENT));
  const taken = await settle(async () => {
    const ids = await publish(...[1, 2, 3].map((n) => event(`${Math.random()}-${n}`)));
    const leased = await deliveries.find(TENANT, { state: "leased" }, { bounded: "a few" });
    return leased.length > 0 && { ids, leased };
  });
  const { deliveries: given } = await waiting;
  expect(given.map(({ event_id }) => event_id)).toEqual(taken.leased.map(({ event_id }) => event_id));
  for (const { event_id, envelope } of given)
    expect(JSON.parse(envelope).id).toBe((await row(event_id)).ce_id);
});

test("events are left to fan-out on a node that does not run interests and deliveries", async () => {
  const publication = { event: event("alone"), row: { tenant_id: TENANT } as EventDoc };
  const elsewhere = new ServiceBroker({ logger: false });
  expect(await matchBeforeCommit(elsewhere, [publication])).toEqual({ counts: [], deliveries: null });
});
