import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import { backUp } from "../storage/backup.ts";
import { computeHash } from "../storage/blobs/blobs.ts";
import { openStore, type Store, StoreError } from "../storage/connection.ts";
import { check, salvage } from "../storage/salvage.ts";
import { startChild } from "./support/child.ts";
import { damage } from "./support/damage.ts";
import { ownFolder } from "./support/own-folder.ts";

type Row = { _id: string; tenant_id: string; n: number; text: string };

const ROWS = 600;
const [string, number] = [String, Number].map((type) => ({ type, required: true }));
const fields = { _id: string, tenant_id: string, n: number, text: string };
const schemaOf = () => new Schema<Row>(fields as never, { versionKey: false }).index({ tenant_id: 1, n: 1 });
/** One of each way of storing documents. */
const KINDS = [
  { name: "plain", schema: schemaOf() },
  { name: "apart", schema: schemaOf(), outOfLine: "text" as const },
  { name: "columns", schema: schemaOf(), packed: true as const },
];
const MODELS = KINDS.map((kind) => ({ ...kind, erasure: {}, move: {} }) as never);

const row = (n: number): Row => ({ _id: `row-${n}`, tenant_id: "a", n, text: `${n} `.repeat(100) });

async function withStore<T>(DATA_DIR: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ DATA_DIR });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const rowsIn = (dataDir: string, kind: (typeof KINDS)[number]) =>
  withStore(dataDir, (store) => store.collection<Row>(kind).find("a", {}, { sort: { n: 1 } }));

/** Returns the page that leads to all others of a table. */
function rootOf(dataDir: string, name: string): number {
  const database = new DatabaseSync(join(dataDir, "sensorium.db"), { readOnly: true });
  const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name);
  database.close();
  return root?.rootpage as number;
}

const contentOf = async (dataDir: string) => {
  const names = (await readdir(dataDir)).filter((name) => /^sensorium|json|key/.test(name)).sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(dataDir, name), "base64")]));
};

const whole = await ownFolder();
await withStore(whole, async (store) => {
  for (const kind of KINDS) {
    const rows = store.collection<Row>(kind);
    await store.ready();
    await rows.insertMany(Array.from({ length: ROWS }, (_, n) => row(n)));
  }
});
await writeFile(join(whole, "secret.key"), "a key");

/** Returns a copy of it, damaged. */
async function damaged(isChosen: (page: number) => boolean): Promise<string> {
  const dataDir = await ownFolder();
  await cp(whole, dataDir, { recursive: true });
  await damage(join(dataDir, "sensorium.db"), isChosen);
  return dataDir;
}

/** Checks and salvages a folder, which must stay as it is; returns the new folder and what is lost of each kind. */
async function salvaged(dataDir: string) {
  const before = await contentOf(dataDir);
  const seen = await check(dataDir, MODELS);
  const to = join(await ownFolder(), "new");
  const { collections, problems } = await salvage(dataDir, to, MODELS);
  expect(await contentOf(dataDir)).toEqual(before);
  expect(collections).toEqual(seen.collections);
  const kinds = KINDS.map(({ name }) => collections.find((each) => each.name === name));
  expect(await readFile(join(to, "secret.key"), "utf8")).toBe("a key");
  return { to, problems, kinds };
}

describe("a database with damaged pages", () => {
  test.each<[string, number]>([
    ["some", 20],
    ["every third", 3],
  ])("%s of them: every other row is copied, and the lost are counted", async (_which, every) => {
    const tables = [...KINDS.map(({ name }) => `d_${name}`), "a_apart"];
    const roots = new Set(tables.map((name) => rootOf(whole, name)));
    const isChosen = (page: number) => page > 30 && page % every === 0 && !roots.has(page);
    const { to, problems, kinds } = await salvaged(await damaged(isChosen));
    expect(problems.length).toBeGreaterThan(0);
    for (const [i, kind] of KINDS.entries()) {
      const rows = await rowsIn(to, kind);
      expect(rows).toEqual(rows.map(({ n }) => row(n)));
      const { read = 0, lost } = kinds[i] ?? {};
      expect(rows).toHaveLength(read);
      expect(read).toBeGreaterThan(0);
      expect(read).toBeLessThan(ROWS);
      // Where the index of their ids is damaged, too, nobody knows how many there were.
      expect([ROWS - read, null]).toContain(lost);
    }
  });

  test("those that describe the collections: the rows are read by the models", async () => {
    const root = rootOf(whole, "_collections");
    const { to, kinds } = await salvaged(await damaged((page) => page === root));
    expect(kinds.map((kind) => kind?.read)).toEqual(KINDS.map(() => ROWS));
    for (const kind of KINDS) expect((await rowsIn(to, kind)).at(-1)).toEqual(row(ROWS - 1));
  });

  test("the first, without which nothing can be read", async () => {
    const dataDir = await damaged((page) => page === 1);
    const { problems, collections } = await check(dataDir, MODELS);
    expect([problems, collections]).toEqual([["file is not a database"], []]);
    const to = join(await ownFolder(), "new");
    await expect(salvage(dataDir, to, MODELS)).rejects.toThrow(
      /Nothing of \S+ can be read: file is not a database\. Restore a backup\./,
    );
    await expect(readdir(to)).rejects.toThrow("ENOENT");
    await expect(openStore({ DATA_DIR: dataDir })).rejects.toThrow(
      /not a readable data file: .*sensorium-server check/,
    );
  });
});

