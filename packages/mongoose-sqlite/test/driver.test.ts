import { execFile } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "@jest/globals";
import mongoose, { type Connection, Schema } from "mongoose";
import { ownFolder } from "../../../test/support/own-folder.ts";
import { SqliteCollection } from "../driver/collection.ts";
import { type SqliteOptions, sqliteDriver } from "../index.ts";

const README = join(import.meta.dirname, "../README.md");
const INDEX = new URL("../index.ts", import.meta.url).href;

let directory: string;

beforeEach(async () => {
  directory = await ownFolder();
});

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
