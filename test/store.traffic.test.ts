import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  drainTally,
  drainUse,
  noteWork,
  type Of,
  tally,
  tallyUse,
} from "../services/platform/usage/tally.ts";
import { type Range, Traffic } from "../services/platform/usage/traffic.ts";
import type { Store } from "../storage/connection.ts";
import { ownStore } from "./support/own-store.ts";
import { useMongo } from "./support/use.ts";

/** @needs mongodb: traffic is counted alike on both drivers. */

const mongo = await useMongo();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RETENTION = { STATS_MINUTE_RETENTION_HOURS: 25, STATS_HOUR_RETENTION_DAYS: 8 };
const TENANT = "tn_traffic";

describe.each(["sqlite", "mongodb"])("traffic on %s", (driver) => {
  const isMongo = driver === "mongodb";
  if (isMongo && !("url" in mongo)) return test.skip(mongo.skipped, () => {});

  let store: Store;
  /** Of two nodes. */
  let one: Traffic;
  let two: Traffic;
  let now: number;

  beforeAll(async () => {
    store = await ownStore(isMongo && "url" in mongo ? mongo.url : null);
  });
  beforeEach(async () => {
    drainTally();
    drainUse();
    const timed = { ...store, now: () => now };
    [one, two] = [new Traffic(timed, RETENTION), new Traffic(timed, RETENTION)];
    await store.ready();
    const rows = await store.collections();
    for (const name of ["traffic", "traffic_recorded"]) await rows.get(name)?.deleteMany({});
    // In the middle of an interval: it counts for the minute in which it began.
    now = Date.parse("2026-11-24T10:17:33.000Z");
  });

  const of = (agent_id: string | null, type: string): Of => ({ tenant_id: TENANT, agent_id, type });
  const values = async (range: Range, what: "published" | "created", filter = {}) =>
    (await one.read(TENANT, range, filter)).series[what];

  test("the counts of two nodes add up, by agent and by type", async () => {
    tally(of(null, "com.order"), "published", 2);
    tally(of("ag_1", "com.order"), "created", 2);
    await one.flush();
    tally(of("ag_1", "com.order"), "created", 1);
    tally(of("ag_2", "com.$.%"), "created", 4);
    await Promise.all([two.flush(), one.flush()]);
    for (const range of ["15m", "1h", "24h", "7d"] as const) {
      const created = async (filter: object) => (await values(range, "created", filter)).at(-1);
      expect((await values(range, "published")).at(-1)).toBe(2);
      expect(await created({})).toBe(7);
      expect(await created({ agent_id: "ag_1" })).toBe(3);
      expect(await created({ type: "com.$.%" })).toBe(4);
      expect(await created({ agent_id: "ag_1", type: "com.order" })).toBe(3);
      expect(await created({ agent_id: "ag_1", type: "com.$.%" })).toBe(0);
      expect(await created({ agent_id: "ag_3" })).toBe(0);
    }
    const { totals } = await one.read(TENANT, "24h", {});
    expect(totals).toMatchObject({ published: 2, created: 7, failed: 0 });
    expect(await one.types(TENANT, "1h", null, 9)).toEqual(["com.order", "com.$.%"]);
    expect(await one.types(TENANT, "1h", "ag_2", 9)).toEqual(["com.$.%"]);
    const agents = await one.totals(TENANT, ["ag_1", "ag_2", "ag_3"], 24);
    expect([...agents].map(([id, { created }]) => [id, created])).toEqual([
      ["ag_1", 3],
      ["ag_2", 4],
    ]);
  });

  test("minutes in which no node was running are gaps", async () => {
    await one.flush();
    now += 3 * MINUTE;
    tally(of(null, "a"), "published", 1);
    await one.flush();
    now += MINUTE;
    const series = await values("15m", "published");
    expect(series.slice(-6)).toEqual([null, 0, null, null, 1, 0]);
    expect(series.slice(0, -6)).toEqual(new Array(9).fill(null));
  });

  test("another tenant's traffic is not counted", async () => {
    tally({ ...of("ag_1", "a"), tenant_id: "tn_other" }, "created", 9);
    await one.flush();
    expect((await values("15m", "created")).at(-1)).toBe(0);
    expect(await one.types(TENANT, "15m", null, 9)).toEqual([]);
    expect((await one.totals(TENANT, ["ag_1"], 24)).size).toBe(0);
  });

  test("what tenants use adds up by hour, and divides the processor time by their work", async () => {
    tallyUse(TENANT, "requests");
    tallyUse(TENANT, "requests");
    tallyUse("tn_other", "searches");
    noteWork(TENANT, 30);
    noteWork("tn_other", 10);
    await one.flush();
    now += HOUR;
    tally(of(null, "a"), "published", 4);
    tallyUse(TENANT, "requests");
    await two.flush();
    const used = await one.use(2);
    expect(used.get(TENANT)).toMatchObject({ requests: 3, published: 4 });
    expect(used.get("tn_other")).toMatchObject({ searches: 1 });
    const [own = 0, other = 0] = [used.get(TENANT)?.cpu_ms, used.get("tn_other")?.cpu_ms];
    expect(other).toBeGreaterThan(0);
    expect(own).toBeGreaterThan(2.9 * other);
    expect((await one.use(1)).get(TENANT)).toMatchObject({ requests: 1, published: 4 });
    expect((await one.use(1)).has("tn_other")).toBe(false);
    // The tenant's own history has no part of it.
    expect((await one.read(TENANT, "24h", {})).totals).not.toHaveProperty("requests");
  });

  test("processor time of an idle node is nobody's", async () => {
    await one.flush();
    const began = process.cpuUsage();
    const spent = () => {
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    };
    while (spent() < 300);
    await one.flush();
    const idle = spent();
    noteWork(TENANT, 1);
    await one.flush();
    const { cpu_ms = 0 } = (await one.use(1)).get(TENANT) ?? {};
    expect(cpu_ms).toBeGreaterThan(0);
    expect(cpu_ms).toBeLessThan(spent() - idle + 100);
  });

  test("minutes go after hours, hours after days", async () => {
    const count = () => tally(of("ag_1", "a"), "created", 1);
    const end = now;
    for (const age of [9 * DAY, 26 * HOUR, 24 * HOUR, 0]) {
      now = end - age;
      count();
      await one.flush();
    }
    const rows = (await store.collections()).get("traffic");
    const kept = async (unit: string) => (await rows?.countDocuments({ unit, agent_id: null })) as number;
    expect([await kept("minute"), await kept("hour")]).toEqual([4, 4]);
    for (const remove of Object.values(one.removals)) while (await remove());
    expect([await kept("minute"), await kept("hour")]).toEqual([2, 3]);
    const recorded = (await store.collections()).get("traffic_recorded");
    expect(await recorded?.countDocuments({})).toBe(3);
  });

  test("without any traffic it writes once a minute, and nothing else", async () => {
    const start = async () => (await store.collections()).get("traffic_recorded")?.find({}).toArray();
    await one.flush();
    now += 5000;
    await one.flush();
    now += MINUTE;
    await one.flush();
    expect(await start()).toEqual([expect.objectContaining({ minutes: [17, 18] })]);
    expect(await (await store.collections()).get("traffic")?.countDocuments({})).toBe(0);
  });
});
