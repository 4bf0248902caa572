import { expect, test } from "@jest/globals";
import { backOff, compareDelays, jittered, retryDelay } from "../../lib/queue/backoff.ts";

const middle = () => 0.5;

test("work of the service is retried after 1 s, 2 s, 4 s … and never more than an hour", () => {
  expect([1, 2, 3, 4, 5].map((attempts) => backOff(attempts, middle))).toEqual([1, 2, 4, 8, 16]);
  expect([13, 100, 5000].map((attempts) => backOff(attempts, middle))).toEqual([3600, 3600, 3600]);
});

test("a delivery is retried after 10 s, 1 min, 5 min and 30 min, and every 30 min beyond", () => {
  const delays = [0, 1, 2, 3, 4, 5, 50].map((attempts) => retryDelay(attempts, undefined, middle));
  expect(delays).toEqual([10, 10, 60, 300, 1800, 1800, 1800]);
});

test("delays of an agent's own repeat their last one", () =>
  expect([1, 2, 3, 4].map((attempts) => retryDelay(attempts, [2, 5], middle))).toEqual([2, 5, 5, 5]));

test.each([
  [[10], [20], -1],
  [[10, 60], [10, 30], 1],
  [[10, 60], [10], 1],
  [[10], [10, 5], 1],
  [[10], [10, 10], 0],
])("of %j and %j, those that retry sooner are first", (a, b, sign) => {
  expect(Math.sign(compareDelays(a, b))).toBe(sign);
  expect(Math.sign(compareDelays(b, a))).toBe(0 - sign);
});

test("jitter spreads by 20 % to both sides", () => {
  expect(jittered(100, () => 0)).toBe(80);
  expect(jittered(100, () => 1)).toBeCloseTo(120);
  const many = Array.from({ length: 1000 }, () => jittered(100));
  expect(Math.min(...many)).toBeGreaterThanOrEqual(80);
  expect(Math.max(...many)).toBeLessThanOrEqual(120);
  expect(new Set(many).size).toBeGreaterThan(900);
});
