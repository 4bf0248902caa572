import { expect, test } from "@jest/globals";
import { ownFile } from "./own-file.ts";

const { statements, schema, rows, writes } = await ownFile();

const index = (name: string, path: string, unique = false) =>
  schema.createIndexes(name, [{ name: path, key: [[path, 1]], unique, sparse: false }]);

test("an update that a unique index refuses leaves the out-of-line text unchanged", () => {
  index("texts", "u", true);
  const table = schema.table("texts");
  schema.setOutOfLine(table, "text");
  for (const name of ["a", "b"]) rows.insert(table, { _id: name, u: name, text: `the text of ${name}` });
  const change = { $set: { u: "a", text: "another" }, $max: { n: 0 } };
  const update = { filter: { _id: "b" }, many: false, upsert: false, newId: "" };
  expect(() => writes.update("texts", { ...update, update: change })).toThrow("E11000");
  const found = writes.modify("texts", { ...update, update: { $unset: { x: 1 } }, after: true });
  expect(JSON.parse(found as string)).toEqual({ _id: "b", u: "b", text: "the text of b" });
});

test("a write that the disk has no room for says so, also where it has several parts", () => {
  index("full", "tags");
  statements.run("BEGIN IMMEDIATE");
  rows.insert(schema.table("full"), { _id: "a", tags: ["x", "y"] });
  statements.run("COMMIT");
  const [pages] = statements.row<[number]>("PRAGMA page_count") as [number];
  statements.row(`PRAGMA max_page_count = ${pages}`);
  statements.run("BEGIN IMMEDIATE");
  const long = { _id: "b", tags: ["x"], text: "x".repeat(1_000_000) };
  expect(() => rows.insert(schema.table("full"), long)).toThrow("database or disk is full");
  expect(statements.db.isTransaction).toBe(false);
});
