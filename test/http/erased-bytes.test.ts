import { expect, test } from "@jest/globals";
import { MemoryErasureModel } from "../../services/remember/memories/memories.model.ts";
import { openStore } from "../../storage/connection.ts";
import { cloudEvent } from "../support/agents.ts";
import { chunksOf, ingest, textFile } from "../support/documents.ts";
import { api } from "../support/http.ts";
import { heldIn, marker } from "../support/kept-bytes.ts";
import { agentIn, type Cast, makeCast, memory, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const keyed = () => ({ "idempotency-key": marker() });

const env = { RATE_LIMIT_PER_MINUTE: "0", OPERATOR_TOKEN, BACKUP_RETENTION_DAYS: "14" };
const server = await useServer({ env });
const cast = await makeCast(server);

const gap = async (of: Cast) => ok(await of.orgAdmin.get("/memories/health")).embed_gap_count;

test("leaves nothing of memories and documents in any file", async () => {
  const { alice, bob, orgAdmin } = cast;
  const subject = marker();
  const texts = {
    ...{ subject, title: marker(), content: marker(), metadata: marker(), tag: marker(), before: marker() },
    ...{ long: marker(), batch: marker(), filename: marker(), file: marker(), gist: marker() },
  };
  const about = { metadata: { subject, note: texts.metadata }, scope: "institutional" };
  const given = memory({ ...about, title: texts.title, content: texts.before, tags: [texts.tag] });
  const { id } = ok(await alice.post("/memories", given, keyed()));
  ok(await alice.patch(`/memories/${id}`, { content: `${texts.content} is what it says.` }, keyed()));
  await remember(alice, { ...about, content: `${texts.long} ${"and so on ".repeat(2000)}` });
  const many = Array.from({ length: 10 }, (_, i) =>
    memory({ ...about, title: `Number ${i}`, content: `${texts.batch} ${"long ".repeat(6000)}` }),
  );
  // Its answer is kept as a blob.
  ok(await alice.post("/memories/batch", { memories: many }, keyed()));
  const fields = { filename: `${texts.filename}.txt`, subject };
  const document = await ingest(alice, textFile(`The text says ${texts.file}. `.repeat(300), fields));
  const [chunk] = ok(await alice.get(chunksOf(document))).chunks;
  const source = { source_type: "document_chunk", source_id: chunk.chunk_id };
  await remember(bob, { ...source, content: texts.gist });
  ok(await bob.post("/bundles", { query: texts.title }));
  ok(await bob.post("/handoffs", { name: "on", summary: "As it is.", citations: [{ memory_id: id }] }));
  await settle(async () => (await gap(cast)) === 0, { within: 60_000, what: "all vectors" });
  expect((await heldIn(server.dataDir, texts)).length).toBeGreaterThan(10);

  const done = ok(await orgAdmin.post("/memories/erase", { subject }));
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
  expect(done.erased).toMatchObject({ memories: 13, documents: 1, bundles: 1, handoffs: 1 });
  const until = new Date(Date.parse(done.erased_at) + 14 * 86_400_000).toISOString();
  expect(done).toMatchObject({ storage: "rewritten", backups_until: until });
  await server.restart();
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
});

test("leaves what others have: the same file, the same words", async () => {
  const { alice, bob, orgAdmin } = cast;
  const [subject, text] = [marker(), marker()];
  const mine = await ingest(alice, textFile(`Says ${text}.`, { subject }));
  const theirs = await ingest(bob, { ...textFile(`Says ${text}.`), filename: "theirs.txt" });
  const kept = await remember(bob, { content: text });
  ok(await orgAdmin.post("/memories/erase", { subject }));
  expect((await alice.get(`/documents/${mine.document_id}`)).status).toBe(404);
  expect(ok(await bob.get(chunksOf(theirs))).chunks[0].text).toContain(text);
  expect(ok(await bob.get(`/memories/${kept.id}`)).content).toBe(text);
  const held = await heldIn(server.dataDir, { text });
  // Both share one copy of the file's bytes.
  expect(held.filter((each) => /[0-9a-f]{64}$/.test(each))).toHaveLength(1);
});

test("leaves nothing of documents that are being read at the time", async () => {
  const { alice, orgAdmin } = cast;
  const texts = { subject: marker(), file: marker() };
  for (const i of [1, 2, 3]) {
    const file = textFile(`${i} says ${texts.file}. `.repeat(20_000), { subject: texts.subject });
    ok(await alice.post("/documents", file));
  }
  const done = ok(await orgAdmin.post("/memories/erase", { subject: texts.subject }));
  expect(done.erased.documents).toBe(3);
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
  await server.restart();
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
});

test("leaves no answer that was given to an erased agent", async () => {
  const { orgAdmin } = cast;
  const made = await agentIn(server, orgAdmin, { name: "leaving" });
  const texts = { note: marker() };
  ok(await made.post("/memories", memory({ metadata: { note: texts.note } }), keyed()));
  ok(await orgAdmin.post("/memories/erase", { agent_id: made.id }));
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
});

test("that was cut off is finished after the next start", async () => {
  const { alice } = cast;
  const texts = { subject: marker(), title: marker() };
  const { id } = await remember(alice, { title: texts.title, metadata: { subject: texts.subject } });
  const { tenant_id } = server.credentials;
  await server.end();
  const store = await openStore({ DATA_DIR: server.dataDir });
  const target = JSON.stringify({ subject: texts.subject });
  const times = { begun_at: new Date(), lease_ends_at: new Date(Date.now() + 600_000) };
  const erasure = { _id: "era_cut", tenant_id, target, batch: [], by: "{}", ...times };
  await store.collection(MemoryErasureModel).insert(erasure);
  await store.close();
  await server.restart();
  await settle(async () => (await heldIn(server.dataDir, texts)).length === 0);
  expect((await alice.get(`/memories/${id}`)).status).toBe(404);
  // The entry follows the removal of the bytes.
  const latest = async () => ok(await cast.orgAdmin.get("/audit?action=memories.erase&limit=1")).entries[0];
  await settle(async () => (await latest()).actor_kind === "service");
  expect((await latest()).details).toMatchObject({ erased: { memories: 1 } });
});

test("of a tenant leaves nothing of it in any file", async () => {
  const operator = api(server, OPERATOR_TOKEN);
  const gone = await makeWorld(server, "gone");
  const texts = {
    ...{ title: marker(), content: marker(), agent: marker(), event: marker(), file: marker() },
    ...{ email: marker(), team: marker() },
  };
  const { admin } = gone;
  ok(await admin.post("/agents", { name: texts.agent, delivery_mode: "poll" }, keyed()));
  ok(await admin.post("/teams", { name: texts.team }));
  ok(await admin.post("/users", { email: `${texts.email}@gone.example` }, keyed()));
  const fields = { title: texts.title, content: texts.content, scope: "institutional" };
  ok(await admin.post("/memories", memory(fields), keyed()));
  ok(await gone.agent.post("/events", cloudEvent("one", { data: { text: texts.event } }), keyed()));
  await ingest(admin, textFile(texts.file));
  expect((await heldIn(server.dataDir, texts)).length).toBeGreaterThan(6);
  const done = ok(await operator.del(`/tenants/${gone.tenant_id}`));
  expect(await heldIn(server.dataDir, texts)).toEqual([]);
  expect(done).toMatchObject({ storage: "rewritten", backups_until: expect.any(String) });
});
