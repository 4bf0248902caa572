import { beforeEach, expect, test } from "@jest/globals";
import {
  type DeliveryDoc,
  DeliveryModel,
  PENDING,
} from "../../services/sense/deliveries/deliveries.model.ts";
import { ReadyDeliveries } from "../../services/sense/deliveries/ready.ts";
import { seeded } from "../rounds/lib/random.ts";
import { ownStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const tenant_id = "tn_a";
const store = await ownStore();
/** Use of all others. */
const deliveries = store.collection(DeliveryModel);
await store.ready();
const failures: unknown[] = [];
/** A time that stands still, so that no lease lasts. */
let still: number | null = null;
const ready = new ReadyDeliveries(
  (front) => store.behind(DeliveryModel, front),
  (err) => failures.push(err),
  () => still ?? store.now(),
);

let made = 0;
let agent_id: string;
beforeEach(() => {
  still = null;
  agent_id = `ag_${++made}`;
});

function newRow(priority = 0): DeliveryDoc {
  const n = String(++made).padStart(6, "0");
  return {
    ...{ _id: `dlv_${n}`, tenant_id, agent_id, event_id: `evt_${n}`, state: "ready", priority },
    ...{ created_at: new Date(1_000_000 + made), attempt_count: 0, size: 1, timeline: [] },
    ...{ matched: { interest_ids: [], feed_ids: [] }, enrichment_depth: "none" },
  };
}

async function insert(...rows: DeliveryDoc[]): Promise<string[]> {
  await ready.rows.insertMany(rows);
  ready.add(rows);
  return idsOf(rows);
}

const idsOf = (rows: readonly DeliveryDoc[]) => rows.map(({ _id }) => _id);

/** Claims up to `limit` deliveries. */
async function take(limit: number): Promise<string[]> {
  const { rows } = await ready.first(tenant_id, agent_id, limit);
  ready.handOut(tenant_id, agent_id, rows, { lease: `L${++made}`, due_at: new Date(store.now() + 30_000) });
  return idsOf(rows);
}

const acknowledge = (ids: string[]) =>
  ready.acknowledge(agent_id, ids, (rows, part) =>
    rows.updateMany(
      tenant_id,
      { _id: { $in: part.ids }, state: { $in: PENDING } },
      { $set: { state: "acknowledged" as const }, ...(part.handed_out_at && { $inc: { attempt_count: 1 } }) },
    ),
  );

/** The states in the store, which nobody's read changes. */
async function stored(): Promise<[string, number][]> {
  const rows = await deliveries.system.find({ agent_id }, { sort: { _id: 1 }, bounded: "a few" }).toArray();
  return (rows as DeliveryDoc[]).map(({ state, attempt_count }) => [state, attempt_count]);
}

test("what is acknowledged soon is written once, with its attempt", async () => {
  still = store.now();
  await insert(newRow(), newRow());
  const ids = await take(10);
  expect(await stored()).toEqual([
    ["ready", 0],
    ["ready", 0],
  ]);
  expect(await acknowledge(ids)).toBe(2);
  expect(await stored()).toEqual([
    ["acknowledged", 1],
    ["acknowledged", 1],
  ]);
  expect(await take(10)).toEqual([]);
});

test("a lease that lasts is written, and then its acknowledgement counts no attempt", async () => {
  await insert(newRow());
  const ids = await take(1);
  await settle(async () => expect(await stored()).toEqual([["leased", 1]]) === undefined);
  expect(await acknowledge(ids)).toBe(1);
  expect(await stored()).toEqual([["acknowledged", 1]]);
});

test("others find leases that were not written yet, also in what they change", async () => {
  await insert(newRow(), newRow());
  await take(1);
  expect(await deliveries.count(tenant_id, { agent_id, state: "leased" })).toBe(1);
  await take(1);
  const returned = { $set: { state: "ready" as const } };
  expect(await deliveries.updateMany(tenant_id, { agent_id, state: "leased" }, returned)).toBe(2);
  expect(await take(10)).toHaveLength(2);
});

test("all leases are written before the store closes", async () => {
  await insert(newRow(), newRow());
  await take(2);
  await ready.stop();
  expect(await stored()).toEqual([
    ["leased", 1],
    ["leased", 1],
  ]);
});

test("a delivery that others take is not delivered, and one that they give back is", async () => {
  const [first, second, third] = await insert(newRow(), newRow(), newRow());
  expect(await take(1)).toEqual([first]);
  await deliveries.updateMany(tenant_id, { _id: second as string }, { $set: { state: "dead" as const } });
  expect(await take(1)).toEqual([third]);
  await deliveries.bulk([
    { updateOne: { filter: { tenant_id, _id: second as string }, update: { $set: { state: "ready" } } } },
  ]);
  await deliveries.deleteMany(tenant_id, { _id: first as string });
  expect(await take(10)).toEqual([second]);
});

test("what is read while others change it is not trusted afterwards", async () => {
  const [first, second] = await insert(newRow(), newRow());
  const dead = { $set: { state: "dead" as const } };
  const writing = deliveries.updateMany(tenant_id, { _id: first as string, agent_id }, dead);
  // Both are sent in one tick: the read is answered before the write is committed.
  for (let turn = 0; turn < 10; turn++) await null;
  await Promise.all([writing, ready.first(tenant_id, agent_id, 10)]);
  expect(await take(10)).toEqual([second]);
});

test("what a read has shown before it is announced is delivered once", async () => {
  await take(1);
  const rows = [newRow(), newRow()];
  ready.changed(tenant_id, { agent_id });
  await ready.rows.insertMany(rows);
  // The read's answer came first.
  expect(await take(1)).toEqual([rows[0]?._id]);
  ready.add(rows);
  expect(await take(10)).toEqual([rows[1]?._id]);
  expect(await take(10)).toEqual([]);
});

test("what is withdrawn is not delivered, though a read has shown it", async () => {
  const rows = [newRow(), newRow()];
  await ready.rows.insertMany(rows);
  await ready.first(tenant_id, agent_id, 10);
  await ready.withdraw(rows.slice(0, 1));
  expect(await take(10)).toEqual([rows[1]?._id]);
  expect(await stored()).toHaveLength(1);
});

test("what is being acknowledged is not ready, though a read still shows it so", async () => {
  const [first, second] = await insert(newRow(), newRow());
  expect(await take(1)).toEqual([first]);
  const acknowledging = acknowledge([first as string]);
  ready.changed(tenant_id, { agent_id });
  const { rows } = await ready.first(tenant_id, agent_id, 10);
  expect(await acknowledging).toBe(1);
  expect(idsOf(rows)).toEqual([second]);
});

test("the highest priority comes first, then the oldest, however many there are", async () => {
  const low = await insert(...Array.from({ length: 1_200 }, () => newRow(1)));
  expect(await take(2)).toEqual(low.slice(0, 2));
  const high = await insert(newRow(5), newRow(9));
  expect(await take(3)).toEqual([high[1], high[0], low[2]]);
  const rest: string[] = [];
  for (let some = await take(100); some.length; some = await take(100)) rest.push(...some);
  expect(rest).toEqual(low.slice(3));
});

test("who is about to take a delivery learns that it was acknowledged late, or taken away, meanwhile", async () => {
  const [late = "", away = ""] = await insert(newRow(), newRow(), newRow());
  const isStillReady = async (meanwhile: () => unknown) => {
    const { mark } = await ready.first(tenant_id, agent_id, 3);
    await meanwhile();
    return ready.isReady(agent_id, mark);
  };
  expect(await isStillReady(() => {})).toBe(true);
  expect(await isStillReady(() => acknowledge([late]))).toBe(false);
  expect(await isStillReady(() => deliveries.delete(tenant_id, { _id: away, agent_id }))).toBe(false);
  const [taken = ""] = await take(1);
  expect(await isStillReady(() => acknowledge([taken]))).toBe(true);
});

test("a delivery that is acknowledged without being held is not delivered", async () => {
  const ids = await insert(newRow(), newRow());
  await ready.first(tenant_id, agent_id, 10);
  expect(await acknowledge([ids[0] as string])).toBe(1);
  expect(await take(10)).toEqual([ids[1]]);
});

test.each([1, 2, 3, 4])("in any order of events every delivery is delivered once (%i)", async (seed) => {
  const random = seeded(seed);
  const open = new Set<string>();
  const held: string[] = [];
  const given: string[] = [];
  for (let step = 0; step < 150; step++) {
    const what = random.int(0, 5);
    const work: Promise<unknown>[] = [];
    if (what <= 1) {
      const rows = Array.from({ length: random.int(1, 30) }, () => newRow(random.int(0, 2)));
      for (const { _id } of rows) open.add(_id);
      work.push(insert(...rows));
    }
    if (what === 2 || what === 1)
      work.push(
        take(random.int(1, 20)).then((ids) => {
          for (const id of ids) expect(open.delete(id)).toBe(true);
          held.push(...ids);
          given.push(...ids);
        }),
      );
    if (what === 3 && held.length) {
      const ids = held.splice(0, random.int(1, held.length));
      work.push(acknowledge(ids).then((count) => expect(count).toBe(ids.length)));
    }
    if (what === 4) work.push(deliveries.count(tenant_id, { agent_id }));
    if (what === 5 && open.size) {
      const [id] = open;
      open.delete(id as string);
      const filter = { _id: id as string, agent_id, state: "ready" as const };
      work.push(deliveries.updateMany(tenant_id, filter, { $set: { state: "dead" } }));
    }
    await Promise.all(work);
  }
  for (let ids = await take(100); ids.length; ids = await take(100)) {
    for (const id of ids) expect(open.delete(id)).toBe(true);
    given.push(...ids);
  }
  expect(open.size).toBe(0);
  expect(new Set(given).size).toBe(given.length);
  expect(failures).toEqual([]);
});
