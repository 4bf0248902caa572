/** @needs mongodb: the shares of MongoDB's connections. */
import { beforeAll, describe, expect, jest, test } from "@jest/globals";
import type { FairQueue } from "../lib/queue/fair-queue.ts";
import { RecordedModel } from "../services/platform/usage/traffic.model.ts";
import { queueFor, type Store } from "../storage/connection.ts";
import { isSystemic } from "../storage/store-lost.ts";
import { ownStore } from "./support/own-store.ts";
import { useMongo } from "./support/use.ts";

const mongo = await useMongo();

describe("the connections to MongoDB", () => {
  if (!("url" in mongo)) return test.skip(mongo.skipped, () => {});

  let store: Store;
  beforeAll(async () => {
    store = await ownStore(mongo.url);
  });

  test("a tenant's commands take turns, and those that are reserved do not wait for them", async () => {
    const queue = store.queue as FairQueue;
    const rows = store.collection(RecordedModel);
    await store.ready();
    await rows.insertOnce({ _id: "tn_shared", tenant_id: "tn_shared", at: new Date(0), minutes: [] });
    const releases = await Promise.all(
      Array.from({ length: 62 }, () => queue.acquire({ tenant_id: "tn_flood", caller: "" }, 1)),
    );
    let answered = false;
    const waiting = rows.findOne("tn_shared", { _id: "tn_shared" }).then(() => {
      answered = true;
    });
    expect(queue.waiting).toBe(1);
    expect(await rows.reserved.findOne("tn_shared", { _id: "tn_shared" })).not.toBeNull();
    expect(await rows.system.findOne({ _id: "tn_shared" })).not.toBeNull();
    expect({ answered, waiting: queue.waiting, inUse: queue.inUse }).toEqual({
      ...{ answered: false, waiting: 1, inUse: 62 },
    });
    for (const release of releases) release();
    await waiting;
    expect(queue.inUse).toBe(0);
  });
});

test("a pool of any size has a connection for each kind of work", async () => {
  const queue = queueFor(1) as FairQueue;
  const ask = (reserved: boolean) => queue.acquire({ tenant_id: "tn_a", caller: "" }, 1, { reserved });
  await Promise.all([ask(false), ask(true)]);
  expect(queue.inUse).toBe(2);
  expect([queueFor(0), queueFor(undefined)]).toEqual([null, null]);
});

test("a record without a connection to spare is busy for everything, not for one row", async () => {
  jest.useFakeTimers({ doNotFake: ["performance", "setImmediate", "nextTick", "queueMicrotask"] });
  const queue = queueFor(1) as FairQueue;
  const share = { tenant_id: "tn_a", caller: "" };
  await queue.acquire(share, 1);
  const late = queue.acquire(share, 1).catch((err: unknown) => err);
  jest.advanceTimersByTime(10_000);
  jest.useRealTimers();
  const err = await late;
  expect(err).toMatchObject({ type: "service_unavailable" });
  expect(isSystemic(err)).toBe(true);
});
