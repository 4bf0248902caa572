import { expect, test } from "@jest/globals";
import { Registry } from "prom-client";
import { Durations } from "../../observability/durations.ts";

test("durations are counted in cumulative buckets, a bound within its own", async () => {
  const durations = new Durations("wait_seconds", "Time spent waiting", [0.1, 1]);
  const registry = new Registry();
  registry.registerMetric(durations.asMetric());
  const slow = durations.labels({ status: "2xx" });
  for (const seconds of [0.05, 0.1, 0.5, 3]) slow.observe(seconds);
  durations.labels({ status: "5xx" }).observe(0.5);
  const lines = (await registry.metrics()).trim().split("\n");
  expect(lines).toEqual([
    "# HELP wait_seconds Time spent waiting",
    "# TYPE wait_seconds histogram",
    'wait_seconds_bucket{le="0.1",status="2xx"} 2',
    'wait_seconds_bucket{le="1",status="2xx"} 3',
    'wait_seconds_bucket{le="+Inf",status="2xx"} 4',
    'wait_seconds_sum{status="2xx"} 3.65',
    'wait_seconds_count{status="2xx"} 4',
    'wait_seconds_bucket{le="0.1",status="5xx"} 0',
    'wait_seconds_bucket{le="1",status="5xx"} 1',
    'wait_seconds_bucket{le="+Inf",status="5xx"} 1',
    'wait_seconds_sum{status="5xx"} 0.5',
    'wait_seconds_count{status="5xx"} 1',
  ]);
});

test("the same labels are the same series", async () => {
  const durations = new Durations("wait_seconds", "Time spent waiting", [1]);
  durations.labels({}).observe(0.5);
  durations.labels({}).observe(2);
  const { values } = await durations.get();
  expect(values.map(({ value }) => value)).toEqual([1, 2, 2.5, 2]);
});
