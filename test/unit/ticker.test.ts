import { beforeEach, expect, test } from "@jest/globals";
import type { CloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { Fault } from "../../lib/contract/faults.ts";
import { type ScheduleDoc, ScheduleModel } from "../../services/sense/schedules/schedules.model.ts";
import { Ticker } from "../../services/sense/schedules/ticker.ts";
import { ownBroker, ownStore } from "../support/own-store.ts";

const TENANT = "tn_a";
const HOUR = 3_600_000;
let now: number;
/** Published events by id, as often as each was asked for. */
const published = new Map<string, { event: CloudEvent; times: number }>();
let refuse: ((event: CloudEvent) => Error | { code: string } | null) | null;
let status: string;
let full: boolean;

const rows = (await ownStore()).collection(ScheduleModel);
const broker = await ownBroker([
  {
    name: "events",
    actions: {
      ingest({ params: { tenant_id, publisher_id, events } }) {
        expect([tenant_id, publisher_id]).toEqual([TENANT, "ag_owner"]);
        const [event] = events as [CloudEvent];
        const refusal = refuse?.(event);
        if (refusal instanceof Error) throw refusal;
        if (refusal) return [{ status: "rejected", error: { ...refusal, message: "no", details: {} } }];
        const before = published.get(event.id);
        published.set(event.id, { event, times: (before?.times ?? 0) + 1 });
        return [{ event_id: `evt_of_${event.id}`, status: before ? "duplicate" : "accepted" }];
      },
    },
  },
  { name: "agents", actions: { get_many: () => [{ status }] } },
  { name: "tenants", actions: { get_many: () => [{ status: "active" }] } },
]);
beforeEach(async () => {
  await rows.deleteMany(TENANT, {});
  published.clear();
  [refuse, status, full] = [null, "active", false];
  now = Date.UTC(2026, 0, 31, 12, 0, 0, 20);
});

const tickerOn = (collection = rows) =>
  new Ticker({
    ...{ rows: collection, store: { now: () => now, past: () => now }, broker },
    usage: { isFull: () => full },
  });

async function schedule(more: Partial<ScheduleDoc> = {}): Promise<ScheduleDoc> {
  const next_at = new Date(Date.UTC(2026, 0, 31, 12));
  const at = new Date(0);
  return rows.insert({
    ...{ _id: `sch_${Math.random()}`, tenant_id: TENANT, owner_id: "ag_owner", name: "n" },
    ...{ event: '{"type":"t"}', cron: "0 * * * *", time_zone: "UTC", at: null, on_missed: "run_once" },
    ...{ paused: false, revision: 1, secret: "s", next_at, due_at: next_at, failures: 0, run_count: 0 },
    ...{ last_run_at: null, last_event_id: null, last_missed_at: null, last_error: null },
    last_error_at: null,
    ...{ created_at: at, updated_at: at },
    ...more,
  });
}

const stored = async ({ _id }: ScheduleDoc) => (await rows.findOne(TENANT, { _id })) as ScheduleDoc;
const events = () => [...published.values()].map(({ event }) => event);

test("a tick is published once and settled; the loop then wakes for the next one", async () => {
  const made = await schedule();
  expect(await tickerOn().run()).toBe(HOUR - 20);
  expect(events()).toMatchObject([{ type: "t", time: "2026-01-31T12:00:00.000Z" }]);
  expect(await stored(made)).toMatchObject({
    ...{ run_count: 1, last_event_id: `evt_of_${events()[0]?.id}`, last_error: null },
    ...{ next_at: new Date(now - 20 + HOUR), due_at: new Date(now - 20 + HOUR) },
  });
});

test("two nodes at once publish a tick once, and settle it once", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => schedule({ secret: `s${i}` })));
  await Promise.all([tickerOn().run(), tickerOn().run(), tickerOn().run()]);
  expect(published.size).toBe(20);
  for (const each of made) expect((await stored(each)).run_count).toBe(1);
});

test("a node that ends between the event and its record repeats the same event", async () => {
  const made = await schedule();
  const dying = Object.create(rows, {
    update: { value: () => Promise.reject(Object.assign(new Error("killed"), { retryable: true })) },
    system: { get: () => rows.system },
  });
  await expect(tickerOn(dying).run()).rejects.toThrow("killed");
  expect((await stored(made)).run_count).toBe(0);
  await tickerOn().run();
  expect([...published.values()]).toMatchObject([{ times: 2 }]);
  expect((await stored(made)).run_count).toBe(1);
});

test("what cannot be published now is retried, with the reason, until it can", async () => {
  const made = await schedule();
  refuse = () => new Fault("service_unavailable", "The record is away.");
  await tickerOn().run();
  const failed = await stored(made);
  expect(failed).toMatchObject({ last_error: "The record is away.", failures: 1, next_at: made.next_at });
  refuse = () => ({ code: "internal_error" });
  now = (failed.due_at as Date).getTime();
  await tickerOn().run();
  expect(await stored(made)).toMatchObject({ last_error: "no", failures: 2, run_count: 0 });
  refuse = null;
  now += 60_000;
  await tickerOn().run();
  expect(events()).toMatchObject([{ time: "2026-01-31T12:00:00.000Z" }]);
  expect(await stored(made)).toMatchObject({ last_error: null, failures: 0, run_count: 1 });
});

test("an event that can never be published is given up, with the reason", async () => {
  const made = await schedule({ cron: null, at: new Date(now - 20) });
  refuse = () => ({ code: "invalid_event" });
  await tickerOn().run();
  const ended = await stored(made);
  expect(ended).toMatchObject({ last_error: "no", run_count: 0, next_at: null, ended_at: new Date(now) });
  expect(ended.due_at).toBeUndefined();
});

test.each([
  ["of an inactive agent", { status: "inactive", full: false }, "ag_owner"],
  ["of an organisation over its quota", { status: "active", full: true }, "quota"],
])("a schedule %s is held, and its policy decides later", async (_, state, reason) => {
  const made = await schedule({ on_missed: "run_all" });
  ({ status, full } = state);
  await tickerOn().run();
  expect(await stored(made)).toMatchObject({
    last_error: expect.stringContaining(reason),
    next_at: made.next_at,
  });
  expect(published.size).toBe(0);
  [status, full] = ["active", false];
  now += 2 * HOUR;
  await tickerOn().run();
  expect(events().map(({ time }) => time)).toEqual([
    ...["2026-01-31T12:00:00.000Z", "2026-01-31T13:00:00.000Z", "2026-01-31T14:00:00.000Z"],
  ]);
  expect(await stored(made)).toMatchObject({ last_error: null, run_count: 3 });
});

test("ticks that are skipped are recorded as missed", async () => {
  const made = await schedule({ on_missed: "skip" });
  now += 30 * 60_000;
  await tickerOn().run();
  expect(published.size).toBe(0);
  expect(await stored(made)).toMatchObject({ last_missed_at: made.next_at, run_count: 0 });
});

test("a change while a tick is published wins over the next tick of before", async () => {
  const made = await schedule();
  refuse = () => {
    void rows.update(TENANT, { _id: made._id }, { $set: { cron: "0 0 * * *" }, $inc: { revision: 1 } });
    return null;
  };
  await tickerOn().run();
  expect(await stored(made)).toMatchObject({ cron: "0 0 * * *", revision: 2, next_at: made.next_at });
});
