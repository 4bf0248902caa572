/** @needs mongodb: what tenants store is counted and measured alike on both drivers. */
import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { Schema } from "mongoose";
import { StorageUsage } from "../services/platform/usage/usage.ts";
import { type Blobs, BlobWrite } from "../storage/blobs/blobs.ts";
import { guardBlobs } from "../storage/blobs/guarded.ts";
import { openBlobs } from "../storage/blobs/open.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import type { Store } from "../storage/connection.ts";
import { atEnd, ownFolder } from "./support/own-folder.ts";
import { ownStore } from "./support/own-store.ts";
import { useMongo } from "./support/use.ts";

type Note = TenantDocument & { text: string };

const schema = new Schema<Note>({ _id: String, tenant_id: String, text: String }, { versionKey: false });
schema.index({ tenant_id: 1, _id: 1 });

const mongo = await useMongo();
const KB = 1000;
const QUOTA_MB = 1;

describe.each(["sqlite", "mongodb"])("usage on %s", (driver) => {
  const isMongo = driver === "mongodb";
  if (isMongo && !("url" in mongo)) return test.skip(mongo.skipped, () => {});

  let store: Store;
  let files: Blobs;
  let notes: TenantCollection<Note>;
  let usage: StorageUsage;
  let blobs: Blobs;

  beforeAll(async () => {
    const url = isMongo && "url" in mongo ? mongo.url : null;
    store = await ownStore(url);
    files = await openBlobs(store, { DATA_DIR: await ownFolder() }, []);
    notes = store.collection<Note>({ name: "notes", schema });
    usage = new StorageUsage({ store, blobs: files, defaultMb: QUOTA_MB });
    atEnd(() => usage.stop());
    blobs = guardBlobs(files, [usage.claim]);
    await store.ready();
  });

  const used = async (tenant_id: string) => (await usage.of(tenant_id)).used_bytes;
  const note = (tenant_id: string, n: number, bytes = KB): Note => ({
    ...{ _id: `${tenant_id} ${n}`, tenant_id, text: "é".padEnd(bytes, "x") },
  });
  const many = (tenant_id: string, count: number) =>
    Array.from({ length: count }, (_, n) => note(tenant_id, n));

  test("counts rows and blobs as they come, and finds what is deleted when it measures", async () => {
    await notes.insert(note("tn_a", 0, 100 * KB));
    await notes.update("tn_a", { _id: "tn_a 0" }, { $set: { text: "y".repeat(200 * KB) } });
    await notes.upsert([
      { filter: { _id: "tn_a 1", tenant_id: "tn_a" }, update: { $set: { text: "z".repeat(10 * KB) } } },
    ]);
    const write = new BlobWrite("tn_a");
    const { hash } = await blobs.put(write, Readable.from([Buffer.alloc(50 * KB, "a")]));
    await blobs.put(write, Buffer.alloc(50 * KB, "a"));
    expect(await used("tn_a")).toBeGreaterThanOrEqual(260 * KB);
    await usage.measure("tn_a");
    expect(Math.abs((await used("tn_a")) - 260 * KB)).toBeLessThan(2 * KB);
    await notes.deleteMany("tn_a", {});
    await blobs.end(write);
    expect(await files.releaseAll("tn_a")).toBe(1);
    await expect(files.get("tn_a", hash)).rejects.toThrow();
    await usage.measure("tn_a");
    expect(await used("tn_a")).toBe(0);
  });

  test("measures many rows by a sample", async () => {
    for (let at = 0; at < 21; at++)
      await notes.insertMany(
        Array.from({ length: 1000 }, (_, n) => note("tn_b", at * 1000 + n, n % 2 ? 100 : 300)),
      );
    await usage.measure("tn_b");
    const bytes = await used("tn_b");
    expect(bytes).toBeGreaterThan(21_000 * 200);
    expect(bytes).toBeLessThan(21_000 * 300);
  });

  test("refuses what would exceed the quota, with the figures, and nothing of another tenant", async () => {
    await usage.require("tn_c", 999 * KB);
    await notes.insertMany(many("tn_c", 990));
    const refused = expect.objectContaining({
      type: "business_rule_violation",
      data: expect.objectContaining({
        ...{ rule: "storage_quota", quota_bytes: 1000 * KB, used_bytes: expect.any(Number) },
      }),
    });
    await expect(async () => usage.require("tn_c", 50 * KB)).rejects.toEqual(refused);
    expect(usage.require("tn_d", 999 * KB)).toBeInstanceOf(Promise);
    await usage.require("tn_d", 999 * KB);
    expect(usage.require("tn_d", 999 * KB)).toBe(undefined);
  });

  test("counts blobs that are being put against each other", async () => {
    let go: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    async function* slow() {
      yield Buffer.alloc(KB, "b");
      await gate;
      yield Buffer.alloc(600 * KB, "b");
    }
    // Known, so that who comes first claims first.
    await usage.of("tn_e");
    const first = blobs.put(new BlobWrite("tn_e"), slow(), 601 * KB);
    await expect(blobs.put(new BlobWrite("tn_e"), Buffer.alloc(600 * KB, "c"))).rejects.toMatchObject({
      type: "business_rule_violation",
    });
    go();
    expect((await first).size).toBe(601 * KB);
    await blobs.put(new BlobWrite("tn_e"), Buffer.alloc(300 * KB, "d"));
    await expect(
      blobs.put(new BlobWrite("tn_e"), Readable.from([Buffer.alloc(300 * KB, "e")])),
    ).rejects.toMatchObject({ type: "business_rule_violation" });
  });

  test("shows other nodes the sum of all, and a quota that the operator changed", async () => {
    const other = new StorageUsage({ store, blobs: files, defaultMb: QUOTA_MB });
    await notes.insertMany(many("tn_f", 990));
    await usage.flush();
    await usage.measure("tn_f");
    await expect(async () => other.require("tn_f", 500 * KB)).rejects.toMatchObject({
      type: "business_rule_violation",
    });
    await usage.setQuota("tn_f", 2);
    await other.require("tn_f", 500 * KB);
    expect(await other.of("tn_f")).toMatchObject({ quota_bytes: 2000 * KB, quota_mb: 2 });
    await usage.setQuota("tn_f", 0);
    expect((await usage.ofAll(["tn_f"])).get("tn_f")).toMatchObject({
      quota_bytes: Number.POSITIVE_INFINITY,
    });
    await usage.setQuota("tn_f", null);
  });

  test("counts in its totals what is not written yet, and writes nothing for it", async () => {
    await usage.flush();
    const rows = store.connection.db?.collection("storage_usage");
    const written = await rows?.find({}).toArray();
    const before = await usage.totals();
    await notes.insert(note("tn_f", 990, 50 * KB));
    const after = await usage.totals();
    expect(after.used_bytes - before.used_bytes).toBeGreaterThan(50 * KB);
    expect(after.full).toBe(before.full);
    expect(await rows?.find({}).toArray()).toEqual(written);
  });

  test("measures what is due, each once", async () => {
    await usage.measureDue();
    const rows = store.connection.db?.collection("storage_usage");
    expect(await rows?.countDocuments({ measured_at: null })).toBe(0);
    expect(await rows?.countDocuments({ due_at: { $lte: new Date() } })).toBe(0);
  });
});
