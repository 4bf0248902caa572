import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { Errors } from "moleculer";
import { Due, deletion, inTurns, tenantsIn } from "../../mixins/due.ts";
import { place, Queue } from "../../mixins/queue.ts";
import { setComplete } from "../../storage/activity.ts";
import { t, tenantSchema } from "../../storage/model.ts";
import { ownStore } from "../support/own-store.ts";

const text = t.optional(t.string());
const schema = tenantSchema({ due_at: t.optional(t.date()), queue: text, note: text });
schema.index({ due_at: 1 }, { sparse: true });
const store = await ownStore();
const rows = store.collection({ name: "asking", schema });
await store.ready();

const START = Date.UTC(2026, 0, 1);
let now: number;
let due: Due<{ _id: string; tenant_id: string; due_at?: Date }>;
const done: string[] = [];
beforeEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(["tn_a", "tn_b"].map((tenant_id) => rows.deleteMany(tenant_id, {})));
  now = START;
  due = new Due({ rows: rows as never, by: "due_at", now: () => now, batch: 5, projection: { note: 1 } });
  done.length = 0;
});
/** Rows that fail have the reason in their id. */
const ask = (tenant_id: string, ...ids: string[]) =>
  rows.insertMany(ids.map((_id, n) => ({ _id, tenant_id, due_at: new Date(START - 9_000 + n) })));
const FAILS: Record<string, Error> = {
  bad: new Error("no list"),
  away: new Errors.ServiceNotFoundError({ action: "events.emit" }),
};
const WAYS = {
  "row by row": () =>
    due.each(async ({ tenant_id, _id }) => {
      const failure = FAILS[_id.split(" ")[0] as string];
      if (failure) throw failure;
      done.push(_id);
      if (!_id.startsWith("stays")) await rows.delete(tenant_id, { _id });
    }),
  "a tenant's together": () =>
    due.work(async (tenant_id, those) => {
      const ids = those.map(({ _id }) => _id);
      const failing = ids.find((id) => FAILS[id.split(" ")[0] as string]);
      if (failing) throw FAILS[failing.split(" ")[0] as string];
      done.push(...ids);
      const gone = ids.filter((id) => !id.startsWith("stays"));
      await rows.deleteMany(tenant_id, { _id: { $in: gone } });
    }),
};

test("a tenant's rows that are few, but large, hold up no other tenant's", async () => {
  const large = { tenant_id: "tn_a", due_at: new Date(START - 9_000), note: "x".repeat(900) };
  await rows.insertMany([1, 2, 3].map((n) => ({ _id: `large ${n}`, ...large })));
  await ask("tn_b", "other");
  const asking = {
    ...{ rows: rows as never, by: "due_at" as never, batch: 5, projection: { note: 1 }, bytes: 1_000 },
  };
  const of = new Due<{ _id: string; tenant_id: string }>({ ...asking, now: () => now });
  expect(await of.each(async ({ _id }) => void done.push(_id))).toBe(true);
  expect(done.toSorted()).toEqual(["large 1", "other"]);
});

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])("work on what is due, %s", (way) => {
  const round = () => WAYS[way]().then(String, (err: Error) => err.message);

  test("sets aside what fails, with its reason, for longer each time: nothing waits behind it", async () => {
    await ask("tn_a", ...Array.from({ length: 7 }, (_, n) => `bad ${n}`), "good");
    await ask("tn_b", "other");
    expect(await round()).toMatch(/^tn_a bad 0: no list; tn_a bad 1: no list; /);
    expect(done).toEqual(["other"]);
    await round();
    expect(done).toEqual(["other", "good"]);
    expect(await round()).toBe("false");
    now += 1_300;
    expect(await round()).toContain("no list");
    await round();
    now += 1_300;
    expect(await round()).toBe("false");
    now += 1_300;
    expect(await round()).toContain("no list");
  });

  test("waits for a service that is away, and works on other tenants' rows meanwhile", async () => {
    await ask("tn_a", "away 1", "away 2");
    await ask("tn_b", "other");
    for (let times = 0; times < 5; times++) expect(await round()).toContain("events.emit");
    expect(done).toEqual(["other"]);
    // Not put off so far.
    expect(await rows.count("tn_a", { due_at: { $lte: new Date(START) } })).toBe(2);
    await round();
    expect(await rows.count("tn_a", { due_at: { $lte: new Date(START) } })).toBe(0);
  });

  test("sets aside what stays due although its work has ended", async () => {
    await ask("tn_a", ...Array.from({ length: 5 }, (_, n) => `stays ${n}`), "later");
    for (let times = 0; times < 5; times++) await round();
    expect(done).not.toContain("later");
    expect(await round()).toContain("It is still due after its work.");
    await round();
    expect(done).toContain("later");
  });
});

