/** @needs mongodb: dead letters are filtered alike on both drivers. */
import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import type { Caller } from "../lib/access/caller.ts";
import type { Place } from "../lib/contract/cursor.ts";
import { type DeadLetterFilter, findDead } from "../services/sense/deliveries/dead-letter-find.ts";
import { deadFields } from "../services/sense/deliveries/dead-letter-state.ts";
import { type DeliveryDoc, DeliveryModel } from "../services/sense/deliveries/deliveries.model.ts";
import type { TenantCollection } from "../storage/collection.ts";
import { ownBroker, ownStore } from "./support/own-store.ts";
import { useMongo } from "./support/use.ts";

const tenant_id = "tn_dead";
const admin = { kind: "agent", tenant_id, agent_id: "ag_admin", scopes: ["admin"] } as unknown as Caller;
const DIED = Date.parse("2026-01-01T00:00:00Z");
/** More than two windows. */
const ROWS = 1_200;

const mongo = await useMongo();

function header(_id: string) {
  const n = Number(_id.slice(4));
  return {
    ...{ _id, type: `com.example.t${n % 3}`, source: "urn:Shop" },
    subject: n % 400 === 1 ? `Order/${n}` : null,
  };
}

/** Four died in each millisecond. */
function row(n: number): DeliveryDoc {
  const at = new Date(DIED + Math.floor(n / 4));
  return {
    ...{ _id: `dlv_${n}`, tenant_id, agent_id: `ag_${n % 2}`, event_id: `evt_${n}` },
    ...{ priority: 0, created_at: at, attempt_count: 1, size: 1, enrichment_depth: "none" },
    ...{ matched: { interest_ids: [], feed_ids: [] }, timeline: [], type: `com.example.t${n % 3}` },
    ...deadFields({ tenant_id, agent_id: `ag_${n % 2}`, at, reason: n === 11 ? "shut" : "full" }),
  } as DeliveryDoc;
}

const numbers = (ids: string[]) => ids.map((id) => Number(id.slice(4))).toSorted((a, b) => a - b);
const upTo = (count: number, is: (n: number) => boolean) =>
  Array.from({ length: count }, (_, n) => n).filter(is);

describe.each(["sqlite", "mongodb"])("dead letters on %s", (driver) => {
  const isMongo = driver === "mongodb";
  if (isMongo && !("url" in mongo)) return test.skip(mongo.skipped, () => {});

  let broker: ServiceBroker;
  let deliveries: TenantCollection<DeliveryDoc>;
  /** The events asked for, call by call. */
  const asked: string[][] = [];

  beforeAll(async () => {
    const store = await ownStore(isMongo && "url" in mongo ? mongo.url : null);
    deliveries = store.collection(DeliveryModel);
    await store.ready();
    const headers = ({ params: { event_ids } }: { params: { event_ids: string[] } }) => {
      asked.push(event_ids);
      return event_ids.filter((id) => id !== "evt_7").map(header);
    };
    broker = await ownBroker([{ name: "events", actions: { headers } }]);
    await deliveries.insertMany([
      ...Array.from({ length: ROWS }, (_, i) => row(i)),
      ...Array.from({ length: 5 }, (_, i) => ({ ...row(i), _id: `dlv_other_${i}`, tenant_id: "tn_other" })),
    ]);
  });
  beforeEach(() => {
    asked.length = 0;
  });

  /** Returns the ids of all pages. */
  async function read(filter: DeadLetterFilter, limit: number, caller = admin): Promise<string[]> {
    const ids: string[] = [];
    let after: Place | undefined;
    do {
      const { rows, next } = await findDead({ broker, deliveries }, caller, filter, { after, limit });
      expect(rows.length).toBeLessThanOrEqual(limit);
      ids.push(...rows.map(({ _id }) => _id));
      after = next ?? undefined;
    } while (after);
    return ids;
  }

  test.each([
    ["all", {}, 30, () => true],
    ["all in pages larger than a window", {}, 700, () => true],
    ["an agent's", { agent_id: "ag_1" }, 50, (n: number) => n % 2 === 1],
    ["of a type", { type: "com.example.t2" }, 50, (n: number) => n % 3 === 2],
    ["of a glob", { type: "*.t[01]" }, 333, (n: number) => n % 3 !== 2],
    ["with a text of the subject", { text: "order/" }, 1, (n: number) => n % 400 === 1],
    ["with a text of the source", { text: "URN:SHOP" }, 200, (n: number) => n !== 7],
    ["with a text of the reason", { text: "SHUT" }, 10, (n: number) => n === 11],
    ["by all of them", { agent_id: "ag_1", type: "com.*", text: "order" }, 2, (n: number) => n % 400 === 1],
    ["with what nothing has", { text: "nowhere" }, 50, () => false],
  ])("pages have each dead letter once, latest first: %s", async (_, filter, limit, is) => {
    const ids = await read(filter, limit);
    expect(numbers(ids)).toEqual(upTo(ROWS, is));
    const times = ids.map((id) => Math.floor(Number(id.slice(4)) / 4));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test("until a time, given by its reason", async () => {
    const until = new Date(DIED + 2).toISOString();
    expect(numbers(await read({ until }, 5))).toEqual(upTo(12, () => true));
    expect(await read({ until, reason: "shut" }, 5)).toEqual(["dlv_11"]);
  });

  test("events are asked for only by a text", async () => {
    await read({ type: "com.*", reason: "full" }, 500);
    expect(asked).toEqual([]);
    expect(await read({ text: "order/801" }, 50)).toEqual(["dlv_801"]);
    expect(asked.flat()).toHaveLength(ROWS);
  });

  test("one request looks through a limited number of rows, and says where to go on", async () => {
    const one = { limit: 50, windows: 1 };
    const { rows, next } = await findDead({ broker, deliveries }, admin, { text: "nowhere" }, one);
    expect(rows).toEqual([]);
    expect(next).toMatchObject({ value: expect.any(Date) });
  });
});
