import { expect, test } from "@jest/globals";
import { barsOf, meanOf, sumOf } from "../../packages/console/src/traffic/bars.ts";

test("bars join values at round times, and tell nothing recorded from zero", () => {
  const bars = barsOf(8, 1500, 300, 1800);
  expect(bars).toEqual([
    { time: 0, begin: 0, end: 1 },
    { time: 1800, begin: 1, end: 7 },
    { time: 3600, begin: 7, end: 8 },
  ]);
  const values = [null, 0, 1, null, 2, 0, 0, 5];
  expect(bars.map(({ begin, end }) => sumOf(values.slice(begin, end)))).toEqual([null, 3, 5]);
  const series = {
    acknowledged: [null, 1, 3, null, 0, 0, 0, 0],
    latency_seconds: [null, 2, 6, null, null, null, null, null],
  };
  expect(bars.map((bar) => meanOf(series, bar))).toEqual([null, 5, null]);
});
