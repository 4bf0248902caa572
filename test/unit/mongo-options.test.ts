import { describe, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { mongoOptions } from "../../storage/mongo-options.ts";
import { isStoreLost } from "../../storage/store-lost.ts";

/** Returns the driver's options for an address and our options. */
function resolved(url: string) {
  // mongoose takes it for itself, too.
  const { dbName: _, ...options } = mongoOptions(url);
  return new MongoClient(url, options as object).options;
}

describe("how MongoDB is talked to", () => {
  test("is what is promised rests on, whatever the address says", () => {
    const weaker = "w=1&journal=false&readPreference=secondary&readConcernLevel=available";
    for (const url of ["mongodb://a", `mongodb://a/?${weaker}&serverSelectionTimeoutMS=60000`]) {
      const { writeConcern, readPreference, readConcern, serverSelectionTimeoutMS } = resolved(url);
      expect(writeConcern).toMatchObject({ w: "majority", j: true });
      expect(readPreference.mode).toBe("primary");
      expect(readConcern).toMatchObject({ level: "local" });
      expect(serverSelectionTimeoutMS).toBe(5000);
    }
  });

  test("is as the address says where nothing rests on it", () => {
    const url = "mongodb://a/?appName=mine&connecttimeoutms=20000&retryWrites=false&maxPoolSize=7";
    expect(resolved(url)).toMatchObject({
      ...{ appName: "mine", connectTimeoutMS: 20_000, retryWrites: false, maxPoolSize: 7 },
      ...{ heartbeatFrequencyMS: 5000, maxIdleTimeMS: 120_000, writeConcern: { wtimeout: 20_000 } },
    });
    expect(resolved("mongodb://a").appName).toBe("sensorium");
    expect(resolved("mongodb://a/?wtimeoutMS=1000").writeConcern).toMatchObject({ wtimeout: 1000 });
  });

  test.each([
    ["mongodb://a", "sensorium"],
    ["mongodb://u:p@a:1,b:2/?replicaSet=r", "sensorium"],
    ["mongodb+srv://u:p@c.example.net/?w=majority", "sensorium"],
    ["mongodb://u:p@a:1,b:2/mine?replicaSet=r", undefined],
    ["mongodb://a/mine", undefined],
  ])("%s: the database is ours where it names none", (url, dbName) =>
    expect(mongoOptions(url).dbName).toBe(dbName),
  );

  test("leaves the login where the address has it", () => {
    expect(resolved("mongodb://u:p@a/").credentials?.source).toBe("admin");
    expect(resolved("mongodb://u:p@a/mine").credentials?.source).toBe("mine");
  });
});

describe("the store is lost", () => {
  test.each([
    ["no server", { name: "MongoServerSelectionError" }],
    ["no connection in time", { name: "MongoWaitQueueTimeoutError" }],
    ["the pool was cleared under it", { name: "MongoPoolClearedError" }],
    ["the pool was cleared while it waited", { name: "PoolClearedOnNetworkError" }],
    ["not the primary any more", { name: "MongoServerError", code: 10107 }],
    ["a majority did not answer", { name: "MongoWriteConcernError", code: 64 }],
    ["no disk left", { name: "MongoServerError", code: 14031 }],
    ["a bulk write that broke off", { name: "MongoBulkWriteError" }],
    ["no disk left for a blob's file", { name: "Error", code: "ENOSPC" }],
    ["no more open files", { name: "Error", code: "EMFILE" }],
    ["a disk that fails", new Error("disk I/O error")],
    ["no disk left for the embedded store", new Error("database or disk is full")],
  ])("%s", (_what, err) => expect(isStoreLost(err)).toBe(true));

  test.each([
    ["a key is taken", { name: "MongoServerError", code: 11000 }],
    ["a key is taken, in bulk", { name: "MongoBulkWriteError", code: 11000 }],
    ["a filter of ours is wrong", { name: "MongoServerError", code: 2 }],
    ["an error of another kind with such a code", { name: "Error", code: 6 }],
    ["nothing", undefined],
  ])("but not when %s", (_what, err) => expect(isStoreLost(err)).toBe(false));
});