test("blobs are copied but for those that are not what their names say", async () => {
  const dataDir = await damaged(() => false);
  const folder = join(dataDir, "blobs/tn_a/ab");
  await mkdir(folder, { recursive: true });
  const [good, bad] = await Promise.all(["good", "bad"].map((text) => computeHash(Buffer.from(text))));
  await writeFile(join(folder, good as string), "good");
  await writeFile(join(folder, bad as string), "worse");
  const to = join(await ownFolder(), "new");
  expect(await salvage(dataDir, to, MODELS)).toMatchObject({ problems: [], blobs: { read: 1, lost: 1 } });
  expect(await readdir(join(to, "blobs/tn_a/ab"))).toEqual([good]);
});

describe("a database that has lost its data", () => {
  const refusal = async (DATA_DIR: string) => {
    const error = await openStore({ DATA_DIR }).catch((err: Error) => err);
    expect(error).toBeInstanceOf(StoreError);
    const { message } = error as StoreError;
    expect(message).toMatch(/^DATA_DIR [^\n]*sensorium-server restore FILE[^\n]*$/);
    return message;
  };

  test("is refused while the credentials of its first start are there", async () => {
    const dataDir = await ownFolder();
    await writeFile(join(dataDir, "credentials.json"), "{}");
    expect(await refusal(dataDir)).toContain("but no sensorium.db: its data is lost");
    await writeFile(join(dataDir, "sensorium.db"), "");
    expect(await refusal(dataDir)).toContain("but sensorium.db is empty: its data is lost");
    await expect(check(dataDir, MODELS)).rejects.toThrow("its data is lost");
    expect((await readdir(dataDir)).sort()).toEqual(["credentials.json", "sensorium.db"]);
    await rm(join(dataDir, "credentials.json"));
    await withStore(dataDir, (store) => store.ping());
  });

  test("is refused when the log of a killed process was removed, by each command", async () => {
    const dataDir = await ownFolder();
    const writer = join(import.meta.dirname, "support/store-writer.ts");
    const child = await startChild(process.execPath, [writer, dataDir, "run"]);
    await child.find(/inserted run-100\n/);
    await child.end("SIGKILL");
    const log = join(dataDir, "sensorium.db-wal");
    const held = await readFile(log);
    for (const end of ["-wal", "-shm"]) await rm(join(dataDir, `sensorium.db${end}`));
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await refusal(dataDir)).toContain("sensorium.db-wal is missing");
      expect((await check(dataDir, MODELS)).problems[0]).toContain("sensorium.db-wal is missing");
      await expect(backUp(dataDir, join(dataDir, "backup"))).rejects.toThrow("sensorium.db-wal is missing");
    }
    // A process that ends without closing the store leaves no log either, and has lost nothing.
    await writeFile(log, held);
    const exits = `import("./storage/connection.ts").then(({ openStore }) => openStore({ DATA_DIR: ${JSON.stringify(dataDir)} })).then(() => process.exit())`;
    const leaving = await startChild(process.execPath, ["-e", exits], {
      cwd: join(import.meta.dirname, ".."),
    });
    await leaving.exited;
    expect(await readdir(dataDir)).toContain("sensorium.db-open");
    expect(await readdir(dataDir)).not.toContain("sensorium.db-wal");
    await withStore(dataDir, async (store) => {
      const rows = store.connection.db?.collection("rows");
      expect(await rows?.countDocuments({})).toBeGreaterThanOrEqual(100);
    });
  });
});
