import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import type { Embedder } from "../connectors/embedders/embedder.ts";
import { EmbeddingStore, EmbeddingWork } from "../services/remember/search/embedding-loop.ts";
import { EmbeddingModel } from "../services/remember/search/search.model.ts";
import type { TenantDocument } from "../storage/collection.ts";
import { openStore, type Store } from "../storage/connection.ts";
import { LocalIndex } from "../storage/search/local-index.ts";
import { entry, query, TENANT, vector } from "./suites/search/samples.ts";
import { ownFolder } from "./support/own-folder.ts";
import { settle } from "./support/settle.ts";

type Row = TenantDocument & { title: string; text: string; tags: string[] };

const schema = new Schema<Row>({
  ...{ _id: String, tenant_id: String, title: String, text: String, tags: [String] },
});
schema.index({ tenant_id: 1, title: 1 });
schema.index({ tenant_id: 1, tags: 1 });
const ROWS = { name: "rows", schema };

let folder: string;
let store: Store;
let index: LocalIndex;
beforeEach(async () => {
  folder = await ownFolder();
});
afterEach(async () => {
  await index?.close();
  await store?.close();
});

async function holds(text: string): Promise<string[]> {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name))] as const),
  );
  return files.filter(([, bytes]) => bytes.includes(text)).map(([name]) => name);
}

/** Rows that grow, shrink and go, so that SQLite moves them between pages. */
async function churn(rows = store.collection(ROWS)) {
  await store.ready();
  const textOf = (i: number, turn: number) => `erase-me ${i} ${turn} `.repeat(5 + ((i * 7919 + turn) % 60));
  const row = (i: number): Row => ({
    ...{ _id: `row-${(i * 7919) % 4001}`, tenant_id: "tn_1" },
    ...{ title: `erase-me ${i}`, text: textOf(i, 0), tags: [`erase-me ${i % 40}`, `erase-me ${i}`] },
  });
  for (let i = 0; i < 4000; i += 50) {
    await rows.insertMany(Array.from({ length: 50 }, (_, n) => row(i + n)));
    const [grown, gone] = [row(i)._id, row(i + 25)._id];
    await rows.update("tn_1", { _id: grown }, { $set: { text: textOf(i, 1) } });
    await rows.delete("tn_1", { _id: gone });
  }
  await rows.deleteMany("tn_1", { tags: { $exists: true } });
  expect(await rows.count("tn_1", {})).toBe(0);
}

test("of rows that came, changed and went nothing is left in the files after a scrub", async () => {
  store = await openStore({ DATA_DIR: folder });
  await churn();
  expect(await holds("erase-me")).not.toEqual([]);
  expect(await store.scrub()).toBe("rewritten");
  expect(await holds("erase-me")).toEqual([]);
});

test("deleted rows are overwritten in a file that is too large to be rewritten", async () => {
  store = await openStore({ DATA_DIR: folder, ERASURE_REWRITE_MB: 0 });
  await churn();
  expect(await store.scrub()).toBe("overwritten");
  expect(await holds("erase-me")).toEqual([]);
});

test("a scrub waits for a reader of the log, and writes go on meanwhile", async () => {
  store = await openStore({ DATA_DIR: folder });
  const rows = store.collection(ROWS);
  await store.ready();
  const row = { _id: "1", tenant_id: "tn_1", title: "erase-me", text: "", tags: [] };
  await rows.insert(row);
  const reader = new DatabaseSync(join(folder, "sensorium.db"), { readOnly: true });
  reader.exec("BEGIN");
  expect(reader.prepare("SELECT count(*) AS n FROM d_rows").get()).toEqual({ n: 1 });
  await rows.delete("tn_1", { _id: "1" });
  let done = false;
  const scrubbing = store.scrub().then(() => {
    done = true;
  });
  await rows.insert({ ...row, _id: "2", title: "stays" });
  expect(done).toBe(false);
  expect(await holds("erase-me")).not.toEqual([]);
  reader.close();
  await scrubbing;
  expect(await holds("erase-me")).toEqual([]);
  expect(await rows.count("tn_1", { title: "stays" })).toBe(1);
});

test("of search nothing is left either, and what was still being put of it does not get in", async () => {
  index = new LocalIndex({ dataDir: folder, onDeath() {} });
  const entries = Array.from({ length: 300 }, (_, i) =>
    entry({ title: `eraseme${i}`, text: "eraseme ".repeat(i) }),
  );
  await index.put(TENANT, entries);
  await index.put(TENANT, [entry({ text: "stays" })]);
  await index.drop(
    TENANT,
    "memory",
    entries.map(({ id }) => id),
  );
  expect(await index.scrub()).toBe("rewritten");
  await index.put(
    TENANT,
    entries.slice(0, 3).map((each) => ({ ...each, version: each.version + 1 })),
  );
  expect((await index.legs(query("eraseme"))).candidates).toEqual([]);
  expect((await index.legs(query("stays"))).candidates).toHaveLength(1);
  expect(await holds("eraseme")).toEqual([]);
});

test("a vector that is being made of an erased text is not written, those of others are", async () => {
  store = await openStore({ DATA_DIR: folder });
  index = new LocalIndex({ dataDir: folder, onDeath() {} });
  const embeddings = store.collection(EmbeddingModel);
  await store.ready();
  let finish = (_: Float32Array[]) => {};
  let asked: readonly string[] = [];
  const embedder = {
    ...{ model: "m", batch: 10, batchesAtOnce: 1 },
    embedTexts: (texts: readonly string[]) => {
      asked = texts;
      return new Promise<Float32Array[]>((resolve) => {
        finish = resolve;
      });
    },
  } as unknown as Embedder;
  const work = new EmbeddingWork({
    ...{ index, store: new EmbeddingStore(embeddings, Date.now), embedder },
    owns: () => true,
    searchedAt: () => 0,
    propose: async () => {},
    nearDuplicate: async () => 0.95,
    made() {},
    refused() {},
  });
  await index.useModel("m");
  const [gone, stays] = [entry({ text: "goes" }), entry({ text: "stays" })];
  await index.put(TENANT, [gone, stays]);
  const running = work.run();
  await settle(() => asked.length === 2);
  await work.forget(TENANT, "memory", [gone.id]);
  await index.drop(TENANT, "memory", [gone.id]);
  finish([vector(1, 2, 3), vector(3, 2, 1)]);
  await running;
  expect((await embeddings.find(TENANT, {})).map(({ _id }) => _id)).toEqual([`memory ${stays.id}`]);
});
