import { describe, expect, test } from "@jest/globals";
import { Errors } from "moleculer";
import { eachInTurn, Loop } from "../../mixins/loop.ts";
import { settle } from "../support/settle.ts";

test("runs at start and again at once while there is more", async () => {
  let left = 3;
  let runs = 0;
  const loop = new Loop(
    async () => {
      runs++;
      return --left > 0;
    },
    60_000,
    () => {},
  );
  loop.start();
  await settle(() => runs === 3);
  await loop.stop();
  expect(runs).toBe(3);
});

test("a nudge during a run is followed by one more", async () => {
  let runs = 0;
  let resume = () => {};
  const loop = new Loop(
    async () => {
      runs++;
      if (runs === 1) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      return false;
    },
    60_000,
    () => {},
  );
  loop.start();
  await settle(() => runs === 1);
  loop.nudge();
  loop.nudge();
  resume();
  await settle(() => runs === 2);
  await loop.stop();
  loop.nudge();
  expect(runs).toBe(2);
});

test("a failure is reported and tried again", async () => {
  const failures: unknown[] = [];
  let runs = 0;
  const loop = new Loop(
    async () => {
      if (++runs === 1) throw new Error("not yet");
      return false;
    },
    1,
    (err) => failures.push(err),
  );
  loop.start();
  await settle(() => runs > 1);
  await loop.stop();
  expect(failures).toEqual([new Error("not yet")]);
});

describe("of rows that are done in turn", () => {
  const done = async (failure: (row: number) => Error | null) => {
    const seen: number[] = [];
    const doing = eachInTurn([1, 2, 3, 4], async (row) => {
      const err = failure(row);
      if (err) throw err;
      seen.push(row);
    });
    return { seen, error: await doing.then(() => null).catch((err: Error) => err.message) };
  };

  test("one that fails stops no other, and is told of", async () => {
    const odd = (row: number) => (row % 2 ? new Error(`row ${row}`) : null);
    expect(await done(odd)).toEqual({ seen: [2, 4], error: "row 1" });
    expect(await done(() => null)).toEqual({ seen: [1, 2, 3, 4], error: null });
  });

  test.each([
    new Errors.ServiceNotFoundError({ action: "memories.collapse" }),
    new Error("database or disk is full"),
  ])("none is tried behind %s, of which all would fail", async (lost) => {
    expect(await done((row) => (row === 2 ? lost : null))).toEqual({ seen: [1], error: lost.message });
  });
});
