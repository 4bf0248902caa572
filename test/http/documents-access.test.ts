import { describe, expect, test } from "@jest/globals";
import { receive } from "../support/agents.ts";
import { chunksOf, finished, fixtureFile, foundBy, ingest, itself, textFile } from "../support/documents.ts";
import type { Api } from "../support/http.ts";
import { agentIn, makeCast, memory, remember } from "../support/memories.ts";
import { pagesOf } from "../support/pages.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);

/** Whether a caller meets a document on each path that leads to one; on all of them alike. */
async function meets(
  who: Api,
  document: { document_id: string; ingestion_source_id: string; filename: string },
) {
  const { documents } = ok(await who.get("/documents?limit=100"));
  const paths = [
    documents.some((each: { document_id: string }) => each.document_id === document.document_id),
    (await who.get(`/documents/${document.document_id}`)).status === 200,
    (await who.get(chunksOf(document))).status === 200,
    (await foundBy(who, document.filename.replace(".txt", ""), { limit: 50 })).includes(document.filename),
  ];
  expect(new Set(paths).size).toBe(1);
  return paths[0];
}

describe("who sees a document", () => {
  test.each([
    ["public", ["admin", "alice", "bob", "carol", "member", "orgAdmin", "owner"]],
    ["internal", ["admin", "alice", "bob", "carol", "member", "orgAdmin", "owner"]],
    ["confidential", ["alice", "bob", "orgAdmin", "owner"]],
    ["restricted", ["alice", "bob", "orgAdmin", "owner"]],
  ])("that is %s", async (sensitivity, seers) => {
    const filename = `quarterly-${sensitivity}.txt`;
    const text = `The ${sensitivity} quarterly figures.`;
    const document = await ingest(cast.alice, textFile(text, { sensitivity, filename }));
    const who = ["admin", "alice", "bob", "carol", "member", "orgAdmin", "owner"] as const;
    const seen = await Promise.all(who.map(async (name) => [name, await meets(cast[name], document)]));
    expect(seen.filter(([, sees]) => sees).map(([name]) => name)).toEqual(seers);
  });

  test("that an agent without a team keeps to itself, or a person", async () => {
    const restricted = (filename: string) => ({ sensitivity: "restricted", filename });
    const loner = await agentIn(server, cast.admin, { name: "loner" });
    const agents = await ingest(loner, textFile("An entry in the diary.", restricted("diary.txt")));
    const persons = await ingest(cast.owner, textFile("A page of the journal.", restricted("journal.txt")));
    expect(persons).toMatchObject({ agent_id: null, user_id: expect.stringMatching(/^usr_/), team_id: null });
    expect(persons.ingestion_source_name).not.toMatch(/^usr_/);
    for (const name of ["alice", "bob", "carol", "member", "orgAdmin", "owner"] as const) {
      expect([name, await meets(cast[name], agents)]).toEqual([name, false]);
      expect([name, await meets(cast[name], persons)]).toEqual([name, name === "owner"]);
    }
    expect(await meets(loner, agents)).toBe(true);
  });
});

test("an audience narrows what search returns", async () => {
  const upload = (filename: string, audience: object) =>
    ingest(cast.bob, textFile(`The tariff of ${filename}.`, { filename, audience }));
  await upload("europe.txt", { regions: ["EMEA", "uk"] });
  await upload("asia.txt", { regions: ["apac"], industries: ["Retail"] });
  await upload("everybody.txt", {});
  const find = async (audience?: object) => (await foundBy(cast.alice, "tariff", { audience })).sort();
  expect(await find()).toEqual(["asia.txt", "europe.txt", "everybody.txt"]);
  expect(await find({ regions: [] })).toEqual(["asia.txt", "europe.txt", "everybody.txt"]);
  expect(await find({ regions: ["emea"] })).toEqual(["europe.txt", "everybody.txt"]);
  const answer = await find({ regions: ["EMEA", "APAC"], industries: ["banking"] });
  expect(answer).toEqual(["europe.txt", "everybody.txt"]);
  expect(await find({ regions: ["apac"], industries: ["retail"] })).toEqual(["asia.txt", "everybody.txt"]);
  expect(await find({ segments: ["none"], regions: ["latam"] })).toEqual(["everybody.txt"]);
});

