import { statfs } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { Health } from "../../observability/health.ts";
import { exposition, metrics } from "../../observability/metrics.ts";
import { parseTraceparent } from "../../observability/tracing.ts";
import { DiskWatch } from "../../services/platform/admission/disk.ts";

describe("metrics", () => {
  /** Labels whose values are few and known. */
  const LABELS = new Set("operation action command level status outcome state le thread".split(" "));

  test("follow the naming rules of Prometheus and have no id as a label", async () => {
    metrics.requestSeconds.labels({ operation: "events.publish", status: "2xx" }).observe(0.002);
    metrics.pushAttempts.inc({ outcome: "acknowledged" });
    const text = await exposition();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({ name, type }));
    expect(types.length).toBeGreaterThan(10);
    for (const { name, type } of types) {
      expect(name).toMatch(/^sensorium_[a-z_]+$/);
      if (type === "counter") expect(name).toMatch(/_total$/);
      if (type === "histogram") expect(name).toMatch(/_(seconds|bytes)$/);
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|kb|mb)(_|$)/);
    }
    const labels = [...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label as string);
    expect(labels.filter((label) => !LABELS.has(label))).toEqual([]);
  });

  test("every metric has its meaning", async () => {
    const text = await exposition();
    for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm))
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\w+`, "m"));
  });
});

describe("health", () => {
  test("says which part is not and why, and nothing of an error's text", async () => {
    const health = new Health();
    health.add("store", () => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.7:27017")));
    health.add("disk", () => "5 MB free");
    health.add("fan_out", () => null);
    expect(await health.report()).toEqual({
      status: "not_ready",
      checks: { store: "failed", disk: "5 MB free", fan_out: "ok" },
    });
  });

  test("a part that does not answer is not well", async () => {
    const health = new Health();
    health.add("store", () => new Promise(() => {}));
    expect(await health.report()).toMatchObject({
      status: "not_ready",
      checks: { store: expect.stringContaining("did not respond") },
    });
  });
});

describe("disk", () => {
  test.each([
    ["enough", 1, false],
    ["too little", 1e9, true],
    ["no limit", 0, false],
  ])("%s", async (_what, minFreeMb, low) => {
    const disk = new DiskWatch(import.meta.dirname, minFreeMb);
    await disk.start();
    expect(disk.refusesWrites).toBe(low);
    expect(disk.reason !== null).toBe(low);
  });

  test("without the record on it, a full one is shown and refuses nothing", async () => {
    const disk = new DiskWatch(import.meta.dirname, 1e9, false);
    await disk.start();
    expect([disk.reason, disk.refusesWrites]).toEqual([expect.stringContaining("MB free"), false]);
    const claim = disk.claim();
    await claim.extend(1e15);
    claim.end();
  });

  test("what large writes have claimed is taken, until it is written or given back", async () => {
    const free = async () => {
      const { bavail, bsize } = await statfs(import.meta.dirname);
      return bavail * bsize;
    };
    // Uploads may take about half of what is free.
    const half = (await free()) / 2;
    const disk = new DiskWatch(import.meta.dirname, Math.floor(half / 2 / 1e6));
    await disk.start();
    const [one, two] = [disk.claim(), disk.claim()];
    await one.extend(half * 0.8);
    await expect(two.extend(half * 0.8)).rejects.toMatchObject({ type: "service_unavailable" });
    expect(disk.refusesWrites).toBe(false);
    one.wrote(half * 0.8);
    await two.extend(half * 0.8);
    two.end();
    await one.extend(half * 0.8);
    one.end();
  });
});

describe("traceparent", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const SPAN = "b7ad6b7169203331";

  test.each([
    ["sampled", `00-${TRACE}-${SPAN}-01`, true],
    ["not sampled", `00-${TRACE}-${SPAN}-00`, false],
    ["other flags too", `00-${TRACE}-${SPAN}-03`, true],
    ["of a later version, with more", `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, true],
  ])("%s is read", (_what, text, sampled) =>
    expect(parseTraceparent(text)).toEqual({ trace_id: TRACE, span_id: SPAN, sampled }),
  );

  test.each([
    ["absent", undefined],
    ["given twice", [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ["empty", ""],
    ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["without a trace", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["without a span", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["too short", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["version 00 with more", `00-${TRACE}-${SPAN}-01-more`],
  ])("%s is none", (_what, text) => expect(parseTraceparent(text)).toBeNull());
});
