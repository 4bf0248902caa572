import { expect, test } from "@jest/globals";
import { newUuid } from "../../lib/ids.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("UUIDs are of version 7, differ, tell their time and sort in the order they were made", () => {
  const before = Date.now();
  const made = Array.from({ length: 20_000 }, () => newUuid());
  expect(made.filter((id) => !V7.test(id))).toEqual([]);
  expect(new Set(made).size).toBe(made.length);
  expect([...made].sort()).toEqual(made);
  const time = Number.parseInt((made[0] as string).replaceAll("-", "").slice(0, 12), 16);
  expect(time).toBeGreaterThanOrEqual(before);
  // More than 4,096 in a millisecond run ahead of the clock, by few.
  expect(time).toBeLessThanOrEqual(Date.now() + 100);
});

test("a seed makes the same UUID again, at the time of the seed's own UUID", () => {
  const nonce = newUuid();
  const seed = `record.${nonce}`;
  expect(newUuid(seed)).toBe(newUuid(seed));
  expect(newUuid(seed)).toMatch(V7);
  expect(newUuid(seed).slice(0, 13)).toBe(nonce.slice(0, 13));
  const many = Array.from({ length: 500 }, (_, i) => newUuid(seed, i));
  expect(many.filter((id) => !V7.test(id))).toEqual([]);
  expect(new Set(many).size).toBe(500);
  expect([...many].sort()).toEqual(many);
  expect(newUuid("without a time")).toMatch(V7);
});
