/** @needs mongodb: blobs in files and in GridFS, by the same suite. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import { sweepBlobs } from "../services/platform/blobs/blobs.service.ts";
import { BlobWrite } from "../storage/blobs/blobs.ts";
import { FileBlobs } from "../storage/blobs/files.ts";
import { GridFsBlobs } from "../storage/blobs/gridfs.ts";
import { guardBlobs } from "../storage/blobs/guarded.ts";
import { openStore } from "../storage/connection.ts";
import { blobsSuite } from "./suites/blobs.ts";
import { startMongo } from "./support/mongo.ts";
import { ownFolder } from "./support/own-folder.ts";

const nobody = async () => [];

blobsSuite({
  name: "files",
  open: async (inUse) => ({ blobs: await FileBlobs.open(await ownFolder(), inUse), stop: async () => {} }),
});

const mongo = await startMongo();
if ("url" in mongo) {
  blobsSuite({
    name: "GridFS",
    async open(inUse) {
      const store = await openStore({ DATA_DIR: "", MONGO_URL: mongo.url });
      const blobs = new GridFsBlobs(store, inUse);
      await store.ready();
      const stop = async () => {
        await store.close();
        await mongo.stop();
      };
      return { blobs, stop };
    },
  });
} else {
  test.skip(mongo.skipped, () => {});
}

test("drafts of a process that died are gone with the next start", async () => {
  const folder = await ownFolder();
  const blobs = await FileBlobs.open(folder, nobody);
  await blobs.put(new BlobWrite("tn_a"), Buffer.from("whole"));
  await writeFile(join(folder, "blobs.new", "half"), "hal");
  await FileBlobs.open(folder, nobody);
  expect(await readdir(folder)).toEqual(["blobs"]);
});

test("a stream that its guard stops leaves nothing, and what it had claimed is given back", async () => {
  const folder = await ownFolder();
  let claimed = 0;
  const guard = () => ({
    extend: async (bytes: number) => {
      if (claimed + bytes > 10_000_000) throw new Error("too much");
      claimed += bytes;
    },
    end: () => {
      claimed = 0;
    },
  });
  const blobs = guardBlobs(await FileBlobs.open(folder, nobody), [guard]);
  const piece = Buffer.alloc(1_000_000, "a");
  const pieces = (count: number) => Readable.from(Array.from({ length: count }, () => piece));
  await expect(blobs.put(new BlobWrite("tn_a"), pieces(11))).rejects.toThrow("too much");
  await expect(blobs.put(new BlobWrite("tn_a"), pieces(1), 10_000_001)).rejects.toThrow("too much");
  await expect(blobs.put(new BlobWrite("tn_a"), Buffer.alloc(10_000_001))).rejects.toThrow("too much");
  expect(await readdir(join(folder, "blobs.new"))).toEqual([]);
  expect(await readdir(folder)).toEqual(["blobs.new"]);
  expect((await blobs.put(new BlobWrite("tn_a"), pieces(7))).size).toBe(7_000_000);
  expect(claimed).toBe(0);
});

test("a sweep leaves all of a tenant that is being imported: its rows follow", async () => {
  const statuses: Record<string, string> = { tn_a: "importing", tn_b: "active" };
  const broker = {
    call: async (_name: string, { tenant_ids }: { tenant_ids: string[] }) =>
      tenant_ids.flatMap((id) => (statuses[id] ? [{ id, status: statuses[id] }] : [])),
    logger: { info() {} },
  };
  const released: string[] = [];
  const blobs = {
    tenants: async () => ["tn_a", "tn_b", "tn_gone"],
    releaseAll: async (tenant_id: string) => released.push(tenant_id),
  };
  await sweepBlobs(blobs, broker as never);
  expect(released).toEqual(["tn_b", "tn_gone"]);
});
