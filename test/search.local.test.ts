import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { LocalIndex } from "../storage/search/local-index.ts";
import { ERASURES_CURSOR, MOST_AWAY_MS } from "../storage/search/protocol.ts";
import { cosine, entry, query, TENANT, vector } from "./suites/search/samples.ts";
import { searchSuite } from "./suites/search.ts";
import { damage } from "./support/damage.ts";
import { ownFolder } from "./support/own-folder.ts";
import { settle } from "./support/settle.ts";

const MEMORIES = { tenant_id: TENANT, kind: "memory" } as const;

async function openIn(folder: string): Promise<LocalIndex> {
  const index = new LocalIndex({ dataDir: folder, onDeath() {} });
  await index.ready();
  return index;
}

/** Waits until no thread has the file open: the last one takes its log along. */
const gone = (folder: string) =>
  settle(async () => !(await readdir(folder)).some((name) => name.endsWith("-wal")), {
    what: "the thread's end",
  });

describe("the local index", () => {
  searchSuite({
    async open() {
      const index = await openIn(await ownFolder());
      return { index, stop: () => index.close() };
    },
  });

  describe("its file", () => {
    let folder: string;
    beforeEach(async () => {
      folder = await ownFolder();
    });

    test("keeps entries, threads, vectors and cursors", async () => {
      const first = await openIn(folder);
      await first.useModel("m");
      const turns = ["rhea", "saiga", "tapir"].map((text) => entry({ text, thread: "conversation:1" }));
      await first.put(TENANT, turns.toReversed());
      const missing = await first.unembedded(10, 0, MEMORIES);
      await first.setVectors(
        "m",
        missing.map((each) => ({ ...each, vector: vector(1, 2, 3) })),
      );
      await first.setCursor("memories", "here");
      const before = await first.legs(query("saiga", { vector: vector(1, 2, 3) }));
      await first.close();

      const second = await openIn(folder);
      expect(await second.useModel("m")).toEqual({ number: 1, name: "m", dims: 8 });
      const after = await second.legs(query("saiga", { vector: vector(1, 2, 3) }));
      expect(after.candidates).toEqual(expect.arrayContaining(before.candidates));
      expect(after.candidates).toHaveLength(3);
      expect(after.candidates.find(({ id }) => id === turns[1]?.id)?.before).toHaveLength(1);
      expect(await second.cursor("memories")).toBe("here");
      await second.close();
    });

    test("that was offline for longer than erasures are recorded is rebuilt", async () => {
      const first = await openIn(folder);
      await first.put(TENANT, [entry({ text: "vicuna" })]);
      await first.setCursor(ERASURES_CURSOR, String(Date.now() - MOST_AWAY_MS + 60_000));
      await first.close();
      const second = await openIn(folder);
      expect((await second.legs(query("vicuna"))).candidates).toHaveLength(1);
      await second.setCursor(ERASURES_CURSOR, String(Date.now() - MOST_AWAY_MS - 1));
      await second.close();
      const third = await openIn(folder);
      expect((await third.legs(query("vicuna"))).candidates).toEqual([]);
      expect(await third.cursor(ERASURES_CURSOR)).toBeNull();
      await third.close();
    });

    test("is made by the first entry; what is asked before needs no thread", async () => {
      const index = await openIn(folder);
      await index.useModel("m");
      expect(await index.cursor("memories")).toBeNull();
      await index.setCursor("memories", "here");
      expect(await index.cursor("memories")).toBe("here");
      expect([await index.gap(TENANT, "memory"), await index.unembedded(10, 0, MEMORIES)]).toEqual([0, []]);
      expect(await index.drop(TENANT, "memory", ["id-1"])).toEqual({ entries: 0, vectors: 0 });
      expect(await readdir(folder)).toEqual([]);
      await index.put(TENANT, [entry({ text: "quoll" })]);
      expect(await index.gap(TENANT, "memory")).toBe(1);
      // A new file must not assume that it has the old one's entries.
      expect(await index.cursor("memories")).toBeNull();
      await index.close();
    });

    test("is made again when its file is damaged, by the call that finds it", async () => {
      const first = await openIn(folder);
      await first.put(TENANT, [entry({ text: "kowari" })]);
      await first.setCursor("memories", "here");
      await first.close();
      await damage(join(folder, "search.db"), (page) => page > 1);
      const index = await openIn(folder);
      expect(await index.cursor("memories")).toBeNull();
      await index.put(TENANT, [entry({ text: "dunnart" })]);
      expect((await index.legs(query("dunnart"))).candidates).toHaveLength(1);
      await index.close();
    });

    test("is loaded before it is asked, of those tenants that it is for", async () => {
      const first = await openIn(folder);
      await first.put(TENANT, [entry({ text: "kowari" })]);
      await first.put("tnt_other", [entry({ text: "dunnart" })]);
      await first.close();
      const index = await openIn(folder);
      expect(await index.warm((tenant_id) => tenant_id === TENANT)).toBe(1);
      // Gone from the disk: only what was loaded before can be found.
      const db = new DatabaseSync(join(folder, "search.db"));
      db.exec("DELETE FROM entries");
      db.close();
      const foundOf = async (tenant_id: string, text: string) =>
        (await index.legs({ ...query(text), tenant_id })).candidates.length;
      expect([await foundOf(TENANT, "kowari"), await foundOf("tnt_other", "dunnart")]).toEqual([1, 0]);
      await index.close();
    });

    test("that was never made is not made to be warmed", async () => {
      const index = await openIn(folder);
      expect(await index.warm(() => true)).toBe(0);
      expect(await readdir(folder)).toEqual([]);
      await index.close();
      await expect(index.legs(query("kowari"))).rejects.toThrow("closed");
    });

    test("is there for the next question when its thread has gone", async () => {
      const index = new LocalIndex({ dataDir: folder, onDeath() {}, idleMs: 1 });
      await index.useModel("m");
      const marked = entry({ id: "marked", text: "potoroo" });
      await index.put(TENANT, [marked, entry({ text: "bilby" })]);
      await index.setCursor("memories", "here");
      await gone(folder);
      const missing = await index.unembedded(10, 0, MEMORIES);
      expect(missing).toHaveLength(2);
      const rows = missing.map((each) => ({ ...each, vector: vector(1, 2) }));
      await gone(folder);
      expect(await index.setVectors("m", rows)).toBe(2);
      expect(await index.unembedded(10, 0, MEMORIES)).toEqual([]);
      await gone(folder);
      const { candidates } = await index.legs(query("potoroo", { vector: vector(1, 2) }));
      expect(candidates.find(({ id }) => id === marked.id)?.cosine).toBeCloseTo(1, 2);
      expect(await index.cursor("memories")).toBe("here");
      await index.close();
    });

    test("that cannot be opened fails requests, and is retried", async () => {
      const index = new LocalIndex({ dataDir: join(folder, "later"), onDeath() {} });
      await expect(index.put(TENANT, [entry({ text: "kowari" })])).rejects.toThrow("unable to open");
      await mkdir(join(folder, "later"));
      await index.put(TENANT, [entry({ text: "kowari" })]);
      expect((await index.legs(query("kowari"))).candidates).toHaveLength(1);
      await index.close();
    });

    test("that cannot be read is rebuilt", async () => {
      await writeFile(
        join(folder, "search.db"),
        "no database at all, but long enough to look like one".repeat(99),
      );
      const index = await openIn(folder);
      expect(await index.cursor("memories")).toBeNull();
      await index.put(TENANT, [entry({ text: "uakari" })]);
      expect((await index.legs(query("uakari"))).candidates).toHaveLength(1);
      await index.close();
    });
  });

  test("finds the most alike among very many", async () => {
    const folder = await ownFolder();
    const index = await openIn(folder);
    await index.useModel("m");
    const entries = Array.from({ length: 21_000 }, (_, i) => entry({ id: `many-${i}`, text: "" }));
    await index.put(TENANT, entries);
    for (;;) {
      const missing = await index.unembedded(3000, 0, MEMORIES);
      if (missing.length === 0) break;
      await index.setVectors(
        "m",
        missing.map((each) => ({ ...each, vector: scattered(each.id) })),
      );
    }
    const asked = scattered("many-4711").map((x, i) => x + (i % 7) / 40);
    const { candidates, matched } = await index.legs(query("", { vector: asked }));
    expect(matched.vector).toBe(entries.length);
    const best = candidates.toSorted((a, b) => (b.cosine as number) - (a.cosine as number));
    expect(best[0]?.id).toBe("many-4711");
    const exact = entries.map(({ id }) => cosine(asked, scattered(id))).sort((a, b) => b - a);
    expect(best[0]?.cosine).toBeCloseTo(exact[0] as number, 2);
    expect(best[9]?.cosine).toBeCloseTo(exact[9] as number, 1);
    await index.close();
  });
});

/** A vector that follows from a text. */
function scattered(text: string): Float32Array {
  let state = 2166136261;
  for (const character of text) state = Math.imul(state ^ character.charCodeAt(0), 16777619);
  return Float32Array.from({ length: 128 }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32 - 0.5;
  });
}
