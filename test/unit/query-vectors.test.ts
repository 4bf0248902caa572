import { expect, test } from "@jest/globals";
import type { Embedder } from "../../connectors/embedders/embedder.ts";
import { outgoing } from "../../services/outgoing.ts";
import { QueryVectors } from "../../services/remember/search/query-vectors.ts";

const FLOOD = 100;

/** Answers when the test says so; `asked` names the queries in the order in which they came. */
function newEmbedder(patience: number) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const embedder: Embedder = {
    ...{ model: "test", batch: 1, batchesAtOnce: 1, queriesAtOnce: 8, patience },
    embedQuery(text) {
      asked.push(text);
      return new Promise((resolve) => waiting.push(() => resolve(Float32Array.of(1))));
    },
    embedTexts: async () => [],
    close: async () => {},
  };
  const release = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  async function drain(): Promise<void> {
    for (let before = -1; before !== asked.length; ) {
      before = asked.length;
      release();
      await turn();
    }
  }
  return { embedder, asked, release, drain };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const flood = { tenant_id: "flood", caller: "agent" };
const calm = { tenant_id: "calm", caller: "agent" };

test("a query reaches the embedder despite any number of another tenant's", async () => {
  const { embedder, asked, release, drain } = newEmbedder(60_000);
  const vectors = new QueryVectors(embedder, outgoing);
  const all = Array.from({ length: FLOOD }, (_, i) => vectors.get(`flood ${i}`, flood));
  const own = vectors.get("mine", calm);
  await turn();
  expect(asked).toContain("mine");
  expect(asked).toHaveLength(4);
  release();
  expect(await own).toEqual({ vector: Float32Array.of(1), reason: null });
  await drain();
  const reasons = (await Promise.all(all)).map(({ reason }) => reason);
  // Those that would wait too long do without, and say so.
  expect(reasons.filter((reason) => reason !== null)).toEqual(
    Array(FLOOD - 3 - 64).fill("vector: too many of your queries are waiting for the embedder"),
  );
});

test("another tenant's query waits for one long query at most", async () => {
  const { embedder, asked, drain } = newEmbedder(60_000);
  const vectors = new QueryVectors(embedder, outgoing);
  const long = Array.from({ length: 8 }, (_, i) => vectors.get(`${i} ${"freight ".repeat(100)}`, flood));
  const own = vectors.get("mine", calm);
  await turn();
  expect(asked).toEqual([expect.stringMatching(/^0 freight/), "mine"]);
  await drain();
  await Promise.all([...long, own]);
});

test("the same query of two tenants waits in the turn of each", async () => {
  const { embedder, asked, drain } = newEmbedder(60_000);
  const vectors = new QueryVectors(embedder, outgoing);
  for (let i = 0; i < FLOOD; i++) vectors.get(`flood ${i}`, flood);
  vectors.get("common", flood);
  vectors.get("common", calm);
  await turn();
  expect(asked.filter((text) => text === "common")).toHaveLength(1);
  await drain();
});

test("a query that nobody waits for any more is not embedded", async () => {
  const { embedder, asked, release } = newEmbedder(1);
  const vectors = new QueryVectors(embedder, outgoing);
  const all = Array.from({ length: 20 }, (_, i) => vectors.get(`late ${i}`, calm));
  await Promise.all(all);
  release();
  await turn();
  expect(asked).toHaveLength(3);
});
