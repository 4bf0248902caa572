/** @needs mongodb: what of the Atlas index any MongoDB can do; all of it where `MONGO_URL` is an Atlas deployment. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { EntryModel, SearchStateModel } from "../services/remember/search/search.model.ts";
import { openStore, type Store } from "../storage/connection.ts";
import { AtlasIndex } from "../storage/search/atlas/atlas-index.ts";
import { packVector, rateCandidates } from "../storage/search/atlas/candidates.ts";
import { buildConditions } from "../storage/search/atlas/conditions.ts";
import { type EntryDoc, toFields } from "../storage/search/atlas/entries.ts";
import { SearchEngine } from "../storage/search/engine.ts";
import type { SearchEntry } from "../storage/search/entry.ts";
import type { LegsAnswer } from "../storage/search/protocol.ts";
import { entry, query, TENANT, vector } from "./suites/search/samples.ts";
import { searchSuite } from "./suites/search.ts";
import { settling } from "./support/atlas.ts";
import { startMongo } from "./support/mongo.ts";

const mongo = await startMongo();

async function open(): Promise<{ index: AtlasIndex; store: Store; stop(): Promise<void> }> {
  if (!("url" in mongo)) throw new Error(mongo.skipped);
  const store = await openStore({ DATA_DIR: "", MONGO_URL: mongo.url });
  const parts = { entries: store.collection(EntryModel), state: store.collection(SearchStateModel) };
  await store.ready();
  return { index: new AtlasIndex(parts), store, stop: () => store.close() };
}

async function hasAtlasSearch(): Promise<boolean> {
  if (!("url" in mongo)) return false;
  const { store, stop } = await open();
  const indexes = store.collection(EntryModel).system.listSearchIndexes().toArray();
  return indexes
    .then(
      () => true,
      () => false,
    )
    .finally(stop);
}

const isAtlas = await hasAtlasSearch();

test("ranking is told the same of rows as the local index tells it", () => {
  const turns = [
    ...["do we dig burrows?", "a burrow, dug; dug deep", "nothing of that: national park trains"],
  ].map((text) => entry({ text, title: "Aardvarks dig", thread: "conversation:1" }));
  const vectors = [vector(1, 2), vector(0, 1), vector(3, 0, 1)];
  const local = new SearchEngine(":memory:");
  local.useModel("m");
  local.put(TENANT, turns);
  const rows = local.unembedded(9, 0, { tenant_id: TENANT, kind: "memory" }).map((each) => ({
    ...each,
    vector: vectors[turns.findIndex(({ id }) => id === each.id)] as Float32Array,
  }));
  local.setVectors("m", rows);
  const asked = query("digging a burrow deep, aardva NPT", { vector: vector(1, 1) });
  while (!local.load(TENANT, asked.kind));
  const found = local.find(asked) as LegsAnswer;

  const docs = turns.map((each, i) => docOf(each, vectors[i] as Float32Array)) as [
    EntryDoc,
    EntryDoc,
    EntryDoc,
  ];
  const [a, b, c] = docs;
  const candidates = rateCandidates([{ ...b, before: [a], after: [c] }], {
    ...{ query: asked, vector: asked.vector, model: "m", corpus: found.corpus },
    conditions: buildConditions(asked),
  });
  local.close();
  const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id);
  const [mine, theirs] = [candidates.sort(byId), found.candidates.sort(byId)];
  expect(mine.map(({ asked }) => asked !== 0)).toEqual([false, true, false]);
  for (const [i, each] of mine.entries()) expect(rounded(each)).toEqual(rounded(theirs[i] as object));
});

function docOf(each: SearchEntry, of: Float32Array): EntryDoc {
  const own = { _id: `memory ${each.id}`, tenant_id: TENANT, vector: packVector(of), embedded: "m" };
  return { ...toFields(each), ...own };
}

const rounded = (value: object) =>
  JSON.parse(
    JSON.stringify(value, (_, each) => (typeof each === "number" ? Math.round(each * 100) / 100 : each)),
  );

if (!("url" in mongo)) {
  describe("the Atlas index", () => test.skip(mongo.skipped, () => {}));
} else if (isAtlas) {
  describe("the Atlas index", () => {
    searchSuite({
      async open() {
        const { index, stop } = await open();
        await index.ready();
        return { index: settling(index), stop: () => stop().then(mongo.stop) };
      },
    });
  });
} else {
  describe("the Atlas index on a MongoDB without Atlas Search", () => {
    let opened: Awaited<ReturnType<typeof open>>;
    const rows = () => opened.store.collection(EntryModel);
    beforeAll(async () => {
      opened = await open();
      await opened.index.useModel("one");
    });
    afterAll(() => opened.stop().then(mongo.stop));

    test("does not start, and says what it needs", () =>
      expect(opened.index.ready()).rejects.toThrow("SEARCH=atlas needs a MongoDB with Atlas Search"));

    test("an older version never replaces a newer one, not even of one that is removed", async () => {
      const first = entry({ version: 2, text: "capybara" });
      const { index } = opened;
      const stored = async () => (await rows().find(TENANT, { id: first.id }))[0];
      await index.put(TENANT, [first]);
      await index.put(TENANT, [{ ...first, version: 1, text: "older" }]);
      expect(await stored()).toMatchObject({ version: 2, text_terms: "capybara", readers: ["agent:ag_a"] });
      await index.put(TENANT, [{ ...first, version: 4, removed: true }]);
      await index.put(TENANT, [{ ...first, version: 3 }]);
      expect(await stored()).toMatchObject({ version: 4, readers: [] });
      expect(await stored()).not.toHaveProperty("text");
      await index.put(TENANT, [{ ...first, version: 5 }]);
      expect(await stored()).toMatchObject({ version: 5, readers: ["agent:ag_a"] });
    });

    test("of two nodes that put one entry at once the newer version stands", async () => {
      const both = entry({ text: "dormouse" });
      const puts = [1, 2, 3, 4, 5].map((version) => opened.index.put(TENANT, [{ ...both, version }]));
      await Promise.all(puts);
      expect((await rows().find(TENANT, { id: both.id }))[0]?.version).toBe(5);
    });

    // mongo-java-server closes the connection on the binary subtype of vectors: only MongoDB can be given one.
    const knowsVectors = mongo.kind !== "mongo-java-server";

    test("what has no vector is told, and what is dropped is counted", async () => {
      const { index } = opened;
      const own = entry({ text: "echidna" });
      await index.put("tn_gap", [own]);
      expect(await index.gap("tn_gap", "memory")).toBe(1);
      const [missing] = await index.unembedded(100, 0, { tenant_id: "tn_gap", kind: "memory" });
      expect(missing).toMatchObject({ tenant_id: "tn_gap", kind: "memory", text: "A title\nechidna" });
      expect(await index.drop("tn_gap", "memory", [own.id, "unknown"])).toEqual({ entries: 1, vectors: 0 });
      expect(await index.gap("tn_gap", "memory")).toBe(0);
    });

    if (knowsVectors)
      test("a vector stays when the text does, and goes with it", async () => {
        const { index } = opened;
        const own = entry({ text: "fossa" });
        await index.put("tn_text", [own]);
        const [missing] = await index.unembedded(100, 0, { tenant_id: "tn_text", kind: "memory" });
        const made = [{ ...missing, vector: vector(1) } as never];
        // The first says that the index for them cannot be made here.
        await expect(index.setVectors("one", made)).rejects.toThrow("SEARCH=atlas");
        expect(await index.setVectors("one", made)).toBe(1);
        await index.put("tn_text", [{ ...own, version: 2, confidence: 1 }]);
        expect(await index.gap("tn_text", "memory")).toBe(0);
        await index.put("tn_text", [{ ...own, version: 3, text: "genet" }]);
        expect(await index.gap("tn_text", "memory")).toBe(1);
        expect((await rows().find("tn_text", {}))[0]).not.toHaveProperty("vector");
        // One made of the text before is not taken.
        expect(await index.setVectors("one", made)).toBe(0);
      });

    test("keeps cursors", async () => {
      await opened.index.setCursor("memories", "here");
      expect([await opened.index.cursor("memories"), await opened.index.cursor("none")]).toEqual([
        "here",
        null,
      ]);
    });
  });
}
