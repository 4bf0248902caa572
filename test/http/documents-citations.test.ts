import { describe, expect, test } from "@jest/globals";
import { chunksOf, finished, fixtureFile, ingest, itself, textFile } from "../support/documents.ts";
import type { Api } from "../support/http.ts";
import { makeCast, memory, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);

type Found = { document_id: string; ingestion_source_id: string };

const chunkOf = async (who: Api, document: Found, at = 0) => ok(await who.get(chunksOf(document))).chunks[at];
const about = { source_type: "document_chunk", scope: "institutional" };
const fromChunk = (source_id: string) => ({ ...about, source_id });
const citations = async (who: Api, id: string) => ok(await who.get(`/memories/${id}/citations`));

test("a memory derived from a chunk cites its passage", async () => {
  const document = await ingest(cast.alice, fixtureFile("manual.pdf", "application/pdf"));
  const chunk = await chunkOf(cast.alice, document, 2);
  const { id } = await remember(cast.alice, fromChunk(chunk.chunk_id));
  const cited = {
    ...{ document_id: document.document_id, document_name: "manual.pdf", page: 3 },
    ...{ snippet: chunk.text.slice(0, 300), source_id: document.ingestion_source_id, confidence: 1 },
    ...{ version: 1, freshness: { stale: false, stale_since: null } },
  };
  expect(await citations(cast.carol, id)).toEqual({ citations: [cited], total: 1 });
});

test.each(["document", "document_chunk"])(
  "a memory cites a document by its id as a %s",
  async (source_type) => {
    const document = await ingest(cast.alice, fixtureFile("manual.pdf", "application/pdf"));
    const { text } = await chunkOf(cast.alice, document);
    const of = (source_id: string) => ({ source_type, source_id, scope: "institutional" });
    const { id } = await remember(cast.alice, of(document.document_id.toUpperCase()));
    expect((await citations(cast.carol, id)).citations).toEqual([
      expect.objectContaining({
        ...{ document_id: document.document_id, page: null, snippet: text.slice(0, 300) },
        freshness: { stale: false, stale_since: null },
      }),
    ]);
    const fields = { sensitivity: "restricted" };
    const secret = await ingest(cast.alice, textFile(`For ${source_type} only.`, fields));
    for (const unseen of [secret.document_id, "DMS-4711"]) {
      const answer = await cast.carol.post("/memories", memory(of(unseen)));
      if (source_type === "document") expect((await citations(cast.carol, ok(answer).id)).total).toBe(0);
      else await refused(answer, "validation_error", { field: "source_id", value: unseen });
    }
  },
);

test("a merged memory has the citations of both, each once", async () => {
  const document = await ingest(cast.alice, fixtureFile("manual.pdf", "application/pdf"));
  const made = async (at: number) =>
    (await remember(cast.alice, fromChunk((await chunkOf(cast.alice, document, at)).chunk_id))).id;
  const kept = await made(0);
  for (const other of [await made(0), await made(1)]) {
    const pair = { memory_a_id: kept, memory_b_id: other };
    const { id } = ok(await cast.alice.post("/memories/merge-proposals", pair));
    ok(await cast.orgAdmin.post(`/memories/merge-proposals/${id}/resolve`, { surviving_memory_id: kept }));
  }
  const pages = (await citations(cast.alice, kept)).citations.map(({ page }: { page: number }) => page);
  expect(pages).toEqual([1, 2]);
});

describe("a citation is stale", () => {
  test("from when its document is superseded", async () => {
    const filename = "terms.txt";
    const first = await ingest(cast.alice, textFile("Payment within ten days.", { filename }));
    const { id } = await remember(cast.alice, fromChunk((await chunkOf(cast.alice, first)).chunk_id));
    await ingest(cast.alice, textFile("Payment within twenty days.", { filename }));
    await settle(async () => (await finished(cast.alice, first.document_id)).status === "superseded");
    const freshness = { stale: true, stale_since: expect.any(String) };
    const expected = expect.objectContaining({ snippet: "Payment within ten days.", version: 1, freshness });
    expect((await citations(cast.alice, id)).citations).toEqual([expected]);
  });

  test("from when its document is deleted", async () => {
    const document = await ingest(cast.alice, textFile("It closes at noon."));
    const { id } = await remember(cast.alice, fromChunk((await chunkOf(cast.alice, document)).chunk_id));
    ok(await cast.alice.del(itself(document)));
    expect((await citations(cast.alice, id)).citations).toEqual([
      expect.objectContaining({
        ...{ document_id: document.document_id, document_name: document.filename },
        ...{ snippet: "It closes at noon.", freshness: { stale: true, stale_since: expect.any(String) } },
      }),
    ]);
  });
});

test("a citation does not reveal a team's document", async () => {
  const document = await ingest(cast.alice, textFile("The code is 4711.", { sensitivity: "restricted" }));
  const { chunk_id } = await chunkOf(cast.alice, document);
  const { id } = await remember(cast.alice, fromChunk(chunk_id));
  expect((await citations(cast.bob, id)).total).toBe(1);
  expect(await citations(cast.carol, id)).toEqual({ citations: [], total: 0 });
  const refused = await cast.carol.post("/memories", memory(fromChunk(chunk_id)));
  expect(refused).toMatchObject(refusal(400, "validation_error", { field: "source_id" }));
  ok(await cast.alice.del(itself(document)));
  expect((await citations(cast.bob, id)).total).toBe(1);
  expect((await citations(cast.carol, id)).total).toBe(0);
});
