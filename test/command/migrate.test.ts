/** @needs mongodb: `bin/start.js --migrate`, as the chart's job runs it. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { START } from "../support/alone.ts";
import { startChild } from "../support/child.ts";
import type { TestMongo } from "../support/mongo.ts";
import { ownFolder } from "../support/own-folder.ts";
import { freePort } from "../support/ports.ts";
import { useMongo } from "../support/use.ts";

const ROOT = join(import.meta.dirname, "../..");
const SECRET_KEY = Buffer.alloc(32, 7).toString("base64");

const mongo = await useMongo();
const dataDir = await ownFolder();

async function migrate(env: Record<string, string>) {
  const { PATH = "" } = process.env;
  const child = await startChild(process.execPath, [...START, "--migrate"], {
    cwd: ROOT,
    env: { PATH, DATA_DIR: dataDir, ...env },
  });
  return { ...(await child.exited), output: child.output() };
}

const DONE = { code: 0, signal: null, output: "The record has all indexes of this version.\n" };

("skipped" in mongo ? test.skip : test)(
  "creates the indexes, needs no NATS, waits for a busy database, and can be repeated",
  async () => {
    const { url } = mongo as TestMongo;
    const NATS_URL = `nats://127.0.0.1:${await freePort()}`;
    // As on a busy database: with one connection, most wait for it longer than they may.
    const busy = new URL(url);
    for (const [name, value] of Object.entries({ maxPoolSize: "1", waitQueueTimeoutMS: "1" }))
      busy.searchParams.set(name, value);
    const waited = await migrate({ MONGO_URL: busy.href, NATS_URL, SECRET_KEY });
    const output =
      /^Waiting for the database: Timed out .*\nThe record has all indexes of this version\.\n$/s;
    expect(waited).toMatchObject({ code: 0, output: expect.stringMatching(output) });
    expect(await migrate({ MONGO_URL: url, NATS_URL, SECRET_KEY })).toEqual(DONE);
    const client = new MongoClient(url);
    const indexes = await client.db().collection("events").indexes();
    const tenants = await client.db().collection("tenants").countDocuments();
    await client.close();
    expect(indexes.some(({ unique, key }) => unique && Object.keys(key).includes("ce_id"))).toBe(true);
    // It is no first start.
    expect(tenants).toBe(0);
  },
);

test("brings the embedded store to this version too", async () => expect(await migrate({})).toEqual(DONE));

test("says in one line that the record cannot be reached", async () => {
  const MONGO_URL = `mongodb://127.0.0.1:${await freePort()}/x?serverSelectionTimeoutMS=500`;
  const { code, output } = await migrate({ MONGO_URL, SECRET_KEY });
  expect([code, output]).toEqual([1, expect.stringMatching(/^MONGO_URL cannot be used: .*\n$/)]);
});
