/** @needs mongodb: the MongoDB that the other tests talk to answers as today's driver expects. */
import { afterAll, describe, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { useMongo } from "./support/use.ts";

const mongo = await useMongo();
const here = "url" in mongo;

(here ? describe : describe.skip)("a MongoDB to test against", () => {
  const client = new MongoClient(here ? mongo.url : "mongodb://skipped");

  afterAll(async () => {
    await client.close();
  });

  test("starts with an empty database", async () =>
    expect(await client.db().listCollections().toArray()).toEqual([]));

  test("tells its clock", async () => {
    const { localTime } = await client.db().command({ hello: 1 });
    expect(localTime).toBeInstanceOf(Date);
  });

  test("keeps a unique index, under code 11000", async () => {
    const things = client.db().collection("things");
    await things.createIndex({ name: 1 }, { unique: true });
    await things.insertOne({ name: "one" });
    await expect(things.insertOne({ name: "one" })).rejects.toMatchObject({ code: 11000 });
  });
});
