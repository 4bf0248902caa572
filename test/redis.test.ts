/** @needs redis: windows that nodes share, and what is left of them while Redis is lost. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { SharedWindows } from "../connectors/redis.ts";
import { onPath } from "./support/needs.ts";
import { type RedisServer, startRedis } from "./support/redis.ts";
import { settle } from "./support/settle.ts";

/** A busy machine's Redis may be late for what requests wait. */
const PATIENT = { windowMs: 60_000, patienceMs: 20_000, steadyMs: 0 };

(onPath("redis-server") ? describe : describe.skip)("windows shared by Redis", () => {
  let redis: RedisServer;
  let one: SharedWindows;
  let other: SharedWindows;
  const said: (string | null)[] = [];
  const usable = () => settle(() => one.lost === null && other.lost === null);

  beforeAll(async () => {
    redis = await startRedis();
    one = new SharedWindows(redis.url, { ...PATIENT, report: (lost) => said.push(lost) });
    other = new SharedWindows(redis.url, { ...PATIENT, report: () => {} });
    await usable();
  });
  afterAll(async () => {
    one?.close();
    other?.close();
    await redis?.stop();
  });

  test("exactly the limit of concurrent hits fits, over all instances that count them", async () => {
    const limits = [{ key: "at once", max: 20 }];
    const standings = await Promise.all(
      Array.from({ length: 60 }, (_, i) => (i % 2 ? one : other).take(limits)),
    );
    expect(standings.filter((standing) => standing?.allowed)).toHaveLength(20);
    const last = standings.at(-1);
    expect(last).toMatchObject({ allowed: false, remaining: 0, tightest: 0 });
    // Slots are a second wide: the oldest hit is at most that much older than it is counted.
    expect(last?.resets_in_ms).toBeGreaterThan(50_000);
    expect(last?.resets_in_ms).toBeLessThanOrEqual(60_000);
  });

  test("one key without room keeps the others from being counted, and is the one named", async () => {
    const narrow = { key: "narrow", max: 1 };
    const wide = { key: "wide", max: 3 };
    expect(await one.take([wide, narrow])).toMatchObject({ allowed: true, tightest: 1, remaining: 0 });
    for (let i = 0; i < 5; i++)
      expect(await other.take([wide, narrow])).toMatchObject({ allowed: false, tightest: 1 });
    expect(await one.take([wide])).toMatchObject({ allowed: true, remaining: 1 });
  });

  test("a hit that is given back makes room, and no more than was taken", async () => {
    const limits = [{ key: "back", max: 1 }];
    const taken = await one.take(limits);
    for (let i = 0; i < 3; i++) await other.giveBack(["back"], taken?.slot ?? 0);
    expect(await one.take(limits)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await one.take(limits)).toMatchObject({ allowed: false });
  });

  test("hits of windows past are forgotten", async () => {
    const brief = new SharedWindows(redis.url, { ...PATIENT, windowMs: 600, report: () => {} });
    await settle(() => brief.lost === null);
    const limits = [{ key: "brief", max: 1 }];
    expect(await brief.take(limits)).toMatchObject({ allowed: true });
    // Refused in the same window, and let through in a later one.
    await settle(async () => (await brief.take(limits))?.allowed === false);
    await settle(async () => (await brief.take(limits))?.allowed);
    brief.close();
  });

  test("a Redis that hangs is not waited for, and is used again once it answers", async () => {
    const hasty = new SharedWindows(redis.url, { windowMs: 60_000, report: () => {} });
    await settle(() => hasty.lost === null);
    await redis.pause();
    const limits = [{ key: "hung", max: 5 }];
    expect(await hasty.take(limits)).toBeNull();
    expect(hasty.lost).toMatch(/no response within/);
    // Not even asked any more: its answer would come when it resumes.
    for (let i = 0; i < 10; i++) expect(await hasty.take(limits)).toBeNull();
    redis.resume();
    await settle(() => hasty.lost === null);
    hasty.close();
    expect(await one.take(limits)).toMatchObject({ allowed: true, remaining: 3 });
  });

  test("a Redis that was killed and started again is found by itself, and each change is told once", async () => {
    said.length = 0;
    await redis.kill();
    await settle(() => one.lost !== null);
    expect(await one.take([{ key: "killed", max: 5 }])).toBeNull();
    await redis.start();
    await usable();
    expect(await one.take([{ key: "killed", max: 5 }])).toMatchObject({ allowed: true, remaining: 4 });
    await settle(() => said.length === 2);
    expect(said).toEqual([expect.any(String), null]);
  });

  test("one that comes and goes is told of once, until it stays", async () => {
    const told: (string | null)[] = [];
    const report = (lost: string | null) => told.push(lost);
    const flapping = new SharedWindows(redis.url, { windowMs: 60_000, steadyMs: 600_000, report });
    for (let i = 0; i < 3; i++) {
      await settle(() => flapping.lost === null);
      await redis.pause();
      expect(await flapping.take([{ key: "flapping", max: 5 }])).toBeNull();
      redis.resume();
    }
    flapping.close();
    expect(told).toEqual([null, expect.stringContaining("no response")]);
  });

  test("without any Redis there, a node starts and counts alone", async () => {
    const alone = new SharedWindows("redis://127.0.0.1:1", { windowMs: 60_000, report: () => {} });
    expect(await alone.take([{ key: "alone", max: 1 }])).toBeNull();
    alone.close();
  });
});
