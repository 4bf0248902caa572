import { expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { Arrivals } from "../../services/sense/events/arrivals.ts";
import type { EventDoc, Publication } from "../../services/sense/events/events.model.ts";
import { FanOut } from "../../services/sense/events/fan-out.ts";
import { EventInserter, type Inserted } from "../../services/sense/events/insert.ts";
import type { Store } from "../../storage/connection.ts";

/** An inserter on a store that writes nothing before `write` is called, and the ids of each of its writes. */
function newInserter() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const written: string[][] = [];
  const insertMany = async (rows: EventDoc[]) => {
    written.push(rows.map(({ _id }) => _id));
    await promise;
    if (rows.some(({ type }) => type === "refused")) throw new Error("the store is gone");
  };
  const events = { insertMany } as never;
  const store = { driver: "mongodb", now: Date.now } as Store;
  const broker = new ServiceBroker({ logger: false });
  const arrivals = new Arrivals(broker);
  const fanOut = new FanOut({ events, store, broker, arrivals, instance: "one" });
  return { inserter: new EventInserter({ events, store, fanOut }), write: resolve, written };
}

let made = 0;
function publications(tenant_id: string, count: number, size = 100): Publication[] {
  return Array.from({ length: count }, () => {
    const id = `evt_${made++}`;
    const row = {
      ...{ _id: id, tenant_id, ce_id: id, envelope: "{}", size, type: "t", source: "/s", position: id },
    };
    const event = { specversion: "1.0", id, source: "/s", type: "t" } as const;
    return { event, row: { ...row, subject: null, publisher_id: null, accepted_at: new Date() } as EventDoc };
  });
}

/** Publishes batches of one tenant until one is refused; gives how many events are waiting then. */
function fill(inserter: EventInserter, tenant_id: string, each: number, size?: number) {
  const waiting: Promise<Inserted[]>[] = [];
  try {
    for (;;) waiting.push(inserter.insert(publications(tenant_id, each, size)));
  } catch (err) {
    expect(err).toMatchObject({ type: "rate_limited", data: { retry_after_seconds: 1 } });
    return waiting;
  }
}

test.each([
  ["events", 100, 100],
  ["bytes", 1, 1_048_576],
])(
  "a tenant that has too many %s waiting to be written is refused, and others are not",
  async (_, each, size) => {
    const { inserter, write } = newInserter();
    const flood = fill(inserter, "tn_flood", each, size);
    const others = Array.from({ length: 30 }, (_, n) => inserter.insert(publications(`tn_${n}`, 10)));
    const second = fill(inserter, "tn_second", each, size);
    expect(flood.length).toBeGreaterThanOrEqual(second.length);
    expect(second.length).toBeGreaterThan(1);
    write();
    for (const results of await Promise.all([...flood, ...others, ...second]))
      expect(new Set(results)).toEqual(new Set(["inserted"]));
    // All is written: it may go on.
    expect(await inserter.insert(publications("tn_flood", each, size))).toHaveLength(each);
  },
);

const idsOf = (publications: Publication[]) => publications.map(({ row }) => row._id);

test("what one tick publishes is written together, by tenant and up to a size, and no call is divided", async () => {
  const { inserter, write, written } = newInserter();
  write();
  const given = [
    ...[publications("tn_1", 2), publications("tn_2", 1), publications("tn_1", 1)],
    ...[publications("tn_1", 499), publications("tn_1", 1, 9_000_000), publications("tn_1", 1)],
  ] as const;
  const results = await Promise.all(given.map((each) => inserter.insert(each)));
  expect(results.map(({ length }) => length)).toEqual(given.map(({ length }) => length));
  const [a, b, c, many, large, last] = given.map(idsOf) as string[][];
  expect(written).toEqual([[...(a as string[]), ...(c as string[])], many, large, last, b]);
});

test("a write that fails fails those who were in it, and nobody else", async () => {
  const { inserter, write } = newInserter();
  write();
  const refused = publications("tn_1", 1);
  for (const { row } of refused) row.type = "refused";
  const given = [refused, publications("tn_1", 1), publications("tn_2", 1)];
  const settled = await Promise.allSettled(given.map((each) => inserter.insert(each)));
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
