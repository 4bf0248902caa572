import { describe, expect, test } from "@jest/globals";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { SearchIndex } from "../search.ts";
import { entry, query, TENANT } from "./samples.ts";

/** Adding, changing and removing entries. Each case uses distinct words, because the index is shared. */
export function changeCases(index: () => SearchIndex): void {
  const found = async (text: string, more = {}) =>
    (await index().legs(query(text, more))).candidates.map(({ id }) => id);
  const put = async (...entries: SearchEntry[]) => {
    await index().put(TENANT, entries);
    return entries.map(({ id }) => id);
  };

  describe("changes", () => {
    test("what is put is found by a word of its title or its text, whatever its ending", async () => {
      const [id] = await put(entry({ title: "Aardvarks", text: "they were digging burrows" }));
      for (const word of ["aardvark", "dig", "BURROW"]) expect(await found(word)).toEqual([id]);
      expect(await found("zebrafish")).toEqual([]);
    });

    test("words that no entry has are found by longer and shorter forms, an acronym by its words", async () => {
      const texts = [
        ...["OpenTofuController", "kaiserpinguinkolonie", "a quokka yield zone", "the QYR of wombats"],
      ];
      const [longer, compound, spelled, short] = await put(...texts.map((text) => entry({ text })));
      expect(await found("opentofu")).toEqual([longer]);
      expect(await found("kaiserpinguin")).toEqual([compound]);
      expect(await found("kaiserpinguinkolonieverein")).toEqual([compound]);
      expect(await found("QYZ")).toEqual([spelled]);
      expect(await found("quarterly yodel report")).toEqual([short]);
      await put(entry({ text: "opentofu" }));
      expect(await found("opentofu")).not.toContain(longer);
    });

    test("texts are read by id, with their titles and up to a length, of one tenant and kind", async () => {
      const [known, removed] = await put(
        entry({ title: "Numbat", text: "eats termites" }),
        entry({ text: "gone", removed: true }),
      );
      const ids = [known, removed, "unknown"] as string[];
      expect(await index().texts(TENANT, "memory", ids, 100)).toEqual({
        [known as string]: "Numbat\neats termites",
      });
      expect(await index().texts(TENANT, "memory", ids, 10)).toEqual({ [known as string]: "Numbat\neat" });
      expect(await index().texts("another", "memory", ids, 100)).toEqual({});
      expect(await index().texts(TENANT, "chunk", ids, 100)).toEqual({});
    });

    test("another tenant and another kind do not see it", async () => {
      await put(entry({ text: "bandicoot" }));
      expect(await found("bandicoot", { tenant_id: "tn_2" })).toEqual([]);
      expect(await found("bandicoot", { kind: "chunk" })).toEqual([]);
    });

    test("a later version replaces it, an older one never does", async () => {
      const first = entry({ text: "capybara", version: 2 });
      await put(first);
      await put({ ...first, text: "coypu", version: 3 });
      await put({ ...first, text: "capybara", version: 2 });
      expect(await found("capybara")).toEqual([]);
      expect(await found("coypu")).toEqual([first.id]);
    });

    test("what is removed is not found, and an older version does not bring it back", async () => {
      const first = entry({ text: "dormouse" });
      await put(first);
      await put({ ...first, version: 3, removed: true });
      await put({ ...first, version: 2 });
      expect(await found("dormouse")).toEqual([]);
      await put({ ...first, version: 4 });
      expect(await found("dormouse")).toEqual([first.id]);
    });

    test("what is dropped is gone, and counted", async () => {
      const [id] = await put(entry({ text: "echidna" }));
      await found("echidna");
      expect(await index().drop(TENANT, "memory", [id as string, "unknown"])).toEqual({
        entries: 1,
        vectors: 0,
      });
      expect(await found("echidna")).toEqual([]);
    });

    test("a dropped tenant has nothing, others keep theirs", async () => {
      await index().put("tn_gone", [entry({ text: "fossa" })]);
      const [id] = await put(entry({ text: "fossa" }));
      await index().dropTenant("tn_gone");
      expect(await found("fossa", { tenant_id: "tn_gone" })).toEqual([]);
      expect(await found("fossa")).toEqual([id]);
    });
  });

  describe("threads", () => {
    const turns = (word: string, more: Partial<SearchEntry>[] = [{}, {}, {}]) =>
      more.map((each, i) => entry({ text: `${word}${i}`, thread: `conversation:${word}`, ...each }));

    test("an entry knows who stands before and after it, in order of creation", async () => {
      const [a, b, c] = turns("gibbon") as [SearchEntry, SearchEntry, SearchEntry];
      await put(c, a, b);
      const { candidates } = await index().legs(query("gibbon0 gibbon1 gibbon2"));
      const middle = candidates.find(({ id }) => id === b.id);
      expect(middle?.before.map(({ has }) => has)).toEqual([1]);
      expect(middle?.after.map(({ has }) => has)).toEqual([4]);
    });

    test("an entry next to one with the word is a candidate", async () => {
      const three = turns("hyrax");
      await put(...three);
      expect(new Set(await found("hyrax1"))).toEqual(new Set(three.map(({ id }) => id)));
    });

    test("a removed entry gives no context, and the entries around it become neighbours", async () => {
      const [a, b, c] = turns("ibex") as [SearchEntry, SearchEntry, SearchEntry];
      await put(a, b, c);
      await put({ ...b, version: 2, removed: true });
      const { candidates } = await index().legs(query("ibex0 ibex1 ibex2"));
      expect(candidates.map(({ id }) => id).sort()).toEqual([a.id, c.id]);
      expect(candidates.find(({ id }) => id === a.id)?.after.map(({ has }) => has)).toEqual([4]);
    });

    test("one that only its owner may read gives others no context", async () => {
      const [a, b] = turns("jerboa", [{ scope: "institutional" }, { agent_id: "ag_b" }]);
      await put(a as SearchEntry, b as SearchEntry);
      const { candidates } = await index().legs(query("jerboa0 jerboa1"));
      expect(candidates.map(({ id, after }) => [id, after.length])).toEqual([[a?.id, 0]]);
    });

    test("an entry that changes stays where it was", async () => {
      const [a, b, c] = turns("kudu") as [SearchEntry, SearchEntry, SearchEntry];
      await put(a, b, c);
      await found("kudu0");
      await put({ ...b, version: 2, text: "kuduX" });
      const { candidates } = await index().legs(query("kudu0 kudux kudu2"));
      const middle = candidates.find(({ id }) => id === b.id);
      expect([middle?.before.length, middle?.after.length]).toEqual([1, 1]);
    });
  });
}
