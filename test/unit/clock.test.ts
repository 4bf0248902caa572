import { describe, expect, test } from "@jest/globals";
import { RemoteClock } from "../../lib/clock.ts";

const TRUE_START = Date.UTC(2030, 0, 1);

/** A clock that follows another over a network, in simulated time: `at` is true time since the start. */
function followed({ skew = 0, drift = 0 } = {}) {
  let at = 0;
  const clock = new RemoteClock(() => at * (1 + drift) + skew);
  const monotonic = () => at * (1 + drift) + skew;
  return {
    clock,
    wait: (ms: number) => {
      at += ms;
    },
    /** The other clock's true time. */
    truth: () => TRUE_START + at,
    read(there: number, back: number, set = 0) {
      const asked = monotonic();
      at += there;
      const time = Math.floor(TRUE_START + at + set);
      at += back;
      clock.add({ asked, answered: monotonic(), time });
    },
  };
}

describe("a clock that is read over a network", () => {
  test.each([
    ["fast both ways", 0.2, 0.2, 1],
    ["slow there", 600, 1, 302],
    ["slow back", 1, 600, 302],
  ])("is wrong by no more than it says: %s", (_what, there, back, error) => {
    const { clock, read, truth } = followed();
    read(there, back);
    expect(clock.error).toBeLessThan(error);
    expect(Math.abs(clock.now() - clock.error - truth())).toBeLessThanOrEqual(clock.error + 1);
  });

  test("is as exact as its fastest readings, not as its latest", () => {
    const { clock, read, truth } = followed({ skew: -5_000 });
    read(300, 300);
    read(0.3, 0.3);
    read(900, 1);
    expect(clock.error).toBeLessThan(1.2);
    expect(clock.now() - truth()).toBeGreaterThan(-1);
    expect(clock.now() - truth()).toBeLessThan(3);
  });

  test("takes readings together: they bound it better than each alone", () => {
    const { clock, read } = followed();
    for (let i = 0; i < 20; i++) read(0.1 + (i % 7) / 10, 0.1 + (i % 5) / 10);
    expect(clock.error).toBeLessThan(0.4);
  });

  test.each([-90e-6, 90e-6])(
    "stays within its error for an hour without an answer, drifting by %d",
    (drift) => {
      const { clock, read, wait, truth } = followed({ drift });
      read(0.3, 0.3);
      wait(3_600_000);
      expect(clock.error).toBeGreaterThan(350);
      expect(clock.now()).toBeGreaterThanOrEqual(Math.floor(truth()));
      expect(clock.now() - 2 * clock.error).toBeLessThanOrEqual(truth());
      read(0.3, 0.3);
      expect(clock.error).toBeLessThan(1);
    },
  );

  test("follows a clock that is set", () => {
    const { clock, read, truth } = followed();
    read(0.3, 0.3);
    read(0.3, 0.3, 5000);
    expect(clock.now() - truth() - 5000).toBeLessThan(3);
    read(0.3, 0.3, -60_000);
    expect(Math.abs(clock.now() - truth() + 60_000)).toBeLessThan(3);
  });

  test("stands still rather than go back a little", () => {
    const { clock, read, wait } = followed();
    read(400, 400);
    const early = clock.now();
    read(0.3, 0.3);
    expect(clock.now()).toBe(early);
    wait(1000);
    expect(clock.now()).toBeGreaterThan(early);
  });
});

test("what is stamped once a time has passed is later on every node that follows the clock", async () => {
  const nodes = [new RemoteClock(), new RemoteClock(() => performance.now() + 7_000)];
  const skews = [0, 7_000];
  for (const [i, clock] of nodes.entries()) {
    const now = performance.now() + (skews[i] as number);
    // Read with different errors in opposite directions.
    const [asked, answered] = i === 0 ? [now - 20, now] : [now - 1, now + 19];
    clock.add({ asked, answered, time: Math.floor(TRUE_START + performance.now()) });
  }
  const [one, other] = nodes as [RemoteClock, RemoteClock];
  for (let i = 0; i < 5; i++) {
    const stamped = one.now();
    await one.passed(stamped);
    const later = other.now();
    expect(later).toBeGreaterThan(stamped);
    await other.passed(later);
    expect(one.now()).toBeGreaterThan(later);
  }
});

test("a time that is unknown by more than a second is not waited for longer", async () => {
  const clock = new RemoteClock();
  const now = performance.now();
  clock.add({ asked: now - 60_000, answered: now, time: TRUE_START });
  const stamped = clock.now();
  await clock.passed(stamped);
  expect(clock.now()).toBeGreaterThan(stamped);
}, 30_000);