test("rows whose time is over go, some of every tenant in each run; one that stays is tried later, as it is", async () => {
  const old = (tenant_id: string, count: number, ago = 9_000) =>
    rows.insertMany(
      Array.from({ length: count }, (_, n) => {
        return { _id: `${tenant_id} ${n}`, tenant_id, due_at: new Date(START - ago + n) };
      }),
    );
  await old("tn_a", 1_200);
  await old("tn_b", 2, 1_000);
  const deleteMany = rows.deleteMany.bind(rows);
  jest.spyOn(rows, "deleteMany").mockImplementation(async (tenant_id, filter) => {
    if ((filter as { _id: { $in: string[] } })._id?.$in.includes("tn_a 0")) throw new Error("a lost blob");
    return deleteMany(tenant_id, filter);
  });
  const remove = deletion({ rows: rows as never, by: "due_at" as never, now: () => now });
  await expect(remove()).rejects.toThrow("tn_a tn_a 0: a lost blob");
  expect([await rows.count("tn_a", {}), await rows.count("tn_b", {})]).toEqual([1_001, 0]);
  while (await remove());
  expect(await rows.find("tn_a", {})).toMatchObject([{ _id: "tn_a 0", due_at: new Date(START - 9_000) }]);
  now += 2_000;
  await expect(remove()).rejects.toThrow("a lost blob");
  jest.restoreAllMocks();
  now += 5_000;
  await remove();
  expect(await tenantsIn(rows)).toEqual([]);
});

test("units of several tenants take turns, and one that fails is nobody else's", async () => {
  await ask("tn_b", "x", "y");
  await ask("tn_a", "z");
  expect(await tenantsIn(rows)).toEqual([{ tenant_id: "tn_a" }, { tenant_id: "tn_b" }]);
  const units = [..."12345"].map((n) => ({ tenant_id: "tn_a", n, left: 2 }));
  units.push({ tenant_id: "tn_b", n: "1", left: 1 }, { tenant_id: "tn_c", n: "1", left: 0 });
  const took: string[] = [];
  const turn = async (unit: (typeof units)[number]) => {
    if (unit.n === "2") throw new Error("no list");
    took.push(`${unit.tenant_id.at(-1)}${unit.n}`);
    return --unit.left > 0;
  };
  await expect(inTurns("things", units, turn)).rejects.toThrow("tn_a: no list");
  expect(took.join(" ")).toBe("a1 b1 c1 a3 a4 a5 a1 a3 a4 a5");
});

test("knows when the next one is due", async () => {
  expect(await due.untilNext()).toBe(false);
  await rows.insert({ _id: "one", tenant_id: "tn_a", due_at: new Date(START + 5_000) });
  expect(await due.untilNext()).toBe(5_000);
});

test("asks the store nothing at rest, until something is written or due", async () => {
  const looks = jest.spyOn(rows.system, "find");
  const done = async () => {
    const before = looks.mock.calls.length;
    const found: string[] = [];
    await due.work(async (_, those) => void found.push(...those.map(({ _id }) => _id)));
    return { found, looked: looks.mock.calls.length > before };
  };
  await rows.insert({ _id: "later", tenant_id: "tn_a", due_at: new Date(START + 5_000) });
  await done();
  await done();
  expect(await done()).toEqual({ found: [], looked: false });
  await rows.insert({ _id: "now", tenant_id: "tn_b", due_at: new Date(START) });
  expect(await done()).toEqual({ found: ["now"], looked: true });
  await rows.delete("tn_b", { _id: "now" });
  for (let n = 0; n < 3; n++) await done();
  expect((await done()).looked).toBe(false);
  now += 5_000;
  expect(await done()).toEqual({ found: ["later"], looked: true });
});

test("looks each time while some of the writes go unnoticed", async () => {
  const looks = jest.spyOn(rows.system, "find");
  setComplete(false);
  for (let n = 0; n < 4; n++) await due.work(async () => {});
  setComplete(true);
  expect(looks).toHaveBeenCalledTimes(4);
});

test("a queue is asked again when its next row is due, or one is written", async () => {
  const queue = new Queue(rows as never, () => now);
  const looks = jest.spyOn(rows.system, "findOne");
  const claim = async () => {
    const before = looks.mock.calls.length;
    const row = await queue.claim();
    return { id: row?._id, looked: looks.mock.calls.length > before };
  };
  await rows.insert({ _id: "later", tenant_id: "tn_a", queue: place("tn_a", START + 5_000) });
  for (let n = 0; n < 3; n++) await claim();
  expect(await claim()).toEqual({ looked: false });
  await rows.insert({ _id: "now", tenant_id: "tn_b", queue: place("tn_b", START) });
  expect(await claim()).toEqual({ id: "now", looked: true });
  for (let n = 0; n < 3; n++) await claim();
  expect(await claim()).toEqual({ looked: false });
  now += 5_000;
  expect(await claim()).toEqual({ id: "later", looked: true });
});

test("a position that sorts elsewhere holds up no queue: its row waits for its turn", async () => {
  const positions = { bad: "tn_a ~~", worse: "tn_a ~ 9", other: place("tn_b", START), last: "zz" };
  await rows.insertMany(
    Object.entries(positions).map(([_id, queue]) => ({
      ...{ _id, tenant_id: _id === "other" ? "tn_b" : "tn_a", queue },
    })),
  );
  const queue = new Queue(rows as never, () => now);
  expect([await queue.claim(), await queue.claim()]).toMatchObject([{ _id: "other" }, null]);
  now += 20_000;
  const claimed = [await queue.claim(), await queue.claim(), await queue.claim(), await queue.claim()];
  expect(claimed.map((row) => row?._id).sort()).toEqual(["bad", "last", "other", "worse"]);
});
