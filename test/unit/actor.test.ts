import { expect, test } from "@jest/globals";
import { Actor, Actors } from "../../mixins/actor.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("calls for one key run one after another, whether they succeed or not", async () => {
  const actor = new Actor();
  const seen: string[] = [];
  const task =
    (name: string, fail = false) =>
    async () => {
      seen.push(`${name} begins`);
      await turn();
      seen.push(`${name} ends`);
      if (fail) throw new Error(name);
      return name;
    };
  const results = await Promise.allSettled([
    ...[actor.run(task("a")), actor.run(task("b", true)), actor.run(task("c"))],
  ]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("a wake-up between arming and sleeping is not lost", async () => {
  const actor = new Actor();
  const waiter = actor.arm();
  actor.wake();
  await waiter.sleep(60_000);
});

test("every waiter wakes, and a disarmed one is forgotten", async () => {
  const actor = new Actor();
  const [first, second, third] = [actor.arm(), actor.arm(), actor.arm()];
  const sleeping = [first.sleep(60_000), second.sleep(60_000)];
  third.disarm();
  actor.wake();
  await Promise.all(sleeping);
  expect(actor.version).toBe(1);
});

test("a sleep ends by itself", async () => {
  const waiter = new Actor().arm();
  await waiter.sleep(1);
});

test("an actor lives as long as somebody uses it, and is then forgotten", async () => {
  const actors = new Actors(() => new Actor());
  let leave = () => {};
  const staying = actors.with(
    "a",
    () =>
      new Promise<void>((resolve) => {
        leave = resolve;
      }),
  );
  const kept = actors.peek("a");
  expect(await actors.with("a", async (actor) => actor)).toBe(kept);
  expect(actors.peek("a")).toBe(kept);
  leave();
  await staying;
  expect(actors.peek("a")).toBeUndefined();
  await expect(actors.with("b", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect([...actors.keys()]).toEqual([]);
});

test("an actor that holds something is kept", async () => {
  class Holding extends Actor {
    held = 0;
    override get idle() {
      return this.held === 0;
    }
  }
  const actors = new Actors(() => new Holding());
  await actors.with("a", async (actor) => {
    actor.held = 1;
  });
  expect(actors.peek("a")?.held).toBe(1);
  await actors.with("a", async (actor) => {
    actor.held = 0;
  });
  expect(actors.peek("a")).toBeUndefined();
});