describe("the same bytes again", () => {
  const again = (file: object, more: object) => ({ ...file, ...more });

  test("are as narrow as the narrower request, on every path", async () => {
    const file = textFile("The salary table of the harbour office.", { filename: "salaries.txt" });
    const document = await ingest(cast.alice, file);
    expect(await meets(cast.carol, document)).toBe(true);
    const narrower = again(file, {
      ...{ filename: "other.txt", sensitivity: "restricted", subject: "person-31" },
      audience: { regions: ["EMEA", "apac"] },
    });
    expect(ok(await cast.alice.post("/documents", narrower))).toMatchObject({
      ...{ document_id: document.document_id, existing: true, sensitivity: "restricted" },
      ...{ subject: "person-31", audience: { regions: ["EMEA", "apac"] } },
    });
    expect(await meets(cast.carol, document)).toBe(false);
    expect(await meets(cast.bob, document)).toBe(true);
    await settle(
      async () => (await foundBy(cast.alice, "salary", { audience: { regions: ["latam"] } })).length === 0,
    );
    // Neither a wider request nor one that omits a field widens it.
    const wider = again(file, { sensitivity: "public", audience: { regions: ["emea", "latam"] } });
    expect(ok(await cast.alice.post("/documents", wider))).toMatchObject({
      ...{ sensitivity: "restricted", audience: { regions: ["EMEA"] }, kept: ["sensitivity", "audience"] },
    });
    expect(ok(await cast.alice.post("/documents", file)).kept).toBeUndefined();
    expect(await meets(cast.carol, document)).toBe(false);
  });

  test("are erased by the subject of each request, with what was made from them", async () => {
    const file = textFile("Oskar asked for leave in March.");
    const document = await ingest(cast.bob, file);
    const { chunks } = ok(await cast.bob.get(chunksOf(document)));
    const memory = { title: "Leave", content: "Someone asked for leave.", type: "semantic", scope: "agent" };
    const source = { source_type: "document_chunk", source_id: chunks[0].chunk_id };
    const { id } = ok(await cast.bob.post("/memories", { ...memory, ...source }));
    ok(await cast.bob.post("/documents", again(file, { subject: "person-32" })));
    const other = await cast.bob.post("/documents", again(file, { subject: "person-33" }));
    expect(other).toMatchObject(refusal(409, "conflict", { field: "subject" }));
    const { erased } = ok(await cast.orgAdmin.post("/memories/erase", { subject: "person-32" }));
    expect(erased).toMatchObject({ documents: 1, memories: 1 });
    expect((await cast.bob.get(`/memories/${id}`)).status).toBe(404);
    expect((await cast.bob.get(`/documents/${document.document_id}`)).status).toBe(404);
  });

  test("narrow earlier versions and failed documents too, and those narrow later ones", async () => {
    const filename = "plan.txt";
    const file = textFile("The first plan.", { filename });
    const first = await ingest(cast.alice, file);
    await ingest(cast.alice, textFile("The second plan.", { filename }));
    const third = await ingest(cast.alice, again(file, { sensitivity: "confidential" }));
    expect(third.document_id).not.toBe(first.document_id);
    for (const who of [cast.carol, cast.member]) expect((await who.get(chunksOf(first))).status).toBe(404);
    await ingest(cast.alice, textFile("The fourth plan.", { filename }));
    expect(await ingest(cast.alice, file)).toMatchObject({ sensitivity: "confidential" });
  });

  test("of two teams, or for audiences without a common entry, are refused", async () => {
    const file = textFile("A plan for one region.", { audience: { regions: ["emea"] } });
    await ingest(cast.alice, file);
    const elsewhere = again(file, { audience: { regions: ["apac"] } });
    const refused = refusal(409, "conflict", { field: "audience.regions" });
    expect(await cast.alice.post("/documents", elsewhere)).toMatchObject(refused);
  });
});

