import { describe, expect, test } from "@jest/globals";
import { type Entry, FanOutQueue } from "../../services/sense/events/fan-out-queue.ts";

function entry(tenant_id: string, n: number, more: Partial<Entry> = {}): Entry {
  const event_id = `${tenant_id}-${n}`;
  const event = { specversion: "1.0", id: event_id, source: "/", type: "t" } as const;
  return {
    event_id,
    tenant_id,
    event,
    size: 100,
    position: "",
    due_at: 0,
    owner: "me",
    leased_until: Number.POSITIVE_INFINITY,
    attempts: 0,
    ...more,
  };
}

function filled(...entries: Entry[]): FanOutQueue {
  const queue = new FanOutQueue();
  for (const each of entries) queue.push(each);
  return queue;
}

const ids = (entries: Entry[]) => entries.map(({ event_id }) => event_id);

test("tenants take turns, each in its own order", () => {
  const queue = filled(entry("a", 1), entry("a", 2), entry("a", 3), entry("b", 1), entry("c", 1));
  const batches = [];
  for (let batch = queue.take(2, 1e9); batch.length; batch = queue.take(2, 1e9)) batches.push(ids(batch));
  expect(batches).toEqual([["a-1", "a-2"], ["b-1"], ["c-1"], ["a-3"]]);
});

test("a batch is bounded by bytes, but never empty", () => {
  const queue = filled(entry("a", 1, { size: 900 }), entry("a", 2), entry("a", 3), entry("a", 4));
  expect(ids(queue.take(10, 300))).toEqual(["a-1"]);
  expect(ids(queue.take(10, 200))).toEqual(["a-2", "a-3"]);
});

test("what is put back comes first again", () => {
  const queue = filled(entry("a", 1), entry("a", 2), entry("a", 3));
  queue.putBack(queue.take(2, 1e9));
  expect(ids(queue.take(3, 1e9))).toEqual(["a-1", "a-2", "a-3"]);
});

test("an event is held until it is released, and taken once under one lease", () => {
  const first = entry("a", 1);
  const queue = filled(first, entry("a", 1));
  expect(queue.take(5, 1e9)).toEqual([first]);
  expect(queue.get("a-1")).toBe(first);
  queue.push(entry("a", 1));
  expect(queue.take(5, 1e9)).toEqual([]);
  queue.release(first);
  expect([queue.get("a-1"), queue.load.events]).toEqual([undefined, 0]);
});

test("a tenant that is full spills, alone, until the store's part is taken", () => {
  const queue = new FanOutQueue();
  let n = 0;
  while (queue.admits("a")) queue.push(entry("a", n++, { size: 1 }));
  expect(queue.capacity("a")).toBe(0);
  expect([queue.admits("b"), queue.nextSpilled()]).toEqual([true, null]);
  for (let at = 0; at < n * 0.75; at += 200) for (const each of queue.take(200, 1e9)) queue.release(each);
  expect(queue.nextSpilled()).toBe("a");
  expect(queue.admits("a")).toBe(false);
  queue.markCaughtUp("a");
  expect([queue.admits("a"), queue.nextSpilled()]).toEqual([true, null]);
});

test("large events fill it by their bytes, and never all of it", () => {
  const MB = 1_048_576;
  const queue = new FanOutQueue();
  const filledBy = (tenant_id: string) => {
    let n = 0;
    while (queue.admits(tenant_id)) queue.push(entry(tenant_id, n++, { size: MB }));
    return n;
  };
  expect(filledBy("a")).toBe(32);
  expect(filledBy("b")).toBe(16);
  const [first] = queue.take(1, MB);
  queue.release(first as Entry);
  queue.markCaughtUp("b");
  expect([queue.admits("a"), queue.admits("b")]).toEqual([false, true]);
  for (let tenant = 0; tenant < 100; tenant++) expect(queue.admits(`c${tenant}`)).toBe(true);
  queue.push(entry("huge", 1, { size: 64 * MB }));
  expect(queue.admits("late")).toBe(true);
});

describe("while several tenants wait", () => {
  const many = (tenant_id: string, count: number, more: Partial<Entry> = {}) =>
    Array.from({ length: count }, (_, n) => entry(tenant_id, n, more));
  /** Works off the queue, one batch after the other; gives whose each was. */
  function order(queue: FanOutQueue, batches: number, receivers: (tenant_id: string) => number) {
    return Array.from({ length: batches }, () => {
      const batch = queue.take(100, 1e9);
      const { tenant_id } = batch[0] as Entry;
      for (const each of batch) queue.release(each);
      queue.charge(tenant_id, batch.length * receivers(tenant_id));
      queue.finish(tenant_id);
      return tenant_id;
    });
  }

  test("each gets the same number of batches of the same cost, whatever its backlog", () => {
    const queue = filled(...many("flood", 10_000), ...many("b", 300), ...many("c", 300));
    expect(order(queue, 9, () => 1).sort()).toEqual([..."bbbccc", "flood", "flood", "flood"]);
  });

  test("one whose events have many receivers gets fewer", () => {
    const queue = filled(...many("wide", 10_000), ...many("b", 5_000));
    const taken = order(queue, 40, (tenant_id) => (tenant_id === "wide" ? 19 : 1));
    expect(taken.filter((tenant_id) => tenant_id === "wide").length).toBeLessThanOrEqual(5);
  });

  test("one whose events are large gets fewer", () => {
    const queue = filled(...many("large", 1_000, { size: 10_240 }), ...many("b", 4_000));
    const taken = order(queue, 40, () => 0);
    expect(taken.filter((tenant_id) => tenant_id === "large").length).toBeLessThanOrEqual(6);
  });

  test("a later tenant has no credit for unused shares", () => {
    const queue = filled(...many("early", 10_000));
    order(queue, 50, () => 1);
    for (const each of many("late", 5_000)) queue.push(each);
    const taken = order(queue, 20, () => 1);
    expect(taken[0]).toBe("late");
    expect(taken.filter((tenant_id) => tenant_id === "late").length).toBeLessThanOrEqual(11);
  });

  test("no tenant has more than its share of running batches", () => {
    const queue = filled(...many("flood", 10_000));
    const take = () => queue.take(100, 1e9, 4)[0]?.tenant_id;
    expect(Array.from({ length: 5 }, take)).toEqual([...Array(4).fill("flood"), undefined]);
    for (const each of many("b", 300)) queue.push(each);
    expect([take(), take()]).toEqual(["b", undefined]);
    queue.finish("flood");
    expect(take()).toBeUndefined();
    queue.finish("flood");
    // Three of four places are in use, and it has one of its two.
    expect([take(), take()]).toEqual(["b", undefined]);
  });

  test("what the store has of each is taken in turn", () => {
    const queue = new FanOutQueue();
    for (const tenant_id of ["flood", "b", "c"]) queue.markSpilled(tenant_id);
    const taken = Array.from({ length: 6 }, () => {
      const spilled = queue.nextSpilled() as string;
      queue.markSpilled(spilled);
      // It goes on publishing.
      queue.admits("flood");
      return spilled;
    });
    expect(taken).toEqual(["flood", "b", "c", "flood", "b", "c"]);
  });
});
