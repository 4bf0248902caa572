import { expect, test } from "@jest/globals";
import { type Entry, FanOutQueue } from "../../services/events/fan-out-queue.ts";

function entry(tenant_id: string, n: number, more: Partial<Entry> = {}): Entry {
  const event_id = `${tenant_id}-${n}`;
  const event = { specversion: "1.0", id: event_id, source: "/", type: "t" } as const;
  return {
    event_id,
    tenant_id,
    event,
    size: 100,
    position: "",
    accepted_at: 0,
    owner: "me",
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
  expect(queue.holds("a-1")).toBe(true);
  queue.push(entry("a", 1));
  expect(queue.take(5, 1e9)).toEqual([]);
  queue.release(first);
  expect([queue.holds("a-1"), queue.size]).toEqual([false, 0]);
});

test("a tenant that is full spills, alone, until the store's part is taken", () => {
  const queue = new FanOutQueue();
  let n = 0;
  while (queue.admits("a")) queue.push(entry("a", n++, { size: 1 }));
  expect(queue.room("a")).toBe(0);
  expect([queue.admits("b"), queue.hungry()]).toEqual([true, null]);
  for (let at = 0; at < n * 0.75; at += 200) for (const each of queue.take(200, 1e9)) queue.release(each);
  expect(queue.hungry()).toBe("a");
  expect(queue.admits("a")).toBe(false);
  queue.caughtUp("a");
  expect([queue.admits("a"), queue.hungry()]).toEqual([true, null]);
});

test("large events fill it by their bytes", () => {
  const queue = filled(entry("a", 1, { size: 64 * 1_048_576 }));
  expect([queue.admits("a"), queue.admits("b")]).toEqual([false, false]);
});
