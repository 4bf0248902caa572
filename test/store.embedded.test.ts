import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { type Db, Decimal128 } from "mongodb";
import { Schema } from "mongoose";
import { asWork, turns } from "../lib/queue/work.ts";
import { openStore, type Store, StoreError } from "../storage/connection.ts";
import { FORMAT, raiseFormat } from "../storage/format.ts";
import type { AnyCollection } from "./suites/store.ts";
import { startChild } from "./support/child.ts";
import { ownFolder } from "./support/own-folder.ts";
import { ownStore } from "./support/own-store.ts";
import { settle } from "./support/settle.ts";

const WRITER = join(import.meta.dirname, "support/store-writer.ts");
const OPEN_AND_CLOSE = `
  import("./storage/connection.ts").then(async ({ openStore }) => {
    const store = await openStore({ DATA_DIR: process.argv[1] });
    store.onFatal(() => process.exit(3));
    await store.close();
    console.log("closed");
  });
`;
const WITHOUT_FILES = join(import.meta.dirname, "support/store-without-files.ts");

let DATA_DIR: string;
const file = () => join(DATA_DIR, "sensorium.db");
type Row = { _id: string; tenant_id: string; text: string; seen?: boolean };

const database = (store: Store) => store.connection.db as unknown as Db;

beforeEach(async () => {
  DATA_DIR = await ownFolder();
});

async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ DATA_DIR });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Expects opening the store to fail and returns its one-line message. */
async function refusal(): Promise<string> {
  const error = await openStore({ DATA_DIR }).then(
    async (store) => {
      await store.close();
      return undefined;
    },
    (thrown: Error) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error?.message).not.toContain("\n");
  return error?.message ?? "";
}

describe("the data directory", () => {
  test("keeps documents, indexes and what is known of arrays from one start to the next", async () => {
    await withStore(async (store) => {
      const things: AnyCollection = database(store).collection("things");
      await things.createIndex({ a: 1 }, { unique: true });
      await things.insertMany([
        { _id: 1, a: ["x", "y"] },
        { _id: 2, a: "z" },
      ]);
    });
    await withStore(async (store) => {
      const things: AnyCollection = database(store).collection("things");
      expect(await things.find({ a: "y" }).toArray()).toEqual([{ _id: 1, a: ["x", "y"] }]);
      await expect(things.insertOne({ _id: 3, a: "x" })).rejects.toMatchObject({ code: 11000 });
    });
  });

  test("finishes on close what it had accepted", async () => {
    const store = await openStore({ DATA_DIR });
    const things: AnyCollection = database(store).collection("things");
    const writes = Array.from({ length: 100 }, (_, _id) => things.insertOne({ _id }));
    await Promise.all([store.close(), ...writes]);
    await withStore(async (again) =>
      expect(await database(again).collection("things").countDocuments({})).toBe(100),
    );
  });

  test("is refused to a second process by the first one's pid, and free when that is killed", async () => {
    const writer = await startChild(process.execPath, [WRITER, DATA_DIR, "first"]);
    try {
      await writer.find(/inserted/);
      expect(await refusal()).toBe(`DATA_DIR ${DATA_DIR} is in use by another process (pid ${writer.pid})`);
    } finally {
      await writer.end("SIGKILL");
    }
    await withStore((store) => store.ping());
  });

  test("is refused to a second store in the same process", async () =>
    withStore(async () => expect(await refusal()).toContain(`pid ${process.pid}`)));

  test("may have rows that keep a text in the document, which others store out of line", async () => {
    const model = (outOfLine?: "text") => ({
      name: "rows",
      schema: new Schema<Row>({}),
      ...(outOfLine && { outOfLine }),
    });
    const row = (_id: string): Row => ({ _id, tenant_id: "a", text: `of ${_id}` });
    await withStore((store) => store.collection<Row>(model()).insert(row("old")));
    await withStore(async (store) => {
      const rows = store.collection<Row>(model("text"));
      await rows.insert(row("new"));
      expect(await rows.find("a", {}, { sort: { _id: -1 } })).toEqual([row("old"), row("new")]);
      await rows.updateMany("a", {}, { $set: { seen: true } });
      await rows.update("a", { _id: "old" }, { $set: { text: "changed" } });
    });
    await withStore(async (store) => {
      const rows = await store.collection<Row>(model("text")).find("a", {}, { sort: { _id: -1 } });
      expect(rows).toEqual([
        { ...row("old"), seen: true, text: "changed" },
        { ...row("new"), seen: true },
      ]);
    });
  });

  test("that is a file is refused", async () => {
    DATA_DIR = import.meta.filename;
    expect(await refusal()).toBe(`DATA_DIR ${DATA_DIR} cannot be used: ${DATA_DIR} is a file, not a folder`);
  });

  test("with a restore that broke off is refused until the database, which comes last, is there", async () => {
    await mkdir(join(DATA_DIR, ".restore-a1b2c3"));
    await expect(openStore({ DATA_DIR })).rejects.toThrow("an unfinished restore (.restore-a1b2c3)");
    expect(await readdir(DATA_DIR)).toEqual([".restore-a1b2c3"]);
    await writeFile(file(), "");
    await withStore((store) => store.ping());
  });

  const alter = (sql: string) => {
    const db = new DatabaseSync(file());
    db.exec(sql);
    db.close();
  };
  test.each<[string, () => unknown, string]>([
    [
      "newer",
      () => alter("PRAGMA user_version = 4711"),
      "has data version 4711; this version supports up to",
    ],
    [
      "that is no database",
      () => writeFile(file(), "a text file".repeat(200)),
      "is not a readable data file",
    ],
    ["of another program", () => alter("CREATE TABLE theirs (a)"), "is a database of another program"],
  ])("with a file %s is refused in one line, and the file left as it is", async (_, make, reason) => {
    await make();
    const before = await readFile(file());
    const message = await refusal();
    expect(message).toContain(file());
    expect(message).toContain(reason);
    expect(await readFile(file())).toEqual(before);
  });

  test("of another build is refused with what to do, and left as it is", async () => {
    await writeFile(join(DATA_DIR, "older.db"), "rows");
    const message = await refusal();
    expect(message).toContain("it contains older.db, but no sensorium.db");
    expect(message).toContain("rename older.db to sensorium.db");
    expect((await readdir(DATA_DIR)).filter((name) => name !== "lock.db")).toEqual(["older.db"]);
  });

  test("with rows that a newer version has written is refused", async () => {
    await withStore(async (store) => {
      for (const format of [FORMAT + 1, FORMAT]) await raiseFormat(store.connection, format);
    });
    expect(await refusal()).toMatch(
      new RegExp(`rows of format ${FORMAT + 1}, and this version .+ up to ${FORMAT}\\. Start the newer`),
    );
  });
});

