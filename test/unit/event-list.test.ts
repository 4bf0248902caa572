import { expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../lib/access/caller.ts";
import { type EventDoc, EventModel } from "../../services/sense/events/events.model.ts";
import { listEvents, ScanBudget, WINDOWS } from "../../services/sense/events/list.ts";
import { positionMaker } from "../../services/sense/events/position.ts";
import { ownStore } from "../support/own-store.ts";

const ADMIN = { kind: "user", tenant_id: "tn_a", user_id: "usr_a", scopes: ["admin"] } as unknown as Caller;
/** Every event has a pending delivery, but for the rare ones, which have a dead letter. */
let isKnown = true;
const ACTIONS: Record<string, (params: { outcome: string; event_ids: string[] }) => unknown> = {
  "deliveries.counts": ({ event_ids }) =>
    Object.fromEntries(
      event_ids.map((id) => [
        id,
        { acknowledged: 0, ...(dead.has(id) ? { dlq: 1, pending: 0 } : { dlq: 0, pending: 1 }) },
      ]),
    ),
  "deliveries.open_events": ({ outcome }) => (isKnown && outcome === "dead" ? [...dead] : null),
};
const dead = new Set<string>();
const broker = {
  call: async (name: string, params: never) => ACTIONS[name]?.(params),
} as unknown as ServiceBroker;
const COUNT = WINDOWS[0] + WINDOWS[1];

const store = await ownStore();
const events = store.collection(EventModel);

await store.ready();
const next = positionMaker();
const rows = Array.from({ length: COUNT }, (_, n) => row(n, next(n + 1)));
for (const { _id, type, parked_at } of rows) if (type === "rare" && !parked_at) dead.add(_id);
for (let at = 0; at < COUNT; at += 2_000) await events.insertMany(rows.slice(at, at + 2_000));

/** The oldest two, one of them parked, are of a type that is rare, as is one in the first window; every tenth is of another source. */
function row(n: number, position: string): EventDoc {
  return {
    ...{ _id: `evt_${position}`, tenant_id: ADMIN.tenant_id, envelope: JSON.stringify({ n }), size: 10 },
    ...{ ce_id: `${n}`, type: n < 2 || n === COUNT - 5 ? "rare" : "common" },
    ...{ source: n % 10 === 0 ? "/tenth" : "/", subject: null, publisher_id: null, accepted_at: new Date(n) },
    position,
    ...(n === 0 && { parked_at: new Date(n + 1) }),
  };
}

/** Goes on where a page ended before it was full: the time for one is short where the machine is busy. */
async function list(params: Parameters<typeof listEvents>[3]) {
  const { limit = 50 } = params;
  const numbers: unknown[] = [];
  let next_cursor: string | null = params.cursor ?? null;
  do {
    const more = { limit: limit - numbers.length, ...(next_cursor && { cursor: next_cursor }) };
    const page = await listEvents(events, broker, ADMIN, { ...params, ...more });
    numbers.push(...page.events.map(({ payload }) => payload.n));
    next_cursor = page.next_cursor;
  } while (next_cursor && numbers.length < limit);
  return { numbers, next_cursor };
}

test("what is rare is found behind what is not, in order, over several looks", async () =>
  expect(await list({ type: "rare" })).toEqual({ numbers: [COUNT - 5, 1, 0], next_cursor: null }));

test.each(["ra*", "*are", "r?re", "*ar*", "[!a-q]are", "*"])("the glob %s finds it as well", async (type) => {
  const [latest, ...others] = (await list({ type, limit: 3 })).numbers;
  expect([latest, ...others]).toEqual(type === "*" ? [COUNT - 1, COUNT - 2, COUNT - 3] : [COUNT - 5, 1, 0]);
});

test("a page that has something ends soon, an empty one after seconds", () => {
  const budget = new ScanBudget(0);
  const windows = Array.from({ length: 5 }, () => {
    const { window } = budget;
    expect(budget.spend(1, 0)).toBe(false);
    return window;
  });
  expect(windows).toEqual([...WINDOWS, WINDOWS[2], WINDOWS[2]]);
  expect(budget.spend(1, 0)).toBe(true);
  expect([budget.spend(0, 1_999), budget.spend(0, 2_000)]).toEqual([false, true]);
});

test("pages of what is rare go on where the one before ended", async () => {
  const first = await list({ type: "rare", limit: 2 });
  expect(first.numbers).toEqual([COUNT - 5, 1]);
  const second = await list({ type: "rare", limit: 2, cursor: first.next_cursor as string });
  expect(second).toEqual({ numbers: [0], next_cursor: null });
});

test("a filter meets every event once, over all pages", async () => {
  const numbers: unknown[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await list({ source: "/tenth", limit: 200, ...(cursor && { cursor }) });
    numbers.push(...page.numbers);
    cursor = page.next_cursor;
  }
  expect(numbers).toEqual(Array.from({ length: COUNT / 10 }, (_, i) => COUNT - 10 * (i + 1)));
});

test("what nobody sent gives an empty page that is the last", async () => {
  expect(await list({ subject: "nothing" })).toEqual({ numbers: [], next_cursor: null });
  expect(await list({ id: "nobody" })).toEqual({ numbers: [], next_cursor: null });
  expect(await list({ id: "7" })).toEqual({ numbers: [7], next_cursor: null });
});

test.each([true, false])(
  "events with a dead letter are found once each, in order, known by deliveries: %s",
  async (known) => {
    isKnown = known;
    const first = await list({ outcome: "dead", limit: 2 });
    expect(first.numbers).toEqual([COUNT - 5, 1]);
    const cursor = first.next_cursor as string;
    expect(await list({ outcome: "dead", limit: 2, cursor })).toEqual({ numbers: [0], next_cursor: null });
    expect((await list({ outcome: "dead", type: "common" })).numbers).toEqual([]);
    expect((await list({ outcome: "pending", limit: 1 })).numbers).toEqual([COUNT - 1]);
  },
);
