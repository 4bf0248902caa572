import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import { TenantCollection } from "../../storage/collection.ts";
import { openStore, type Store } from "../../storage/connection.ts";
import { refusedRows } from "../../storage/write-errors.ts";

interface Owner {
  _id: string;
  tenant_id: string;
  key: string;
  text: string;
}
interface Part {
  _id: string;
  tenant_id: string;
  owner: string;
}

const ownerSchema = new Schema<Owner>({ _id: String, tenant_id: String, key: String, text: String });
ownerSchema.index({ key: 1 }, { unique: true });
const partSchema = new Schema<Part>({ _id: String, tenant_id: String, owner: String });

let dataDir: string;
let store: Store;
let owners: TenantCollection<Owner>;
let parts: TenantCollection<Part>;

async function open(): Promise<void> {
  store = await openStore({ DATA_DIR: dataDir });
  owners = store.collection({ name: "owners", schema: ownerSchema, outOfLine: "text" });
  parts = store.collection({ name: "parts", schema: partSchema });
  await store.ready();
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "sensorium-insert-with-"));
  await open();
});
afterEach(async () => {
  await store.close();
  await rm(dataDir, { recursive: true });
});

const tenant_id = "tn_a";
const owner = (_id: string, key = _id): Owner => ({ _id, tenant_id, key, text: `long ${_id}` });
const part = (_id: string, of: string): Part => ({ _id, tenant_id, owner: of });
const ids = (rows: { _id: string }[]) => rows.map(({ _id }) => _id).sort();

/** Inserts owners with their parts; gives the places of those that were refused. */
async function insert(rows: Owner[], theirs: Part[]): Promise<number[]> {
  const of = theirs.map((each) => rows.findIndex(({ _id }) => _id === each.owner));
  try {
    await owners.insertManyWith(rows, { collection: "parts", docs: theirs, of });
    return [];
  } catch (err) {
    return refusedRows(err, rows.length).map(({ index }) => index);
  }
}

test("rows are written with what belongs to them, and are there after another start", async () => {
  const theirs = [part("a1", "a"), part("c1", "c"), part("c2", "c")];
  expect(await insert([owner("a"), owner("b"), owner("c")], theirs)).toEqual([]);
  await store.close();
  await open();
  expect(await owners.find(tenant_id, {}, { sort: { _id: 1 } })).toEqual([
    owner("a"),
    owner("b"),
    owner("c"),
  ]);
  expect(await parts.find(tenant_id, {}, { sort: { _id: 1 } })).toEqual(theirs);
});

test("writes nothing of a refused row, and all of the others", async () => {
  await owners.insert(owner("first", "taken"));
  const rows = [owner("a"), owner("second", "taken"), owner("b")];
  expect(await insert(rows, [part("a1", "a"), part("s1", "second"), part("b1", "b")])).toEqual([1]);
  expect(ids(await owners.find(tenant_id, {}))).toEqual(["a", "b", "first"]);
  expect(ids(await parts.find(tenant_id, {}))).toEqual(["a1", "b1"]);
});

test("where what belongs to a row is refused, neither the row nor the rest of it stays", async () => {
  await parts.insert(part("there", "x"));
  const rows = [owner("a"), owner("b")];
  expect(await insert(rows, [part("a1", "a"), part("there", "a"), part("a2", "a"), part("b1", "b")])).toEqual(
    [0],
  );
  expect(ids(await owners.find(tenant_id, {}))).toEqual(["b"]);
  expect(ids(await parts.find(tenant_id, {}))).toEqual(["b1", "there"]);
  // Its key and its text went with it.
  expect(await insert([owner("again", "a")], [])).toEqual([]);
  expect(await owners.findOne(tenant_id, { key: "a" })).toEqual(owner("again", "a"));
});

test("a driver that cannot do it says so", async () => {
  const native = new TenantCollection<Owner>({ insertMany: async () => ({}) } as never);
  const nothing = { collection: "parts", docs: [], of: [] };
  await expect(native.insertManyWith([owner("a")], nothing)).rejects.toThrow("two collections in one commit");
});