test("the space of deleted rows is given back at rest, in steps, and the others stay", async () =>
  withStore(async (store) => {
    const things: AnyCollection = database(store).collection("things");
    const rows = Array.from({ length: 400 }, (_, _id) => ({ _id, text: "x".repeat(50_000) }));
    for (let at = 0; at < rows.length; at += 50) await things.insertMany(rows.slice(at, at + 50));
    await things.deleteMany({ _id: { $gte: 10 } });
    const full = (await store.space?.())?.bytes ?? 0;
    expect(full).toBeGreaterThan(20_000_000);
    await settle(async () => ((await store.space?.())?.bytes ?? full) < 5_500_000, { what: "the space" });
    await settle(async () => (await stat(file())).size < 5_500_000, { what: "the file to be shorter" });
    expect(await things.find({}).toArray()).toEqual(rows.slice(0, 10));
  }));

test("a thread that cannot be started for want of files fails what it was for, and nothing else", async () => {
  const limited = ["-c", 'ulimit -n 100 && exec "$0" "$@"', process.execPath];
  const child = await startChild("sh", [...limited, WITHOUT_FILES, DATA_DIR]);
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.output()).toBe("ERR_WORKER_INIT_FAILED, then 1\n");
});

test("a stop on a full disk leaves what it cannot copy in the log", async () => {
  const writer = await startChild(process.execPath, [WRITER, DATA_DIR, "run"]);
  await writer.find(/inserted run-500\n/);
  await writer.end("SIGKILL");
  // No file may grow beyond 50 KB, as little as the log's index needs.
  const limited = ["-c", 'ulimit -f 100 && exec "$0" "$@"', process.execPath];
  const child = await startChild("sh", [...limited, "-e", OPEN_AND_CLOSE, DATA_DIR], {
    cwd: join(import.meta.dirname, ".."),
  });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.output()).toBe("closed\n");
  const rows = await withStore((store) => database(store).collection("rows").countDocuments({}));
  expect(rows).toBeGreaterThanOrEqual(500);
});