describe("a deletion", () => {
  test("takes the document and its chunks from everywhere", async () => {
    const file = textFile("A gauge called Archimedes.", { filename: "gauge.txt" });
    const document = await ingest(cast.alice, file);
    expect(await foundBy(cast.alice, "Archimedes")).toEqual(["gauge.txt"]);
    const { status, body } = await cast.alice.del(itself(document));
    expect([status, body]).toEqual([200, { deleted: true, document_id: document.document_id }]);
    expect(await meets(cast.alice, document)).toBe(false);
    const again = await cast.alice.del(itself(document));
    expect([again.status, again.body]).toEqual([200, { deleted: false, error_code: "not_found" }]);
    // The same bytes can be uploaded again, as a new document.
    const next = await ingest(cast.alice, file);
    expect(next.document_id).not.toBe(document.document_id);
    expect(await foundBy(cast.alice, "Archimedes")).toEqual(["gauge.txt"]);
  });

  test("of a missing document, another's or another source's is a result", async () => {
    const document = await ingest(cast.alice, textFile(undefined, { sensitivity: "restricted" }));
    const absent = [200, { deleted: false, error_code: "not_found" }];
    for (const [who, path] of [
      [cast.alice, itself({ ...document, document_id: ABSENT })],
      [cast.alice, itself({ ...document, ingestion_source_id: ABSENT })],
      [cast.carol, itself(document)],
    ] as const) {
      const { status, body } = await who.del(path);
      expect([status, body]).toEqual(absent);
    }
    expect((await finished(cast.alice, document.document_id)).status).toBe("stored");
  });

  test("is its uploader's or an admin's", async () => {
    const document = await ingest(cast.alice, textFile());
    await refused(cast.bob.del(itself(document)), "forbidden");
    await refused(cast.member.del(itself(document)), "forbidden");
    expect(ok(await cast.owner.del(itself(document))).deleted).toBe(true);
    const hidden = await ingest(cast.alice, textFile(undefined, { sensitivity: "restricted" }));
    expect(ok(await cast.admin.del(itself(hidden))).deleted).toBe(true);
  });
});

describe("chunks and documents", () => {
  test("need the source they are of", async () => {
    const document = await ingest(cast.alice, textFile());
    const answer = await cast.alice.get(chunksOf({ ...document, ingestion_source_id: ABSENT }));
    await refused(answer, "not_found", { resource_type: "source" });
    const found = await cast.alice.get(`/documents/${document.document_id}/chunks`);
    await refused(found, "validation_failed", "source_id");
  });

  test("are listed by the page, newest first, and by source and status", async () => {
    const dora = await agentIn(server, cast.admin, { name: "dora" });
    const made = [];
    for (const at of [1, 2, 3]) made.push(await ingest(dora, textFile(`Page ${at} of Dora.`)));
    const source = `source_id=${made[0].ingestion_source_id}`;
    const list = async (query: string) => {
      const { documents, total } = ok(await cast.bob.get(`/documents?${source}&${query}`));
      return [documents.map((each: { document_id: string }) => each.document_id), total];
    };
    const ids = made.map(({ document_id }) => document_id).reverse();
    expect(await list("")).toEqual([ids, 3]);
    expect(await list("limit=1&offset=1")).toEqual([[ids[1]], 3]);
    expect(await list("status=failed")).toEqual([[], 0]);
    const seen = await pagesOf(cast.bob, `/documents?${source}&limit=2`, "documents", 3);
    expect(seen.map(({ document_id }) => document_id)).toEqual(ids);
    for (const query of ["limit=0", "limit=101", "offset=-1", "status=deleted", "cursor=x"])
      expect((await cast.bob.get(`/documents?${query}`)).status).toBe(400);
  });
});

test("publishes changes of documents to agents that may read them", async () => {
  const listener = (settings: object) =>
    agentIn(server, cast.admin, settings, ["receive", "memory:read", "memory:write"]);
  const inTeam = await listener({ name: "in", team_id: cast.teamA });
  const outside = await listener({ name: "out", team_id: cast.teamB });
  for (const each of [inTeam, outside])
    ok(await each.post(`/agents/${each.id}/interests`, { event_type: "service.document.*" }));
  const secret = await ingest(cast.alice, textFile(undefined, { sensitivity: "restricted" }));
  const open = await ingest(cast.alice, textFile());
  ok(await cast.alice.del(itself(open)));
  const heard = async (by: Api): Promise<{ type: string; subject: string; data: object }[]> =>
    (await receive(by, 0)).map(({ payload }) => payload);
  const all = {
    inTeam: [] as { type: string; subject: string }[],
    outside: [] as { type: string; subject: string }[],
  };
  const gone = (events: { type: string; subject: string }[]) =>
    events.some(({ type, subject }) => type === "service.document.deleted" && subject === open.document_id);
  await settle(async () => {
    all.inTeam.push(...(await heard(inTeam)));
    all.outside.push(...(await heard(outside)));
    return gone(all.inTeam) && gone(all.outside);
  });
  const data = {
    ...{ document_id: secret.document_id, status: "stored", source_id: secret.ingestion_source_id },
    ...{ version_num: 1, superseded_by: null },
  };
  const told = all.inTeam.filter(({ subject }) => subject === secret.document_id);
  expect(told).toEqual([expect.objectContaining({ type: "service.document.stored", data })]);
  expect(all.outside.filter(({ subject }) => subject === secret.document_id)).toEqual([]);
  expect(JSON.stringify(all)).not.toContain("Text number");
});

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
