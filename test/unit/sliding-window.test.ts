import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { SlidingWindow } from "../../lib/queue/sliding-window.ts";

const START = 1_800_000_000_000;

test("has room for the limit, and for none more", () => {
  const window = new SlidingWindow(60);
  const rooms = [];
  for (let i = 0; i < 4; i++) {
    rooms.push(window.look("a", 3, START).room);
    if (rooms.at(-1)) window.hit("a", START);
  }
  expect(rooms).toEqual([3, 2, 1, 0]);
  expect(window.look("b", 3, START).room).toBe(3);
});

test("has room again when it says so, and not before", () => {
  const window = new SlidingWindow(60);
  window.hit("a", START + 400);
  window.hit("a", START + 30_000);
  const { room, resets_at } = window.look("a", 2, START + 31_000);
  expect([room, resets_at]).toEqual([0, START + 60_000]);
  expect(window.look("a", 2, resets_at - 1).room).toBe(0);
  expect(window.look("a", 2, resets_at).room).toBe(1);
  expect(window.look("a", 2, resets_at).resets_at).toBe(START + 90_000);
});

test("forgets what was counted a window ago", () => {
  const window = new SlidingWindow(60);
  window.hit("a", START);
  for (let i = 1; i <= 5; i++) window.hit("b", START + i * 61_000);
  expect(window.look("a", 3, START + 6 * 61_000)).toEqual({ room: 3, resets_at: START + 7 * 61_000 - 1000 });
});

test("counts against all limits or none, and reports the tightest", () => {
  const window = new SlidingWindow(60);
  const both = [
    { key: "caller", max: 3 },
    { key: "tenant", max: 2 },
  ];
  const take = (limits: typeof both) => window.take(limits, START);
  expect(take(both)).toMatchObject({ allowed: true, limit: 2, remaining: 1 });
  expect(take(both)).toMatchObject({ allowed: true, limit: 2, remaining: 0 });
  for (let i = 0; i < 5; i++)
    expect(take(both)).toMatchObject({ allowed: false, limit: 2, remaining: 0, resets_at: START + 60_000 });
  expect(window.look("caller", 3, START).room).toBe(1);
  expect(take([{ key: "caller", max: 3 }])).toMatchObject({ allowed: true, limit: 3, remaining: 0 });
});

test("takes back what was counted, once it has expired nothing", () => {
  const window = new SlidingWindow(60);
  const limits = [{ key: "a", max: 2 }];
  const [first, second] = [START, START + 5000].map((at) => window.take(limits, at));
  first?.giveBack();
  expect(window.look("a", 2, START + 5000)).toEqual({ room: 1, resets_at: START + 65_000 });
  first?.giveBack();
  expect(window.look("a", 2, START + 5000).room).toBe(1);
  // A later hit is in the place of the second.
  window.take(limits, START + 65_000);
  second?.giveBack();
  expect(window.look("a", 2, START + 65_000).room).toBe(1);
  const refused = window.take([{ key: "a", max: 1 }], START + 65_000);
  expect(refused.allowed).toBe(false);
  refused.giveBack();
  expect(window.look("a", 2, START + 65_000).room).toBe(1);
});

test("takes back what was counted while the clock was set back", () => {
  const window = new SlidingWindow(60);
  window.hit("a", START);
  for (let i = 0; i < 5; i++) window.take([{ key: "a", max: 2 }], START - 10_000).giveBack();
  expect(window.look("a", 2, START).room).toBe(1);
});

test("keeps a bounded number of keys, those that were used last", () => {
  const window = new SlidingWindow(60);
  for (let i = 0; i < 50_000; i++) window.hit(`address ${i}`, START);
  window.hit("one more", START);
  expect(window.look("address 49999", 1, START).room).toBe(0);
  expect(window.look("one more", 1, START).room).toBe(0);
  expect(window.look("address 0", 1, START).room).toBe(1);
});

test("does not lose count when the clock is set back", () => {
  const window = new SlidingWindow(60);
  window.hit("a", START);
  window.hit("a", START - 10_000);
  expect(window.look("a", 3, START).room).toBe(1);
});

test("never lets more than the limit through in any window, and names a wait that is enough", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 25_000 }), { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1, max: 8 }),
      (gaps, limit) => {
        const window = new SlidingWindow(60);
        const through: number[] = [];
        let now = START;
        for (const gap of gaps) {
          now += gap;
          const { room, resets_at } = window.look("a", limit, now);
          if (room > 0) {
            window.hit("a", now);
            through.push(now);
          } else {
            expect(resets_at).toBeGreaterThan(now);
            expect(resets_at - now).toBeLessThanOrEqual(60_000);
            expect(window.look("a", limit, resets_at).room).toBeGreaterThan(0);
            now = resets_at;
          }
        }
        // The slots are a second wide: that much earlier a request may be forgotten.
        for (const at of through)
          expect(through.filter((other) => other >= at && other < at + 59_000).length).toBeLessThanOrEqual(
            limit,
          );
      },
    ),
    { numRuns: 200 },
  );
});
