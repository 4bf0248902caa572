import { afterEach, describe, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { MongoBulkWriteError } from "mongodb";
import { Arrivals } from "../../services/sense/events/arrivals.ts";
import type { EventDoc, Publication } from "../../services/sense/events/events.model.ts";
import { FanOut } from "../../services/sense/events/fan-out.ts";
import { EventInserter, type Inserted } from "../../services/sense/events/insert.ts";
import { RecentEvents } from "../../services/sense/events/recent-events.ts";
import type { Store } from "../../storage/connection.ts";
import { ownBroker } from "../support/own-store.ts";

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
  const inserter = new EventInserter({ events, store, broker, fanOut, recent: new RecentEvents(0) });
  return { inserter, write: resolve, written };
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

describe("on a store that commits together what is sent together", () => {
  interface Given {
    /** Receivers of each event; one event alone may be missing. */
    receivers?: number[];
    waits?: string[];
    /** Called between the match and the writes. */
    meanwhile?: (inserter: EventInserter) => void;
    refuse?: (row: EventDoc) => boolean;
  }

  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** An inserter with a tenant whose events are matched as given, and what was written, tick by tick. */
  async function newMatching({ receivers = [], waits, meanwhile, refuse = () => false }: Given) {
    const ticks: { events: EventDoc[]; deliveries: string[] }[] = [];
    let tick: (typeof ticks)[0] | null = null;
    const inTick = () => {
      if (!tick) {
        tick = { events: [], deliveries: [] };
        ticks.push(tick);
        setImmediate(() => {
          tick = null;
        });
      }
      return tick;
    };
    const confirmed: string[] = [];
    const seen = new Set<string>();
    const inserter: { it?: EventInserter } = {};
    const broker = await ownBroker([
      {
        name: "interests",
        actions: {
          match: ({ params: { events } }: { params: { events: { event_id: string }[] } }) => {
            for (const { event_id } of events) seen.add(event_id);
            const countOf = (event_id: string) => receivers[[...seen].indexOf(event_id)];
            const matched = events.filter(({ event_id }) => countOf(event_id) !== undefined);
            const agents = (length = 0) => Array.from({ length }, (_, n) => ({ agent_id: `ag_${n}` }));
            const matches = matched.map(({ event_id }) => {
              return { event_id, ...(waits && { waits }), receivers: agents(countOf(event_id)) };
            });
            return { version: 3, matches };
          },
        },
      },
      {
        name: "deliveries",
        actions: {
          enqueue: () => ({}),
          prepare: ({ params: { deliveries } }: { params: { deliveries: { event_id: string }[] } }) => {
            meanwhile?.(inserter.it as EventInserter);
            return {
              write: async () => {
                inTick().deliveries.push(...deliveries.map(({ event_id }) => event_id));
              },
              confirm: (ids: ReadonlySet<string>) => confirmed.push(...ids),
            };
          },
        },
      },
    ]);
    const insertMany = async (rows: EventDoc[]) => {
      inTick().events.push(...rows);
      const errors = rows.flatMap((row, index) => (refuse(row) ? [{ index, code: 11000, errmsg: "" }] : []));
      const result = { insertedCount: rows.length - errors.length, getWriteConcernError: () => null };
      if (errors.length > 0)
        throw new MongoBulkWriteError(
          { message: "", code: 11000, writeErrors: errors as never },
          result as never,
        );
    };
    const events = { insertMany, system: { findOne: async () => null }, updateMany: async () => 1 } as never;
    const store = { driver: "sqlite", now: Date.now, send: () => {} } as Store;
    const fanOut = new FanOut({ events, store, broker, arrivals: new Arrivals(broker), instance: "one" });
    fanOut.start();
    ends.push(() => fanOut.stop());
    inserter.it = new EventInserter({ events, store, broker, fanOut, recent: new RecentEvents(0) });
    return { inserter: inserter.it, ticks, confirmed };
  }

  test("events are written in one tick with their deliveries, as fanned out", async () => {
    const { inserter, ticks, confirmed } = await newMatching({ receivers: [2, 0] });
    const given = publications("tn_1", 2);
    const [a, b] = idsOf(given) as [string, string];
    expect(await inserter.insert(given)).toEqual(["inserted", "inserted"]);
    expect(ticks.map(({ deliveries }) => deliveries)).toEqual([[a, a]]);
    expect(ticks[0]?.events).toMatchObject([
      { _id: a, matched_count: 2, fanned_out_at: expect.any(Date) },
      { _id: b, matched_count: 0, fanned_out_at: expect.any(Date), unmatched_key: `tn_1 ${b}` },
    ]);
    expect(ticks[0]?.events.some(({ fanout_key }) => fanout_key)).toBe(false);
    expect(confirmed).toEqual([a, b]);
  });

  test("a delivery whose event is a duplicate is not confirmed", async () => {
    const given = publications("tn_1", 2);
    const [a, b] = idsOf(given) as [string, string];
    const { inserter, confirmed } = await newMatching({ receivers: [1, 1], refuse: ({ _id }) => _id === b });
    expect(await inserter.insert(given)).toEqual(["inserted", "duplicate"]);
    expect(confirmed).toEqual([a]);
  });

  const cases: [string, Given, number][] = [
    ["with very many receivers", { receivers: [1, 1_001, 1] }, 1],
    ["that end a wait", { receivers: [1, 1, 1], waits: ["wt_1"] }, 0],
    ["whose match takes long", { receivers: [1] }, 1],
    [
      "whose routing changes between match and write",
      { receivers: [1, 1, 1], meanwhile: (it) => it.raised({ tenant_id: "tn_1", version: 4 }) },
      0,
    ],
  ];
  test.each(cases)("events %s are written as due, and all after them", async (_, given, matched) => {
    const { inserter, ticks } = await newMatching(given);
    const three = publications("tn_1", 3);
    expect(await inserter.insert(three)).toEqual(["inserted", "inserted", "inserted"]);
    const rows = ticks.flatMap(({ events }) => events);
    expect(rows.map(({ _id }) => _id)).toEqual(idsOf(three));
    expect(rows.map((row) => (row.fanned_out_at ? "fanned out" : row.fanout_key && "due"))).toEqual(
      [0, 1, 2].map((n) => (n < matched ? "fanned out" : "due")),
    );
  });
});
