import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { place, Queue } from "../../mixins/queue.ts";
import type { TenantCollection, TenantDocument } from "../../storage/collection.ts";

test("places of a lane sort by when they are due, also by fractions of a millisecond", () => {
  const now = Date.UTC(2026, 0, 31);
  const dues = [now, now + 0.25, now + 4800.7, now + 15_000, now + 30_000.1];
  const places = dues.map((due) => place("tn_a", due, "ag_a"));
  expect([...places].sort()).toEqual(places);
});

describe("the lease of a row in work", () => {
  type Row = TenantDocument & { queue?: string };
  /** A collection of one row: what is there now, and what was read. */
  const row = { _id: "row_1", tenant_id: "tn_a", queue: "" } as Row & { queue: string };
  const rows = {
    update: async (_: string, { queue }: { queue: string }, { $set }: { $set: Partial<Row> }) =>
      queue === row.queue ? { ...Object.assign(row, $set) } : null,
    system: {
      findOne: async ({ queue }: { queue: { $gt: string } }) => (row.queue > queue.$gt ? row : null),
    },
  } as unknown as TenantCollection<Row>;
  const claimed = async () => {
    jest.useFakeTimers();
    row.queue = place("tn_a", Date.now());
    const held = await new Queue(rows, Date.now).claim();
    return held as Row & { queue: string };
  };
  afterEach(() => void jest.useRealTimers());

  test("is renewed until the work ends: no other node gets the row, and then one does", async () => {
    const held = await claimed();
    const work = Promise.withResolvers<void>();
    const [mine, other] = [new Queue(rows, Date.now), new Queue(rows, Date.now)];
    let seen = "";
    const holding = mine.hold(
      held,
      async (current) => {
        await work.promise;
        seen = current.queue;
      },
      async () => {},
    );
    for (let second = 0; second < 60; second++) {
      await jest.advanceTimersByTimeAsync(1000);
      expect(await other.claim()).toBeNull();
    }
    work.resolve();
    await holding;
    expect(seen).toBe(row.queue);
    await jest.advanceTimersByTimeAsync(16_000);
    expect(await other.claim()).toMatchObject({ _id: "row_1" });
  });

  test("that was lost is never taken back, and its failure is not written", async () => {
    const held = await claimed();
    const failed = jest.fn(async () => {});
    const work = Promise.withResolvers<void>();
    const holding = new Queue(rows, Date.now).hold(held, () => work.promise, failed);
    row.queue = place("tn_a", Date.now() + 60_000);
    const { queue } = row;
    await jest.advanceTimersByTimeAsync(20_000);
    work.reject(new Error("broken"));
    await holding;
    expect([row.queue, failed.mock.calls]).toEqual([queue, []]);
  });
});
