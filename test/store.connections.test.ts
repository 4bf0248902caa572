/** @needs mongodb: the shares of MongoDB's connections. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Store } from "../storage/connection.ts";
import { RecordBusyError, recordQueues } from "../storage/record-queues.ts";
import { isStoreLost } from "../storage/store-lost.ts";
import { RecordedModel } from "../storage/traffic/traffic.model.ts";
import { startMongo } from "./support/mongo.ts";
import { atEnd } from "./support/own-folder.ts";
import { ownStore } from "./support/own-store.ts";

const mongo = await startMongo();
if ("url" in mongo) atEnd(mongo.stop);

describe("the connections to MongoDB", () => {
  if (!("url" in mongo)) return test.skip(mongo.skipped, () => {});

  let store: Store;
  beforeAll(async () => {
    store = await ownStore(mongo.url);
  });

  test("a tenant's commands take turns, and those that are reserved do not wait for them", async () => {
    const { record, record_reserved } = store.queues as NonNullable<Store["queues"]>;
    const rows = store.collection(RecordedModel);
    await store.ready();
    await rows.insertOnce({ _id: "tn_shared", tenant_id: "tn_shared", at: new Date(0), minutes: [] });
    const releases = await Promise.all(
      Array.from({ length: 62 }, () => record.acquire({ tenant_id: "tn_flood", caller: "" }, 1)),
    );
    let answered = false;
    const waiting = rows.findOne("tn_shared", { _id: "tn_shared" }).then(() => {
      answered = true;
    });
    expect(record.waiting).toBe(1);
    expect(await rows.reserved.findOne("tn_shared", { _id: "tn_shared" })).not.toBeNull();
    expect(await rows.system.findOne({ _id: "tn_shared" })).not.toBeNull();
    expect({ answered, waiting: record.waiting, reserved: record_reserved.inUse }).toEqual({
      answered: false,
      waiting: 1,
      reserved: 0,
    });
    for (const release of releases) release();
    await waiting;
    expect(record.inUse).toBe(0);
  });
});

test("a pool of any size has a connection for each kind of work", () => {
  const queues = recordQueues(1);
  expect([queues?.record, queues?.record_reserved].every((queue) => queue?.inUse === 0)).toBe(true);
  expect(recordQueues(0)).toBeNull();
  expect(recordQueues(undefined)).toBeNull();
});

test("a record without a connection to spare is lost for the moment", () =>
  expect(isStoreLost(new RecordBusyError("busy"))).toBe(true));
