import { expect, test } from "@jest/globals";
import { RecordClock } from "../../storage/record-clock.ts";

const TRUE_START = Date.UTC(2030, 0, 1);

/** A clock that follows another over a network, in simulated time: `at` is true time since the start. */
function followed({ skew = 0, drift = 0 } = {}) {
  let at = 0;
  const clock = new RecordClock(() => at * (1 + drift) + skew);
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

test.each([
  ["fast both ways", 0.2, 0.2, 1],
  ["slow there", 600, 1, 302],
  ["slow back", 1, 600, 302],
])("is wrong by no more than it says: %s", (_what, there, back, error) => {
  const { clock, read, truth } = followed();
  read(there, back);
  expect(clock.error).toBeLessThan(error);
  expect(Math.abs(clock.now() - truth())).toBeLessThanOrEqual(clock.error + 1);
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

test.each([-90e-6, 90e-6])(
  "stays within its error for an hour without an answer, drifting by %d",
  (drift) => {
    const { clock, read, wait, truth } = followed({ drift });
    read(0.3, 0.3);
    wait(3_600_000);
    expect(clock.error).toBeGreaterThan(350);
    expect(Math.abs(clock.now() - truth())).toBeLessThanOrEqual(clock.error + 1);
    expect(clock.past()).toBeLessThanOrEqual(truth());
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
