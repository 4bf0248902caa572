import { expect, test } from "@jest/globals";
import { backOff, jittered, pushBackOff } from "../../lib/queue/backoff.ts";

const middle = () => 0.5;

test("a nack backs off 1 s, 2 s, 4 s … and never more than an hour", () => {
  expect([1, 2, 3, 4, 5].map((attempts) => backOff(attempts, middle))).toEqual([1, 2, 4, 8, 16]);
  expect([13, 100, 5000].map((attempts) => backOff(attempts, middle))).toEqual([3600, 3600, 3600]);
});

test("a push is retried after 5 s, 30 s, 5 min and 30 min, and every 30 min beyond", () => {
  expect([1, 2, 3, 4, 5, 50].map((attempts) => pushBackOff(attempts, middle))).toEqual([
    5, 30, 300, 1800, 1800, 1800,
  ]);
});

test("jitter spreads by 20 % to both sides", () => {
  expect(jittered(100, () => 0)).toBe(80);
  expect(jittered(100, () => 1)).toBeCloseTo(120);
  const many = Array.from({ length: 1000 }, () => jittered(100));
  expect(Math.min(...many)).toBeGreaterThanOrEqual(80);
  expect(Math.max(...many)).toBeLessThanOrEqual(120);
  expect(new Set(many).size).toBeGreaterThan(900);
});
