import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Schema } from "mongoose";

const ROOT = join(import.meta.dirname, "../..");
const TEXT = ["docs/sharding.md", ...globSync("extensions/*/README.md", { cwd: ROOT })]
  .map((file) => readFileSync(join(ROOT, file), "utf8"))
  .join("\n");

/** The table of docs/sharding.md and of extensions: collection → fields of its shard key, null where it has none. */
const table = new Map(
  [...TEXT.matchAll(/^\| `([a-z0-9_]+)` \| (—|`[^`]+`) \| .+ \|$/gm)].map(([, name = "", key = ""]) => [
    name,
    key === "—" ? null : key.replaceAll("`", "").split(", "),
  ]),
);

type Model = { name: string; schema: Schema };

const files = globSync(["services/**/*.model.ts", "extensions/*/{*,*/*}.model.ts"], { cwd: ROOT });
const modules: object[] = await Promise.all(files.map((file) => import(join(ROOT, file))));
const models = modules
  .flatMap((module) => Object.values(module) as Model[])
  .filter((each) => typeof each?.schema?.indexes === "function");
/** Models of storage/, in addition to the services'. */
const ELSEWHERE = ["blobs"];

test("every collection has a row, and every row a collection", () =>
  expect([...table.keys()].sort()).toEqual([...models.map(({ name }) => name), ...ELSEWHERE].sort()));

const sharded = models.flatMap(({ name, schema }) => {
  const key = table.get(name);
  return key && !key[0]?.endsWith("hashed") ? [{ name, schema, key }] : [];
});

test.each(sharded)("$name: its key begins with the tenant and has fields of its rows", ({ schema, key }) => {
  expect(key[0]).toBe("tenant_id");
  for (const field of key) expect(Object.keys(schema.paths)).toContain(field);
});

test.each(sharded)("$name: its key is the beginning of every unique index", ({ schema, key }) => {
  const unique = schema.indexes().filter(([, options]) => options?.unique);
  for (const [fields] of unique) expect(Object.keys(fields).slice(0, key.length)).toEqual(key);
});

test("the commands shown are what the table says", () => {
  const shown = [...TEXT.matchAll(/shardCollection\("sensorium\.(\w+)", \{ (.+) \}\)/g)];
  expect(shown.length).toBeGreaterThan(0);
  for (const [, name = "", fields = ""] of shown) {
    const key = fields.replaceAll('"', "").replaceAll(": 1", "").split(", ");
    expect({ name, key }).toEqual({ name, key: table.get(name) });
  }
});
