import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { SlidingWindow } from "../../lib/queue/sliding-window.ts";

const START = 1_800_000_000_000;

describe("a sliding window", () => {
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

  test("forgets a key that is idle, whatever its generation", () => {
    const window = new SlidingWindow(60);
    window.hit("a", START);
    for (let i = 1; i <= 5; i++) window.hit("b", START + i * 61_000);
    expect(window.look("a", 3, START + 6 * 61_000)).toEqual({
      room: 3,
      resets_at: START + 7 * 61_000 - 1000,
    });
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
          for (const at of through) {
            expect(through.filter((other) => other >= at && other < at + 59_000).length).toBeLessThanOrEqual(
              limit,
            );
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
