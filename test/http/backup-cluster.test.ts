/** @needs mongodb: the backup of a record in MongoDB, as the guide describes it. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Db, type Document, MongoClient } from "mongodb";
import { firstAgent, type TestAgent } from "../support/agents.ts";
import { agentToken, api } from "../support/http.ts";
import { freshName } from "../support/mongo.ts";
import { onPath } from "../support/needs.ts";
import { ownFolder } from "../support/own-folder.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";

const mongo = await useMongo();
const here = "url" in mongo;
const MARKDOWN = { "content-type": "text/markdown" };
const LARGE = `# Report\n\n${"A line of the report that is restored. ".repeat(10_000)}`;
/** Rows that are copied at once. */
const ROWS = 50;
const run = promisify(execFile);

/** With MongoDB's own tools where they are installed, else with the driver in the same order: rows, then blobs. */
async function move(from: string, to: string): Promise<void> {
  if (onPath("mongodump") && onPath("mongorestore")) return dumpAndRestore(from, to);
  await using source = await opened(from);
  await using target = await opened(to);
  const names = (await source.db.listCollections().toArray()).map(({ name }) => name);
  const isBlob = (name: string) => name.startsWith("blobs");
  for (const name of [...names.filter((each) => !isBlob(each)), ...names.filter(isBlob)])
    await copy(source.db, target.db, name);
}

async function dumpAndRestore(from: string, to: string): Promise<void> {
  const archive = `--archive=${join(await ownFolder(), "dump")}`;
  const name = (url: string) => new URL(url).pathname.slice(1);
  await run("mongodump", [`--uri=${from}`, archive]);
  const renamed = [`--nsFrom=${name(from)}.*`, `--nsTo=${name(to)}.*`];
  await run("mongorestore", [`--uri=${to}`, archive, ...renamed]);
}

async function opened(url: string): Promise<{ db: Db } & AsyncDisposable> {
  const client = await MongoClient.connect(url);
  return { db: client.db(), [Symbol.asyncDispose]: () => client.close() };
}

async function drop(url: string): Promise<void> {
  await using target = await opened(url);
  await target.db.dropDatabase();
}

async function copy(from: Db, to: Db, name: string): Promise<void> {
  // The indexes are built by the first start on the restored record.
  const rows: Document[] = [];
  const write = async () => rows.length > 0 && (await to.collection(name).insertMany(rows.splice(0)));
  for await (const row of from.collection(name).find()) if (rows.push(row) === ROWS) await write();
  await write();
}

(here ? describe : describe.skip)("a record in MongoDB", () => {
  const SECRET_KEY = randomBytes(32).toString("base64");
  const settings = { SECRET_KEY, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
  let server: TestServer;
  let admin: TestAgent;
  let copyUrl: string;
  beforeAll(async () => {
    if (!here) return;
    server = await startServer({ env: { ...settings, MONGO_URL: mongo.url } });
    admin = await firstAgent(server);
    const url = new URL(mongo.url);
    url.pathname = `/${freshName()}`;
    copyUrl = url.href;
  });
  afterAll(async () => {
    await server?.stop();
    if (!here) return;
    await drop(copyUrl);
  });

  const event = (id: string) => ({ specversion: "1.0", id, type: "com.example.kept", source: "/drill" });
  const content = "The lighthouse is green.";
  const url = here ? mongo.url : "";
  const ids: Record<string, string> = {};

  test("is dumped while it is written", async () => {
    const memory = { title: "Restored", content, type: "semantic", scope: "agent" };
    ids.memory = ok(await admin.post("/memories", memory)).id;
    ids.output = ok(await admin.post("/outputs", LARGE, MARKDOWN)).id;
    ids.event = ok(await admin.post("/events", event("kept"))).event_id;
    let going = true;
    const writing = (async () => {
      for (let n = 0; going; n++) ok(await admin.post("/events", event(`during-${n}`)));
    })();
    try {
      await move(url, copyUrl);
    } finally {
      going = false;
      await writing;
    }
  });

  test("is lost with all that is derived from it, and restored in its place", async () => {
    await server.end();
    await drop(url);
    for (const name of await readdir(server.dataDir))
      if (name.startsWith("search")) await rm(join(server.dataDir, name), { recursive: true });
    await move(copyUrl, url);
    await server.restart();
  });

  test("serves all that was answered before the dump, and goes on", async () => {
    const same = api(server, await agentToken(server, server.credentials.agent.api_key));
    expect(ok(await same.get(`/events/${ids.event}`)).event_id).toBe(ids.event);
    expect(ok(await same.get(`/memories/${ids.memory}`)).content).toBe(content);
    expect(ok(await same.get(`/outputs/${ids.output}`)).body).toBe(LARGE);
    await settle(async () => {
      const { results } = ok(await same.post("/memories/search", { query: "green lighthouse" }));
      return results.length > 0;
    });
    ok(await same.post("/events", event("after")));
  });
});
