import { describe, expect, test } from "@jest/globals";
import { Errors, ServiceBroker } from "moleculer";
import { eachInTurn, Loop, ServiceLoop, tenantsInTurn, working } from "../../mixins/loop.ts";
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

  test("reports a failure and continues with the others", async () => {
    const odd = (row: number) => (row % 2 ? new Error(`row ${row}`) : null);
    expect(await done(odd)).toEqual({ seen: [2, 4], error: "row 1" });
    expect(await done(() => null)).toEqual({ seen: [1, 2, 3, 4], error: null });
  });

  test.each([
    new Errors.ServiceNotFoundError({ action: "memories.collapse" }),
    new Error("database or disk is full"),
  ])("stops at %s, because all others would fail too", async (lost) =>
    expect(await done((row) => (row === 2 ? lost : null))).toEqual({ seen: [1], error: lost.message }),
  );
});

describe("of tenants whose rows are done in turn", () => {
  const rows = ["a", "a", "a", "b", "c", "a", "b"].map((tenant_id, n) => ({ tenant_id, n }));
  const done = async (failure: (tenant_id: string) => Error | null) => {
    const left = new Set(rows);
    const find = async ({ tenant_id }: { tenant_id?: { $nin: string[] } }) =>
      [...left].filter((row) => !tenant_id?.$nin.includes(row.tenant_id)).slice(0, 2);
    const doing = async () => {
      const turn = () =>
        tenantsInTurn(find, 2, async (tenant_id, those) => {
          const err = failure(tenant_id);
          if (err) throw err;
          for (const row of those) left.delete(row);
        });
      while (await turn());
    };
    const error = await doing()
      .then(() => null)
      .catch((err: Error) => err.message);
    return { left: [...left].map(({ n }) => n), error };
  };

  test("reports a tenant's failures of more than a batch, without holding up other tenants", async () => {
    expect(await done(() => null)).toEqual({ left: [], error: null });
    const failing = (tenant_id: string) => (tenant_id === "a" ? new Error("of a") : null);
    expect(await done(failing)).toEqual({ left: [0, 1, 2, 5], error: "of a" });
  });

  test("does not retry others after an error that all would hit", async () => {
    const lost = new Errors.ServiceNotFoundError({ action: "events.emit" });
    expect(await done(() => lost)).toEqual({ left: rows.map(({ n }) => n), error: lost.message });
  });
});
