import { expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { Loop, ServiceLoop, working } from "../../mixins/loop.ts";
import { settle } from "../support/settle.ts";

/** A loop that looks once a minute unless it is told otherwise. */
const newLoop = (run: () => Promise<boolean | number>) => new Loop(run, 60_000, () => {});

test("runs at start and again at once while there is more", async () => {
  let left = 3;
  let runs = 0;
  const loop = newLoop(async () => {
    runs++;
    return --left > 0;
  });
  loop.start();
  await settle(() => runs === 3);
  await loop.stop();
  expect(runs).toBe(3);
});

test("a nudge during a run is followed by one more", async () => {
  let runs = 0;
  const held = Promise.withResolvers<void>();
  const loop = newLoop(async () => {
    runs++;
    if (runs === 1) await held.promise;
    return false;
  });
  loop.start();
  await settle(() => runs === 1);
  loop.nudge();
  loop.nudge();
  held.resolve();
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

test("runs again when more is due, if that is before its interval", async () => {
  const dues = [5, 60_000, 60_000];
  let runs = 0;
  const loop = newLoop(async () => dues[runs++] ?? false);
  loop.start();
  await settle(() => runs === 2);
  // An earlier time counts, a later one does not.
  loop.within(5);
  loop.within(50_000);
  await settle(() => runs === 3);
  await loop.stop();
  loop.within(0);
  expect(runs).toBe(3);
});

test("what is due soon, told during a run, is not forgotten", async () => {
  let runs = 0;
  const loop: Loop = newLoop(async () => {
    if (++runs === 1) loop.within(1);
    return false;
  });
  loop.start();
  await settle(() => runs === 2);
  await loop.stop();
});

test("loops and workers of a service begin when every service has started, and end with theirs", async () => {
  const log: string[] = [];
  const note = async (what: string) => void log.push(what);
  const loop = new ServiceLoop("loop", ({ nodeID }) => note(`loop on ${nodeID}`).then(() => false), 60_000);
  const worker = { start: () => void note("begin"), stop: () => note("end") };
  const broker = new ServiceBroker({ nodeID: "here", logger: false });
  broker.createService({ name: "one", mixins: [loop.mixin, working(() => [worker])] });
  broker.createService({ name: "other", started: () => note("other") });
  await broker.start();
  expect([log[0], ...log.slice(1).toSorted()]).toEqual(["other", "begin", "loop on here"]);
  await broker.stop();
  loop.nudge();
  expect(log.slice(3)).toEqual(["end"]);
});
