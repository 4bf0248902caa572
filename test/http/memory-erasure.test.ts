import { createPublicKey } from "node:crypto";
import { expect, test } from "@jest/globals";
import jwt from "jsonwebtoken";
import { cloudEvent } from "../support/agents.ts";
import { chunksOf, foundBy, ingest, textFile } from "../support/documents.ts";
import { type Api, api } from "../support/http.ts";
import { agentIn, remember as make, makeCast, memory } from "../support/memories.ts";
import { ABSENT, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

// Its own: an erasure waits for the writes and the pages of all others.
const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const cast = await makeCast(server);

const remember = async (caller: Api, more = {}): Promise<string> => (await make(caller, more)).id;
const erase = (body: object, caller: Api = cast.orgAdmin) => caller.post("/memories/erase", body);
const statusOf = async (caller: Api, id: string) => (await caller.get(`/memories/${id}`)).status;
const audit = async (query = "") => ok(await cast.orgAdmin.get(`/audit?${query}`)).entries;

/** Verifies a receipt with the service's published keys and returns its claims. */
async function readReceipt(receipt: string) {
  const { keys } = ok(await api({ url: server.root }).get("/.well-known/jwks.json"));
  const decoded = jwt.decode(receipt, { complete: true });
  const jwk = keys.find((key: { kid: string }) => key.kid === decoded?.header.kid);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return jwt.verify(receipt, key, { algorithms: ["ES256"], audience: "sensorium-receipt" }) as object;
}

test("an agent's memories go with all that hangs on them, and a receipt and the audit log say so", async () => {
  const { bob, orgAdmin } = cast;
  const agent = await agentIn(server, cast.admin, {});
  const scope = "institutional";
  const [a, b] = [await remember(agent, { scope }), await remember(agent)];
  const forgotten = await remember(agent);
  const other = await remember(bob, { scope });
  ok(await bob.get("/memories/findings?mark_read=false"));
  for (const target of [b, other]) {
    const edge = { target_memory_id: target, relationship_type: "supports" };
    ok(await agent.post(`/memories/${a}/relationships`, edge));
  }
  ok(await bob.post("/memories/merge-proposals", { memory_a_id: other, memory_b_id: a }));
  ok(await bob.post(`/memories/${a}/cite`));
  ok(await agent.post(`/memories/${forgotten}/forget`));
  const expected = {
    ...{ memories: 3, relationships: 2, merge_proposals: 1, findings: 1, citations: 1 },
    ...{ bundles: 0, handoffs: 0, documents: 0, chunks: 0, schedules: 0, approvals: 0 },
  };

  const dry = ok(await erase({ agent_id: agent.id, dry_run: true }));
  const nothing = { erased_at: null, storage: null, backups_until: null, receipt: null };
  expect(dry).toEqual({ dry_run: true, erased: expect.objectContaining(expected), ...nothing });
  expect(await statusOf(agent, a)).toBe(200);

  const done = ok(await erase({ agent_id: agent.id }));
  expect(done).toMatchObject({ dry_run: false, erased_at: expect.any(String), erased: expected });
  expect(await readReceipt(done.receipt)).toMatchObject({
    ...{ erased: done.erased, erased_at: done.erased_at, by: { agent_id: agent.id } },
    ...{ storage: done.storage, backups_until: null },
    memory_ids_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  for (const id of [a, b, forgotten]) expect(await statusOf(agent, id)).toBe(404);
  expect(await statusOf(bob, other)).toBe(200);
  expect(ok(await bob.get(`/memories/${other}/relationships`)).count).toBe(0);
  const { findings } = ok(await cast.carol.get("/memories/findings?mark_read=false&limit=50"));
  expect(findings.map((each: { memory_id: string }) => each.memory_id)).not.toContain(a);

  const [entry] = await audit("action=memories.erase");
  expect(entry).toMatchObject({
    ...{ actor_kind: "user", actor_id: expect.stringMatching(/^usr_/), resource_type: "memory" },
    details: { by: { agent_id: agent.id }, erased: done.erased },
  });
  expect(ok(await orgAdmin.post("/memories/erase", { agent_id: agent.id })).erased).toMatchObject({
    memories: 0,
    relationships: 0,
  });
});

test("erases ids of any owner and status; others stay", async () => {
  const { alice, carol } = cast;
  const [mine, theirs, old] = [await remember(alice), await remember(carol), await remember(alice)];
  const next = await remember(alice, { supersedes_id: old });
  const { erased } = ok(await erase({ ids: [theirs, next, ABSENT] }));
  expect(erased).toMatchObject({ memories: 2, relationships: 1 });
  expect([await statusOf(carol, theirs), await statusOf(alice, next)]).toEqual([404, 404]);
  expect(await statusOf(alice, mine)).toBe(200);
  // The memory that the erased one superseded stays superseded, without naming it.
  expect(ok(await alice.get(`/memories/${old}`))).toMatchObject({
    status: "superseded",
    superseded_by: null,
  });
});

test("the memories of a subject are erased, and the log does not name it", async () => {
  const { alice, bob, admin } = cast;
  const subject = "person-4711";
  const { event_id } = ok(await admin.post("/events", cloudEvent("about", { subject })));
  const about = [
    await remember(alice, { metadata: { subject } }),
    await remember(bob, { metadata: { subject, more: 1 }, scope: "institutional" }),
    await remember(bob, { source_event_id: event_id }),
    await remember(bob, { source_event_id: "about" }),
  ];
  const others = [await remember(alice, { metadata: { subject: "person-4712" } }), await remember(alice)];
  ok(await alice.patch(`/memories/${others[1]}`, { metadata: { subject } }));
  ok(await alice.patch(`/memories/${others[1]}`, { metadata: null }));
  const { erased } = ok(await erase({ subject }));
  expect(erased.memories).toBe(4);
  expect([await statusOf(alice, about[0] as string), await statusOf(bob, about[2] as string)]).toEqual([
    404, 404,
  ]);
  for (const id of others) expect(await statusOf(alice, id)).toBe(200);
  expect(JSON.stringify(await audit())).not.toContain(subject);
});

test.each<[string, string, unknown]>([
  ["a number", "4714", 4714],
  ["one of several", "anna", ["bert", "anna"]],
  ["written with accents apart", "Jose\u0301", "José"],
  ["written with accents in one", "Zoë", "Zoe\u0308"],
])("a subject is erased that metadata has as %s", async (_, subject, given) => {
  const { alice } = cast;
  const made = await remember(alice, { metadata: { subject: given } });
  const document =
    typeof given === "string" && (await ingest(alice, textFile(undefined, { subject: given })));
  const { erased } = ok(await erase({ subject }));
  expect(erased).toMatchObject({ memories: 1, documents: document ? 1 : 0 });
  expect(await statusOf(alice, made)).toBe(404);
});

test("a subject is one field of memories and documents", async () => {
  const alice = await agentIn(server, cast.admin, {});
  const subject = "person-4718";
  const own = ok(await alice.post("/memories", memory({ subject, metadata: { a: 1 } })));
  expect(own).toMatchObject({ subject, metadata: { a: 1, subject } });
  const batch = { memories: [memory({ subject, metadata: { subject: ["x", "y"] } })] };
  const [{ memory: several }] = ok(await alice.post("/memories/batch", batch)).results;
  expect(several).toMatchObject({ subject: "x", metadata: { subject: ["x", "y", subject] } });
  const changed = await remember(alice, { metadata: { subject: "someone else", a: 1 } });
  expect(ok(await alice.patch(`/memories/${changed}`, { subject }))).toMatchObject({
    subject,
    metadata: { a: 1, subject },
  });
  // What was read is written back, and nobody's name is lost.
  const { metadata } = ok(await alice.get(`/memories/${changed}`));
  expect(ok(await alice.patch(`/memories/${changed}`, { subject: null, metadata })).subject).toBe(subject);
  const cleared = await remember(alice, { subject });
  expect(ok(await alice.patch(`/memories/${cleared}`, { subject: null }))).toMatchObject({
    subject: null,
    metadata: {},
  });
  const put = (content: string, more = {}) => alice.put("/memories/keys/notes/one", { content, ...more });
  const keyed = ok(await put("Kept under a key.", { subject }));
  await ingest(alice, textFile(undefined, { subject }));
  const { erased } = ok(await erase({ subject }));
  expect(erased).toMatchObject({ memories: 4, documents: 1 });
  expect(await statusOf(alice, cleared)).toBe(200);
  // Nothing leads to the erased memory: its key is given to a new one.
  expect(ok(await put("Something else.")).id).not.toBe(keyed.id);
});

test("a memory from an event about a subject keeps that subject despite later metadata", async () => {
  const { alice, admin } = cast;
  const subject = "person-4715";
  ok(await admin.post("/events", cloudEvent("about 4715", { subject })));
  const made = await remember(alice, { source_event_id: "about 4715", metadata: { subject } });
  ok(await alice.patch(`/memories/${made}`, { metadata: { note: "The subject is left out." } }));
  expect(ok(await erase({ subject })).erased.memories).toBe(1);
});

test("a subject's documents go with their chunks and with what was remembered from them", async () => {
  const { alice, bob } = cast;
  const subject = "person-4713";
  const file = textFile("The numbat lives in Perth.", { filename: "numbat.txt", subject });
  const document = await ingest(alice, file);
  expect(document.subject).toBe(subject);
  await ingest(alice, textFile(undefined, { subject }));
  const other = await ingest(alice, textFile("The numbat lives elsewhere."));
  const [chunk] = ok(await alice.get(chunksOf(document))).chunks;
  const made = await remember(bob, { source_type: "document_chunk", source_id: chunk.chunk_id });
  const winner = await remember(bob);
  const { id } = ok(await bob.post("/memories/merge-proposals", { memory_a_id: winner, memory_b_id: made }));
  ok(await cast.orgAdmin.post(`/memories/merge-proposals/${id}/resolve`, { surviving_memory_id: winner }));
  const counts = { documents: 2, chunks: 2, memories: 2 };
  expect(ok(await erase({ subject, dry_run: true })).erased).toMatchObject(counts);
  expect(await foundBy(alice, "numbat")).toContain("numbat.txt");
  const done = ok(await erase({ subject }));
  expect(done.erased).toMatchObject(counts);
  expect(await readReceipt(done.receipt)).toMatchObject({ erased: done.erased });
  expect((await alice.get(`/documents/${document.document_id}`)).status).toBe(404);
  expect(await foundBy(alice, "numbat")).toEqual([other.filename]);
  for (const each of [made, winner]) expect(await statusOf(bob, each)).toBe(404);
  expect(ok(await erase({ subject })).erased).toMatchObject({ documents: 0, chunks: 0, memories: 0 });
  // The same file can be uploaded again.
  expect((await alice.post("/documents", file)).status).toBe(202);
});

test("no path, stored answer or rebuilt index contains erased memories", async () => {
  const agent = await agentIn(server, cast.admin, {});
  const secret = "xylophonequartz";
  const headers = { "idempotency-key": "erase-me" };
  const given = { title: secret, content: `${secret} again`, type: "semantic", scope: "institutional" };
  const { id } = ok(await agent.post("/memories", given, headers));
  const found = ok(
    await cast.bob.post("/memories/search", { query: secret }, { "idempotency-key": "found" }),
  );
  expect(found.results).toHaveLength(1);
  ok(await erase({ ids: [id] }));
  expect(ok(await cast.bob.post("/memories/search", { query: secret })).results).toEqual([]);
  for (const caller of [agent, cast.bob])
    expect(ok(await caller.get(`/memories?search=${secret}`)).memories).toEqual([]);
  // A retry neither creates nor returns it again.
  await refused(agent.post("/memories", given, headers), "conflict", { existing_resource_id: id });
  const repeated = await cast.bob.post("/memories/search", { query: secret }, { "idempotency-key": "found" });
  expect(ok(repeated).results).toEqual([]);
});

test.each([
  ["nothing named", {}, 400, "validation_error"],
  ["two things named", { subject: "s", ids: [ABSENT] }, 400, "validation_error"],
  ["no ids", { ids: [] }, 400, "validation_failed"],
  ["a malformed id", { ids: ["x"] }, 400, "validation_error"],
  ["an empty subject", { subject: "" }, 400, "validation_failed"],
  ["an absent agent", { agent_id: "ag_absent" }, 404, "not_found"],
])("refusals erase nothing %s", async (_, body, status, code) => {
  const id = await remember(cast.alice);
  const entries = (await audit()).length;
  expect(await erase(body)).toMatchObject(refusal(status, code));
  expect(await statusOf(cast.alice, id)).toBe(200);
  expect(await audit()).toHaveLength(entries);
});