const oneForAll = await ownStore();
const stored: AnyCollection = database(oneForAll).collection("things");
await stored.insertOne({ _id: 1 });
test.each<[string, (things: AnyCollection, store: Store) => unknown]>([
  ["the filter operator $where", (things) => things.findOne({ $where: "1" })],
  ["the filter operator $type", (things) => things.find({ a: { $type: "string" } }).toArray()],
  ["the update operator $bit", (things) => things.updateOne({}, { $bit: { a: { and: 1 } } })],
  ["the positional operator $", (things) => things.updateOne({ a: 1 }, { $set: { "a.$": 1 } })],
  ["the positional operator $[]", (things) => things.updateOne({ a: 1 }, { $set: { "a.$[]": 1 } })],
  [
    "the $push modifier $sort",
    (things) => things.updateOne({}, { $push: { a: { $each: [], $sort: 1 } } as never }),
  ],
  ["updates by an aggregation pipeline", (things) => things.updateOne({}, [{ $set: { a: 1 } }])],
  ["collection.aggregate", (things) => things.aggregate([])],
  ["collection.distinct", (things) => things.distinct("a")],
  ["cursor.map", (things) => things.find().map((each) => each)],
  [
    "bulkWrite of replaceOne",
    (things) => things.bulkWrite([{ replaceOne: { filter: {}, replacement: {} } }]),
  ],
  ["the filter operator $nor", (things) => things.findOne({ $nor: [{ a: 1 }] })],
  ["the filter operator $not", (things) => things.findOne({ a: { $not: { $lt: 1 } } })],
  ["$elemMatch of values", (things) => things.findOne({ a: { $elemMatch: { $lt: 1 } } })],
  ["the update operator $rename", (things) => things.updateOne({}, { $rename: { a: "b" } })],
  ["$pull by a condition", (things) => things.updateOne({}, { $pull: { a: { $lt: 1 } } as never })],
  [
    "a $slice of $push",
    (things) => things.updateOne({}, { $push: { a: { $each: [], $slice: 1 } } as never }),
  ],
  ["the projection $slice of a", (things) => things.findOne({}, { projection: { a: { $slice: 1 } } })],
  ["the option collation", (things) => things.find({}, { collation: { locale: "en" } }).toArray()],
  ["the option session", (things) => things.insertOne({ a: 1 }, { session: {} as never })],
  [
    "the index option partialFilterExpression",
    (things) => things.createIndex({ a: 1 }, { partialFilterExpression: {} }),
  ],
  ["collection.watch", (things) => things.watch()],
  ["client.startSession", (_things, store) => store.connection.startSession()],
  ["the command dbStats", (_things, store) => database(store).command({ dbStats: 1 })],
  ["values of type RegExp", (things) => things.findOne({ a: /x/ })],
  ["values of BSON type Decimal128", (things) => things.insertOne({ a: Decimal128.fromString("1.5") })],
])("what the embedded store leaves out: %s is refused by name", (name, use) =>
  expect((async () => use(stored, oneForAll))()).rejects.toThrow(
    `mongoose-sqlite does not implement ${name}`,
  ),
);

describe("a write of many rows", () => {
  const [FLOOD, MANY] = [16, 10_000];
  const model = {
    name: "things",
    schema: new Schema<Row>(
      { _id: String, tenant_id: String, text: String, seen: Boolean },
      { versionKey: false },
    ),
  };
  model.schema.index({ tenant_id: 1 });
  const row = (tenant_id: string, _id: string) => ({ _id, tenant_id, text: "of many" });

  test("goes in turns with those of other tenants, and lets small ones pass", async () => {
    await withStore(async (store) => {
      const things = store.collection(model);
      await store.ready();
      const ended: string[] = [];
      const writeMany = async (tenant_id: string, name: string, count: number) => {
        const rows = Array.from({ length: count }, (_, i) => row(tenant_id, `${name}-${i}`));
        await asWork({ tenant_id, caller: "agent" }, "things.create_batch", async () => {
          for (let at = 0; at < count; at += 100) await things.insertMany(rows.slice(at, at + 100));
        });
        ended.push(name);
      };
      await asWork({ tenant_id: "tn_many", caller: "agent" }, "things.create_batch", async () => {});
      const flood = Array.from({ length: FLOOD }, (_, i) => writeMany("tn_many", `flood-${i}`, 500));
      const others = [writeMany("tn_other", "batch", 500), things.insert(row("tn_one", "small"))];
      // Two of the one, known to be cheap so far, and one of the other.
      expect(turns.inUse).toBe(3);
      others[1]?.then(() => ended.push("small"));
      await Promise.all([...flood, ...others]);
      expect(ended[0]).toBe("small");
      // Where all write in turns, that of a tenant with one is among the first to end.
      expect(ended.indexOf("batch")).toBeLessThan(5);
      expect(await things.count("tn_many", {})).toBe(FLOOD * 500);
    });
  });

  test("lets others' writes pass, and is whole all the same", async () => {
    await withStore(async (store) => {
      const things = store.collection(model);
      await store.ready();
      await things.insertMany(Array.from({ length: MANY }, (_, i) => row("tn_many", `many-${i}`)));
      const ended: string[] = [];
      const noting = async <T>(name: string, write: Promise<T>) => {
        const result = await write;
        ended.push(name);
        return result;
      };
      for (const write of [
        () => things.updateMany("tn_many", { seen: { $ne: true } }, { $set: { seen: true } }),
        () => things.deleteMany("tn_many", { seen: true }),
      ]) {
        const many = noting("many", write());
        // Its rows are found by now, and it is being written.
        await things.count("tn_many", {});
        await noting("one", things.insert(row("tn_one", `one-${ended.length}`)));
        expect(await many).toBe(MANY);
      }
      expect(ended).toEqual(["one", "many", "one", "many"]);
      expect([await things.count("tn_many", {}), await things.count("tn_one", {})]).toEqual([0, 2]);
    });
  });
});
