import { beforeAll, describe, expect, test } from "@jest/globals";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { SearchIndex } from "../search.ts";
import { entry, query, vector } from "./samples.ts";

const VECTORS = "tn_vectors";

/** Cases of vectors: similarity, gaps, near-duplicates, and another model. */
export function vectorCases(index: () => SearchIndex): void {
  const put = (...entries: SearchEntry[]) => index().put(VECTORS, entries);
  const unembedded = () => index().unembedded(1000, 0, { tenant_id: VECTORS, kind: "memory" });
  const embed = async (model: string, vectors: Record<string, Float32Array>) => {
    const missing = await unembedded();
    const rows = missing.flatMap((each) => {
      const found = vectors[each.id];
      return found ? [{ ...each, vector: found }] : [];
    });
    return index().setVectors(model, rows);
  };
  const cosines = async (asked: Float32Array) => {
    const { candidates } = await index().legs(query("", { tenant_id: VECTORS, vector: asked }));
    return new Map(candidates.map(({ id, cosine }) => [id, cosine]));
  };

  describe("vectors", () => {
    beforeAll(() => index().useModel("one"));

    test("the cosine is that of the vectors, whatever their length", async () => {
      await put(entry({ id: "right" }), entry({ id: "diagonal" }), entry({ id: "across" }));
      expect(await embed("one", { right: vector(5), diagonal: vector(2, 2), across: vector(0, 3) })).toBe(3);
      const found = await cosines(vector(0.5));
      expect(found.get("right")).toBeCloseTo(1, 2);
      expect(found.get("diagonal")).toBeCloseTo(Math.SQRT1_2, 2);
      expect(found.get("across")).toBeCloseTo(0, 2);
    });

    test("a vector of another length is not compared, and that is said", async () => {
      const answer = await index().legs(query("", { tenant_id: VECTORS, vector: Float32Array.of(1, 0) }));
      expect([answer.isMisfit, answer.candidates]).toEqual([true, []]);
      await put(entry({ id: "misfit" }));
      const [missing] = (await unembedded()).filter(({ id }) => id === "misfit");
      expect(await index().setVectors("one", [{ ...missing, vector: Float32Array.of(1) } as never])).toBe(0);
      await index().drop(VECTORS, "memory", ["misfit"]);
    });

    test("what has no vector is counted, and found without one", async () => {
      await put(entry({ id: "late", text: "marmoset" }));
      expect(await index().gap(VECTORS, "memory")).toBe(1);
      const { candidates } = await index().legs(query("marmoset", { tenant_id: VECTORS, vector: vector(1) }));
      expect(candidates.find(({ id }) => id === "late")?.cosine).toBeNull();
      await embed("one", { late: vector(1) });
      expect(await index().gap(VECTORS, "memory")).toBe(0);
    });

    test("a vector of zeros is as none, and is not missed", async () => {
      await put(entry({ id: "unread", text: "potoroo" }), entry({ id: "unread too", text: "potoroos" }));
      expect(await embed("one", { unread: vector(), "unread too": vector() })).toBe(2);
      expect(await index().gap(VECTORS, "memory")).toBe(0);
      const { candidates } = await index().legs(query("potoroo", { tenant_id: VECTORS, vector: vector(1) }));
      expect(candidates.find(({ id }) => id === "unread")?.cosine).toBeNull();
      expect([...(await cosines(vector(1))).keys()]).not.toContain("unread");
      expect(await index().nearDuplicates(VECTORS, "memory", ["unread"], 0.9)).toEqual([]);
    });

    test("a vector stays when the text does, and goes with it", async () => {
      const kept = entry({ id: "kept", text: "numbat" });
      await put(kept);
      await embed("one", { kept: vector(0, 0, 1) });
      await put({ ...kept, version: 2, confidence: 0.9 });
      expect(await index().gap(VECTORS, "memory")).toBe(0);
      expect((await cosines(vector(0, 0, 1))).get("kept")).toBeCloseTo(1, 2);
      await put({ ...kept, version: 3, text: "another numbat" });
      expect(await index().gap(VECTORS, "memory")).toBe(1);
      await embed("one", { kept: vector(0, 0, 1) });
    });

    test("a vector of a text that has changed meanwhile is not taken", async () => {
      const changing = entry({ id: "changing", text: "okapi" });
      await put(changing);
      const missing = (await unembedded()).find(({ id }) => id === "changing");
      await put({ ...changing, version: 2, text: "an okapi" });
      expect(await index().setVectors("one", [{ ...missing, vector: vector(1) } as never])).toBe(0);
      await index().drop(VECTORS, "memory", ["changing"]);
    });

    test("near-duplicates are of one owner, scope and type", async () => {
      const alike = { text: "pangolin" };
      await put(
        entry({ id: "twin1", ...alike }),
        entry({ id: "twin2", ...alike }),
        entry({ id: "cousin", ...alike, type: "episodic" }),
        entry({ id: "neighbour", ...alike, agent_id: "ag_b" }),
        entry({ id: "stranger", text: "quokka" }),
      );
      const same = vector(0, 0, 0, 1, 0.2);
      const far = vector(0, 0, 0, 1, 0.5);
      await embed("one", { twin1: same, twin2: same, cousin: same, neighbour: same, stranger: far });
      const pairs = await index().nearDuplicates(VECTORS, "memory", ["twin1"], 0.97);
      expect(pairs).toMatchObject([{ a: "twin1", b: "twin2" }]);
      expect(pairs[0]?.similarity).toBeCloseTo(1, 2);
    });

    test("with another model all are missing again, with none nothing is", async () => {
      expect(await index().useModel("two")).toMatchObject({ name: "two", dims: null });
      expect(await index().gap(VECTORS, "memory")).toBeGreaterThan(5);
      expect((await cosines(vector(1))).size).toBe(0);
      await embed("two", { right: vector(0, 1) });
      expect([...(await cosines(vector(0, 1)))].filter(([, cosine]) => cosine !== null)).toHaveLength(1);
      await index().useModel(null);
      expect(await index().gap(VECTORS, "memory")).toBe(0);
    });
  });
}
