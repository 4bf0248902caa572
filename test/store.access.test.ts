/** @needs mongodb: access versions on both drivers, and the shares of MongoDB's connections. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AccessVersionModel } from "../storage/access/access-versions.model.ts";
import { AccessVersions, accessVersions } from "../storage/access/access-versions.ts";
import { openStore, type Store } from "../storage/connection.ts";
import { RecordBusyError, recordQueues } from "../storage/fair-collection.ts";
import { isStoreLost } from "../storage/store-lost.ts";
import { startMongo } from "./support/mongo.ts";

const mongo = await startMongo();

describe.each(["sqlite", "mongodb"])("access versions on %s", (driver) => {
  const isMongo = driver === "mongodb";
  if (isMongo && !("url" in mongo)) return test.skip(mongo.skipped, () => {});

  let folder: string;
  let store: Store;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sensorium-access-"));
    store = await openStore({
      DATA_DIR: folder,
      ...(isMongo && "url" in mongo && { MONGO_URL: mongo.url }),
    });
  });
  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true });
    if (isMongo && "url" in mongo) await mongo.stop();
  });

  test("rise for one tenant, also when raised at once, and are read together", async () => {
    const versions = accessVersions(store);
    const before = await versions.read(["tn_one", "tn_two"]);
    expect([...before.keys()]).toEqual(["tn_one", "tn_two"]);
    await Promise.all(Array.from({ length: 20 }, () => versions.raise("tn_one")));
    const after = await versions.read(["tn_one", "tn_two"]);
    expect(after.get("tn_one")).toBe((before.get("tn_one") as number) + 20);
    expect(after.get("tn_two")).toBe(before.get("tn_two"));
  });

  test("are one for all services of a process", () => {
    expect(accessVersions(store)).toBe(accessVersions(store));
  });

  if (!isMongo) return;

  test("are seen by other nodes", async () => {
    await accessVersions(store).raise("tn_shared");
    const other = await openStore({ DATA_DIR: folder, MONGO_URL: "url" in mongo ? mongo.url : "" });
    const [mine, theirs] = [accessVersions(store), new AccessVersions(other)];
    expect(await theirs.read(["tn_shared"])).toEqual(await mine.read(["tn_shared"]));
    await other.close();
  });

  test("a tenant's commands take turns, and those that are reserved do not wait for them", async () => {
    const { record, record_reserved } = store.queues as NonNullable<Store["queues"]>;
    const rows = store.collection(AccessVersionModel);
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

test("a record without a connection to spare is lost for the moment", () => {
  expect(isStoreLost(new RecordBusyError("busy"))).toBe(true);
});
