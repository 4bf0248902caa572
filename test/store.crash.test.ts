import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { openStore } from "../storage/connection.ts";
import { startChild } from "./support/child.ts";
import { ownFolder } from "./support/own-folder.ts";
import { settle } from "./support/settle.ts";

type Row = { _id: string; n: number; tags: string[] };

const ROUNDS = 5;
const WRITER = join(import.meta.dirname, "support/store-writer.ts");

const directory = await ownFolder();

const acknowledged = (output: string, what: string) =>
  [...output.matchAll(new RegExp(`^${what} (\\S+)\\n`, "gm"))].map((match) => match[1] as string);

/** Kills a writer at some moment after `enough` rows were confirmed. */
async function crash(run: number, enough: number): Promise<{ inserted: string[]; updated: string[] }> {
  const writer = await startChild(process.execPath, [WRITER, directory, `run${run}`]);
  await settle(() => acknowledged(writer.output(), "inserted").length >= enough, { every: 1 });
  await writer.end("SIGKILL");
  return {
    inserted: acknowledged(writer.output(), "inserted"),
    updated: acknowledged(writer.output(), "updated"),
  };
}

test("whatever was acknowledged before a SIGKILL is there afterwards, whole", async () => {
  const inserted: string[] = [];
  const updated: string[] = [];
  for (let run = 0; run < ROUNDS; run++) {
    const before = await crash(run, 50 + run * 211);
    inserted.push(...before.inserted);
    updated.push(...before.updated);
    const store = await openStore({ DATA_DIR: directory });
    try {
      const rows = (store.connection.db as NonNullable<typeof store.connection.db>).collection<Row>("rows");
      const held = new Map((await rows.find({}).toArray()).map((row) => [row._id, row]));
      expect(inserted.filter((_id) => !held.has(_id))).toEqual([]);
      expect(
        updated.filter((_id) => !held.get(_id)?.tags.includes("c") || (held.get(_id)?.n ?? 1) > 0),
      ).toEqual([]);
      // a row and its index entries are one: the side table finds what the table holds
      const touched = [...held.values()].filter(({ tags }) => tags.includes("c")).length;
      expect(await rows.countDocuments({ tags: "c" })).toBe(touched);
      expect(await rows.countDocuments({ tags: "a" })).toBe(held.size);
    } finally {
      await store.close();
    }
  }
  expect(updated.length).toBeGreaterThan(0);
});
