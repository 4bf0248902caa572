import { expect, test } from "@jest/globals";
import { TokenBucket, TokenBuckets } from "../../lib/queue/token-bucket.ts";

test("a bucket refills with time up to its burst, and says when it is full", () => {
  const bucket = new TokenBucket(1, 100);
  expect(bucket.refill(0)).toBe(true);
  expect([bucket.take(80), bucket.take(40), bucket.left]).toEqual([true, false, -20]);
  expect([bucket.refill(50), bucket.left]).toEqual([false, 30]);
  expect([bucket.refill(500), bucket.left]).toEqual([true, 100]);
});

test("a key with any budget left may overdraw it, and then waits for the next token", () => {
  const buckets = new TokenBuckets(1_000, 10);
  buckets.take("a", 9, 0);
  expect(buckets.waitOf("a", 0)).toBe(0);
  buckets.take("a", 20, 0);
  expect([buckets.waitOf("a", 0), buckets.waitOf("b", 0)]).toEqual([20, 0]);
  expect([buckets.waitOf("a", 15), buckets.waitOf("a", 20)]).toEqual([5, 0]);
});

test("full buckets are forgotten, others are kept", () => {
  const buckets = new TokenBuckets(1_000, 10);
  buckets.take("debtor", 10_000, 0);
  for (let n = 0; n < 5_000; n++) buckets.take(`key ${n}`, 1, n);
  expect(buckets.waitOf("debtor", 5_000)).toBeGreaterThan(0);
});
