import { expect, test } from "@jest/globals";
import { type Entry, FanOutQueue } from "../../services/sense/events/fan-out-queue.ts";

function entry(tenant_id: string, n: number, more: Partial<Entry> = {}): Entry {
  const event_id = `${tenant_id}-${n}`;
  const event = { specversion: "1.0", id: event_id, source: "/", type: "t" } as const;
  return {
    ...{ event_id, tenant_id, event, size: 100, position: "", due_at: 0, owner: "me" },
    ...{ leased_until: Number.POSITIVE_INFINITY, attempts: 0 },
    ...more,
  };
}

function filled(...entries: Entry[]): FanOutQueue {
  const queue = new FanOutQueue();
  for (const each of entries) queue.push(each);
  return queue;
}

const ids = (entries: Entry[]) => entries.map(({ event_id }) => event_id);

test("each tenant's events are taken in their own order", () => {
  const queue = filled(entry("a", 1), entry("b", 1), entry("a", 2), entry("a", 3));
  expect(queue.waiting).toEqual(["a", "b"]);
  expect([ids(queue.take("a", 2)), ids(queue.take("a", 2))]).toEqual([["a-1", "a-2"], ["a-3"]]);
  expect([queue.waiting, ids(queue.take("b", 2)), queue.take("c", 2)]).toEqual([["b"], ["b-1"], []]);
});

test("a batch is bounded by bytes, but never empty", () => {
  const queue = filled(entry("a", 1, { size: 900 }), entry("a", 2), entry("a", 3), entry("a", 4));
  expect(ids(queue.take("a", 10, 300))).toEqual(["a-1"]);
  expect(ids(queue.take("a", 10, 200))).toEqual(["a-2", "a-3"]);
});

test("a tenant is behind while its events wait here or in the store", () => {
  const queue = filled(entry("a", 1));
  expect([queue.isBehind("a"), queue.isBehind("b")]).toEqual([true, false]);
  const batch = queue.take("a", 1);
  expect(queue.isBehind("a")).toBe(false);
  queue.putBack(batch);
  expect(queue.isBehind("a")).toBe(true);
  queue.markSpilled("b");
  expect(queue.isBehind("b")).toBe(true);
  queue.markCaughtUp("b");
  expect(queue.isBehind("b")).toBe(false);
});

test("what is put back comes first again", () => {
  const queue = filled(entry("a", 1), entry("a", 2), entry("a", 3));
  queue.putBack(queue.take("a", 2));
  expect(ids(queue.take("a", 3))).toEqual(["a-1", "a-2", "a-3"]);
});

test("an event is held until it is released, and taken once under one lease", () => {
  const first = entry("a", 1);
  const queue = filled(first, entry("a", 1));
  expect(queue.take("a", 5)).toEqual([first]);
  expect(queue.get("a-1")).toBe(first);
  queue.push(entry("a", 1));
  expect(queue.take("a", 5)).toEqual([]);
  queue.release(first);
  expect([queue.get("a-1"), queue.load.events]).toEqual([undefined, 0]);
});

test("a tenant that is full spills, alone, until the store's part is taken", () => {
  const queue = new FanOutQueue();
  let n = 0;
  while (queue.admits("a")) queue.push(entry("a", n++, { size: 1 }));
  expect(queue.capacity("a")).toBe(0);
  expect([queue.admits("b"), queue.nextSpilled()]).toEqual([true, null]);
  for (let at = 0; at < n * 0.75; at += 200) for (const each of queue.take("a", 200)) queue.release(each);
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
  const [first] = queue.take("a", 1);
  queue.release(first as Entry);
  queue.markCaughtUp("b");
  expect([queue.admits("a"), queue.admits("b")]).toEqual([false, true]);
  for (let tenant = 0; tenant < 100; tenant++) expect(queue.admits(`c${tenant}`)).toBe(true);
  queue.push(entry("huge", 1, { size: 64 * MB }));
  expect(queue.admits("late")).toBe(true);
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
