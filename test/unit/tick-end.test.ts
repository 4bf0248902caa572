import { expect, test } from "@jest/globals";
import { atTickEnd } from "../../lib/queue/tick-end.ts";

test("tasks run in order at the end of the turn, and those they add before the next turn", async () => {
  const order: string[] = [];
  atTickEnd(() => {
    order.push("first");
    atTickEnd(() => order.push("added by first"));
  });
  atTickEnd(() => order.push("second"));
  setImmediate(() => order.push("next immediate"));
  await Promise.resolve();
  expect(order).toEqual([]);
  await new Promise(setImmediate);
  expect(order).toEqual(["first", "second", "added by first", "next immediate"]);
});

test("a new turn begins after all have run", async () => {
  const run = () => new Promise<void>((resolve) => atTickEnd(resolve));
  await run();
  await run();
});
