import { expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { FairQueue, type FairQueueOptions, type Release } from "../../lib/queue/fair-queue.ts";

const OPTIONS: FairQueueOptions = { capacity: 1, maxWaiting: 1000, maxWaitingPerCaller: 1000 };

/** A queue whose tasks end when the test says so; `started` names them in order. */
function newBench(options: Partial<FairQueueOptions> = {}) {
  const queue = new FairQueue({ ...OPTIONS, ...options });
  const started: string[] = [];
  const refused: string[] = [];
  const running: { name: string; release: Release }[] = [];
  async function ask(tenant_id: string, caller = "agent", cost = 1): Promise<void> {
    const name = `${tenant_id} ${caller}`;
    await queue.acquire({ tenant_id, caller }, cost).then(
      (release) => {
        started.push(name);
        running.push({ name, release });
      },
      ({ type }) => refused.push(`${name} ${type}`),
    );
  }
  /** Ends the task that began first, until none runs. */
  async function drain(count = Number.POSITIVE_INFINITY): Promise<void> {
    for (let i = 0; i < count; i++) {
      await turn();
      const first = running.shift();
      if (!first) return;
      first.release();
    }
  }
  return { queue, started, refused, running, ask, drain };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const times = (count: number, task: () => void) => Array.from({ length: count }, task);

test("serves tenants by turns, however many tasks one of them has", async () => {
  const { ask, started, drain } = newBench();
  times(6, () => void ask("flood"));
  times(2, () => void ask("calm"));
  await drain();
  expect(started.map((name) => name.split(" ")[0]).join(" ")).toBe(
    "flood calm flood calm flood flood flood flood",
  );
});

test("divides a tenant's part among its callers", async () => {
  const { ask, started, drain } = newBench();
  times(5, () => void ask("a", "busy"));
  void ask("a", "other");
  await drain();
  expect(started.indexOf("a other")).toBe(1);
});

test("counts cost, not tasks", async () => {
  const { ask, started, drain } = newBench({ capacity: 4 });
  times(4, () => void ask("heavy", "agent", 4));
  times(6, () => void ask("light", "agent", 1));
  await drain();
  // Four light ones for each heavy one.
  expect(started.slice(1, 5).every((name) => name === "light agent")).toBe(true);
  expect(started[5]).toBe("heavy agent");
});

test("does not save up the time in which a tenant asked for nothing", async () => {
  const { ask, started, drain } = newBench();
  times(20, () => void ask("busy"));
  await drain(10);
  times(10, () => void ask("late"));
  await drain();
  expect(started.slice(11, 17).filter((name) => name === "late agent")).toHaveLength(3);
});

test("charges the time that a task took", async () => {
  let now = 0;
  const clock = jest.spyOn(performance, "now").mockImplementation(() => now);
  const { ask, started, running, drain } = newBench({ chargeTime: true });
  void ask("slow");
  await turn();
  times(2, () => void ask("slow"));
  times(3, () => void ask("quick"));
  now = 20;
  running.shift()?.release();
  await drain();
  clock.mockRestore();
  expect(started).toEqual([
    ...["slow agent", "quick agent", "quick agent", "quick agent", "slow agent", "slow agent"],
  ]);
});

test("counts a refusal of what does not wait, and takes a place back once", () => {
  const refused = jest.fn();
  const { queue } = newBench({ capacity: 2 });
  queue.observer = { refused, waited: () => {}, charged: () => {} };
  const leave = queue.enter({ tenant_id: "flood", caller: "agent" });
  expect(() => queue.enter({ tenant_id: "flood", caller: "agent" })).toThrow("in progress");
  expect(refused).toHaveBeenCalledTimes(1);
  leave();
  leave();
  expect(queue.inUse).toBe(0);
});

test("keeps capacity for others when a tenant uses its whole share", async () => {
  const { ask, running } = newBench({ capacity: 4, perTenant: 3 });
  times(10, () => void ask("flood"));
  void ask("calm");
  await turn();
  expect(running.map(({ name }) => name)).toEqual([
    ...["flood agent", "flood agent", "flood agent", "calm agent"],
  ]);
});

test("keeps capacity for a tenant's other callers", async () => {
  const { ask, running } = newBench({ capacity: 4, perCaller: 2 });
  times(5, () => void ask("a", "flood"));
  void ask("a", "calm");
  await turn();
  expect(running.map(({ name }) => name)).toEqual(["a flood", "a flood", "a calm"]);
});

test("takes units back one by one", async () => {
  const { ask, running, queue } = newBench({ capacity: 3 });
  void ask("a", "agent", 3);
  void ask("b", "agent", 2);
  await turn();
  running[0]?.release(1);
  await turn();
  expect([running.length, queue.inUse]).toEqual([1, 2]);
  running[0]?.release(1);
  await turn();
  expect([running.length, queue.inUse]).toEqual([2, 3]);
  running[0]?.release();
  running[0]?.release();
  running[1]?.release(7);
  expect(queue.inUse).toBe(0);
});

test("refuses the caller that fills it, and not the one that comes then", async () => {
  const { ask, refused, started, drain } = newBench({ maxWaiting: 10, maxWaitingPerCaller: 10 });
  times(12, () => void ask("flood"));
  void ask("calm");
  await turn();
  expect(refused).toEqual(["flood agent rate_limited", "flood agent rate_limited"]);
  await drain();
  expect(started).toContain("calm agent");
});

test("refuses a caller that has too many waiting while there is room for others", async () => {
  const { ask, refused, queue } = newBench({ maxWaiting: 100, maxWaitingPerCaller: 2 });
  times(5, () => void ask("a", "greedy"));
  times(2, () => void ask("a", "modest"));
  await turn();
  expect(refused).toEqual(["a greedy rate_limited", "a greedy rate_limited"]);
  expect(queue.waiting).toBe(4);
});

test("keeps a reserve for what is reserved, and that to the reserve", async () => {
  const { queue } = newBench({ capacity: 2, reserve: 1 });
  const started: string[] = [];
  const ask = async (name: string, reserved?: boolean) => {
    const release = await queue.acquire({ tenant_id: "a", caller: "x" }, 1, { reserved });
    started.push(name);
    return release;
  };
  const all = [ask("1"), ask("2"), ask("3"), ask("reserved 1", true), ask("reserved 2", true)] as const;
  await turn();
  expect([started, queue.inUse, queue.waiting]).toEqual([["1", "2", "reserved 1"], 3, 2]);
  (await all[3])();
  await turn();
  expect(started).toEqual(["1", "2", "reserved 1", "reserved 2"]);
  (await all[0])();
  await turn();
  expect([started.at(-1), queue.inUse]).toEqual(["3", 3]);
  expect(() => queue.enter({ tenant_id: "b", caller: "x" }, 1, true)).toThrow("busy");
});

test("leaves as much as one tenant has to others, however many there are", async () => {
  const { ask, running } = newBench({ capacity: 16, perTenant: "half" });
  for (const tenant of ["a", "b", "c"]) times(20, () => void ask(tenant));
  await turn();
  const counts = Map.groupBy(running, ({ name }) => name);
  expect([...counts.values()].map(({ length }) => length)).toEqual([8, 4, 2]);
});

test("never refuses what may wait as long as it takes, nor counts it", async () => {
  const { queue, ask, refused, drain, started } = newBench({ maxWaiting: 1, patienceMs: 1 });
  const forever = { queued: 0 };
  const run = (name: string) =>
    queue.run({ tenant_id: "a", caller: "agent" }, 1, () => void started.push(name), forever);
  void ask("b");
  const all = [run("first"), run("second")];
  await ask("c");
  expect([refused, queue.waiting]).toEqual([["c agent service_unavailable"], 0]);
  await drain();
  await Promise.all(all);
  expect(started).toEqual(["b agent", "first", "second"]);
});

test("waits as long as a task says", async () => {
  const { queue } = newBench();
  const share = { tenant_id: "a", caller: "x" };
  await queue.acquire(share, 1);
  await expect(queue.acquire(share, 1, { patienceMs: 1 })).rejects.toMatchObject({
    type: "service_unavailable",
  });
});

test("runs what costs more than its capacity alone", async () => {
  const { ask, running, drain, started } = newBench({ capacity: 2 });
  void ask("a");
  void ask("b", "agent", 50);
  void ask("a");
  await turn();
  expect(running).toHaveLength(1);
  await drain();
  expect(started).toHaveLength(3);
});

test("refuses what has waited too long", async () => {
  const { ask, refused } = newBench({ patienceMs: 1 });
  void ask("a");
  await ask("b");
  expect(refused).toEqual(["b agent service_unavailable"]);
});

test("gives back what a task that fails had, once", async () => {
  const { queue } = newBench();
  const fail = queue.run({ tenant_id: "a", caller: "x" }, 1, () => Promise.reject(new Error("broken")));
  await expect(fail).rejects.toThrow("broken");
  const release = await queue.acquire({ tenant_id: "a", caller: "x" }, 1);
  release();
  release();
  expect([queue.inUse, queue.waiting]).toEqual([0, 0]);
});

test("starts every task once, within its bounds, whatever is asked", async () => {
  const task = fc.record({
    tenant: fc.constantFrom("a", "b", "c"),
    caller: fc.constantFrom("x", "y"),
    cost: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(task, { maxLength: 60 }), async (tasks) => {
      const { queue, ask, drain, started, refused } = newBench({ capacity: 5, perTenant: 4, maxWaiting: 60 });
      for (const { tenant, caller, cost } of tasks) void ask(tenant, caller, cost);
      expect(queue.inUse).toBeLessThanOrEqual(6);
      expect(queue.waiting).toBeLessThanOrEqual(60);
      await drain();
      await turn();
      expect(started.length + refused.length).toBe(tasks.length);
      expect([queue.inUse, queue.waiting]).toEqual([0, 0]);
    }),
    { numRuns: 200 },
  );
});
