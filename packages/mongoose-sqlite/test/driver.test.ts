import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import mongoose, { type Connection, Schema } from "mongoose";
import { SqliteCollection } from "../driver/collection.ts";
import { DirectoryInUse, NotImplemented, type SqliteOptions, sqliteDriver } from "../index.ts";

const README = join(import.meta.dirname, "../README.md");
const INDEX = new URL("../index.ts", import.meta.url).href;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "mongoose-sqlite-"));
});

afterEach(() => rm(directory, { recursive: true }));

async function connected<T>(
  use: (connection: Connection) => Promise<T>,
  options?: SqliteOptions,
): Promise<T> {
  const instance = new mongoose.Mongoose();
  instance.setDriver(sqliteDriver(options) as never);
  const connection = await instance.createConnection(directory).asPromise();
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

const tasks = (connection: Connection) =>
  connection.model("Task", new Schema({ title: { type: String, unique: true }, done: Boolean }));

test("a model writes, finds, changes and removes its documents", async () => {
  await connected(async (connection) => {
    const Task = tasks(connection);
    const { _id } = await Task.create({ title: "one", done: false });
    await Task.insertMany([
      { title: "two", done: false },
      { title: "three", done: true },
    ]);
    await Task.updateOne({ _id }, { $set: { done: true } });
    expect((await Task.findById(_id))?.done).toBe(true);
    await Task.deleteOne({ title: "two" });
    expect((await Task.find({ done: true }).sort({ title: 1 })).map(({ title }) => title)).toEqual([
      "one",
      "three",
    ]);
  });
});

test("what was written is there after the connection was closed", async () => {
  await connected((connection) => tasks(connection).create({ title: "kept" }));
  expect(await connected((connection) => tasks(connection).countDocuments({ title: "kept" }))).toBe(1);
});

test("a key that is taken is refused with MongoDB's code", async () => {
  await connected(async (connection) => {
    const Task = tasks(connection);
    await Task.createIndexes();
    await Task.create({ title: "once" });
    await expect(Task.create({ title: "once" })).rejects.toMatchObject({ code: 11000 });
  });
});

test("what is not implemented is refused by its name", async () => {
  await connected(async (connection) => {
    const Task = tasks(connection);
    await expect(connection.startSession()).rejects.toThrow(NotImplemented);
    await expect(Task.find({}).collation({ locale: "de" })).rejects.toThrow("the option collation");
    await expect(Task.aggregate([{ $match: {} }])).rejects.toThrow("collection.aggregate");
    await expect(Task.find({ title: /one/ })).rejects.toThrow("values of type RegExp");
  });
});

test("a directory is one connection's at a time, whose process the error names", async () => {
  await connected(async () => {
    const second = connected(async () => undefined);
    await expect(second).rejects.toThrow(DirectoryInUse);
    await expect(second).rejects.toThrow(String(process.pid));
  });
});

test("the data file is called as the program says", async () => {
  await connected((connection) => tasks(connection).create({ title: "here" }), { file: "tasks.db" });
  expect(await readdir(directory)).toContain("tasks.db");
});

test("the README lists the methods of a collection that are not refused", async () => {
  const [, row = ""] = /^\| Collection \| (.*) \|$/m.exec(await readFile(README, "utf8")) ?? [];
  const own = ["constructor", "namespace", "estimateBytes"];
  const methods = Object.entries(Object.getOwnPropertyDescriptors(SqliteCollection.prototype))
    .filter(([name, { value }]) => !own.includes(name) && value.name !== "refuse")
    .map(([name]) => name);
  const listed = row.replace(/`bulkWrite` of [^|]*?`deleteMany`,/, "`bulkWrite`,");
  expect([...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(methods.sort());
});

/** In a terminal jest asks for colours. */
const PLAIN = { ...process.env, FORCE_COLOR: "0" };

test("the program of the README prints what it says", async () => {
  const [, program = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(await readFile(README, "utf8")) ?? [];
  const file = join(import.meta.dirname, `readme-${process.pid}.mts`);
  await writeFile(file, program.replace('"mongoose-sqlite"', JSON.stringify(INDEX)));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: directory, env: PLAIN });
    expect(stdout).toBe("1\n");
  } finally {
    await rm(file);
  }
});
