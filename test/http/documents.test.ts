import { Agent, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { createClient } from "../../packages/client/index.ts";
import { newAgent, type TestAgent } from "../support/agents.ts";
import { chunksOf, finished, fixtureFile, ingest, textFile } from "../support/documents.ts";
import type { Api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const PDF = "application/pdf";
const ENCRYPTED = "The file is encrypted: upload it without a password.";
const ZIPPED = "The file was declared as a PDF, but seems to be a ZIP archive.";
const SCOPES = ["memory:read", "memory:write"];

const server = await useShared();
const world = await makeWorld(server, "documents");
const ann = await newAgent(server, world.admin, SCOPES);
// The admin who makes an agent owns it, and would read what is its own.
ok(await world.admin.patch(`/agents/${ann.id}`, { owner_user_id: null }));
const bob = await newAgent(server, world.admin, SCOPES);

const find = async (by: Api, query: string, more: object = {}) =>
  ok(await by.post("/documents/search", { query, ...more }));

test("an upload is queued, read, cut into chunks and found", async () => {
  const { status, body } = await ann.post("/documents", fixtureFile("manual.pdf", "application/pdf"));
  const found = [status, body];
  expect(found).toEqual([202, { accepted: true, document_id: expect.any(String), status: "queued" }]);
  const document = await finished(ann, body.document_id);
  expect(document).toEqual({
    ...{ document_id: body.document_id, filename: "manual.pdf", mime_type: "application/pdf" },
    ...{ status: "stored", error: null, losses: [], byte_size: 30221, chunk_count: 3 },
    sensitivity: "internal",
    ...{ audience: { regions: [], industries: [], product_lines: [], segments: [] }, version_num: 1 },
    ...{ subject: null, superseded_by: null, agent_id: ann.id, user_id: null, team_id: null },
    ...{ created_at: expect.any(String), ingested_at: expect.any(String) },
    ...{ ingestion_source_id: expect.any(String), ingestion_source_name: "tester" },
  });
  const { chunks, total } = ok(await ann.get(chunksOf(document)));
  expect([chunks.length, total]).toEqual([3, 3]);
  expect(chunks[2]).toEqual({
    ...{ chunk_id: expect.any(String), document_id: body.document_id, page_number: 3 },
    ...{ char_offset: expect.any(Number), char_length: chunks[2].text.length, chunk_index: 2 },
    ...{ text: expect.stringContaining("Frau Özdemir, extension 4711"), created_at: expect.any(String) },
  });
  const given = ok(await ann.get(chunksOf(document, "&offset=1&limit=1")));
  expect(given).toEqual({ chunks: [chunks[1]], total: 3 });
  const { losses: _, ...listed } = document;
  const answer = await find(ann, "whom to call when the alarm sounds: duty engineer");
  const expected = { no_match: false, degraded: expect.any(Boolean), total_candidates: expect.any(Number) };
  expect(answer).toMatchObject(expected);
  expect(answer.results[0]).toEqual({
    ...{ chunk: chunks[2], document: listed, score: expect.any(Number) },
    sources: expect.objectContaining({ bm25: expect.any(Number) }),
  });
});

test.each([
  ["manual.html", "text/html"],
  ["depths.csv", "text/csv"],
  ["depths.json", "application/json"],
])("%s is stored, without pages", async (name, type) => {
  const given = name.startsWith("depths") && textFile('{"pier": 4}', { filename: name, mime_type: type });
  const document = await ingest(ann, given || fixtureFile(name, type));
  expect(document).toMatchObject({ status: "stored", error: null });
  const [chunk] = ok(await ann.get(chunksOf(document))).chunks;
  expect(chunk).toMatchObject({ chunk_index: 0, page_number: null });
});

test.each([
  ["an encrypted file", fixtureFile("encrypted.pdf", PDF), ENCRYPTED],
  ["a file that lies", textFile("PK\u0003\u0004", { mime_type: PDF }), ZIPPED],
  ["a picture", fixtureFile("picture.pdf", PDF), /^The file contains no text/],
])("unreadable documents fail with a reason: %s", async (_what, file, error) => {
  const document = await ingest(ann, file);
  expect(document).toMatchObject({ status: "failed", chunk_count: 0, ingested_at: null });
  expect(document.error).toMatch(error);
  expect(ok(await ann.get(chunksOf(document)))).toEqual({ chunks: [], total: 0 });
  // A failed document can be uploaded again.
  const again = ok(await ann.post("/documents", file));
  expect(again).toMatchObject({ accepted: true, status: "queued" });
  expect(again.document_id).not.toBe(document.document_id);
  await finished(ann, again.document_id);
});

test("what is not read of a document is listed", async () => {
  const html = '<p>The quay</p><img src="quay.png"><img src="crane.png"><iframe></iframe>';
  const { losses } = await ingest(ann, textFile(html, { mime_type: "text/html" }));
  expect(losses).toEqual([
    { kind: "picture", place: "text", count: 2 },
    { kind: "frame", place: "text", count: 1 },
  ]);
});

test("media types are the same in any case and with parameters, and base64 may have line breaks", async () => {
  const file = textFile("The tide table of the northern pier.");
  const file_content = file.file_content.replace(/.{20}/g, "$&\r\n");
  const document = await ingest(ann, { ...file, file_content, mime_type: "Text/Markdown; charset=UTF-8" });
  const expected = { status: "stored", mime_type: "text/markdown; charset=UTF-8", byte_size: 36 };
  expect(document).toMatchObject(expected);
});

describe("an upload is refused", () => {
  const bad = (field: string, code = "validation_failed") => refusal(400, code, { field });
  test.each<[string, object, object]>([
    ["without bytes", { file_content: undefined }, bad("file_content")],
    ["with other than text", { file_content: 5 }, bad("file_content")],
    ["with a forged reference", { file_content: { hash: "0".repeat(64), size: 1 } }, bad("file_content")],
    ["with no base64", { file_content: "***" }, bad("file_content")],
    ["of another type", { mime_type: "image/png" }, bad("mime_type")],
    ["with an empty file", { file_content: "" }, bad("file_content", "validation_error")],
    ["with an unknown sensitivity", { sensitivity: "secret" }, bad("sensitivity")],
    ["without a name", { filename: " " }, bad("filename")],
    ["into an unknown source", { source_id: ABSENT }, bad("source_id", "validation_error")],
  ])("%s", async (_what, fields, expected) => {
    const file = { ...textFile(), ...fields };
    const before = ok(await ann.get("/documents")).total;
    expect(await ann.post("/documents", file)).toMatchObject(expected);
    expect(ok(await ann.get("/documents")).total).toBe(before);
  });

  test.each([
    ["no base64", { file_content: `***${"A".repeat(1_000_000)}` }, 400],
    ["too much besides the file", { more: "x".repeat(2_000_000) }, 413],
  ])("early, for %s, and its connection serves what comes next", async (_what, more, refused) => {
    const connection = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, body = "") => {
      const headers = { authorization: `Bearer ${ann.token}`, "content-type": "application/json" };
      return new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request(server.url + path, { method, agent: connection, headers }, resolve);
        sent.once("error", reject).end(body);
      });
    };
    try {
      const answer = await send("POST", "/documents", JSON.stringify(textFile("", more)));
      expect([answer.statusCode, await json(answer)]).toEqual([refused, { error: expect.anything() }]);
      expect((await send("GET", "/auth/me")).statusCode).toBe(200);
    } finally {
      connection.destroy();
    }
  });

  test("with its bytes twice: which of them are meant is not guessed", async () => {
    const twice = JSON.stringify(textFile()).replace("{", `{"file_content": "QQ==",`);
    const refused = refusal(400, "validation_failed", { field: "file_content", expected: "one string" });
    expect(await ann.post("/documents", twice)).toMatchObject(refused);
  });

  test("without the permission, in a result", async () => {
    const reader = await newAgent(server, world.admin, ["memory:read"]);
    const { status, body } = await reader.post("/documents", textFile());
    expect([status, body]).toEqual([200, { accepted: false, error_code: "permission_denied" }]);
    expect(ok(await reader.get("/documents?limit=100")).documents.length).toBeGreaterThan(0);
  });

  test("into another agent's source", async () => {
    const { ingestion_source_id: source_id } = await ingest(ann, textFile());
    await refused(bob.post("/documents", textFile(undefined, { source_id })), "forbidden");
    expect((await ann.post("/documents", textFile(undefined, { source_id }))).status).toBe(202);
  });
});

describe("the same", () => {
  test("bytes return the existing document under any filename, and are one document if sent at once", async () => {
    const file = textFile();
    const answers = await Promise.all(Array.from({ length: 6 }, () => ann.post("/documents", file)));
    expect(new Set(answers.map(({ body }) => body.document_id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    const first = await finished(ann, answers[0]?.body.document_id);
    const { status, body } = await ann.post("/documents", { ...file, filename: "other.txt" });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ accepted: true, document_id: first.document_id, status: "stored", existing: true },
      ...{ sensitivity: "internal", audience: first.audience, subject: null },
    });
    expect(ok(await bob.post("/documents", file)).document_id).not.toBe(first.document_id);
  });

  test("Idempotency-Key makes one document", async () => {
    const [file, key] = [textFile(), { "idempotency-key": "upload-1" }];
    const first = await ann.post("/documents", file, key);
    const again = await ann.post("/documents", file, key);
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  test("name supersedes the older document, once the newer is stored", async () => {
    const more = { filename: "prices.txt" };
    const first = await ingest(ann, textFile("Gaskets cost twelve zorkmids.", more));
    const second = await ingest(ann, textFile("Gaskets cost fourteen zorkmids.", more));
    expect([first.version_num, second.version_num]).toEqual([1, 2]);
    await settle(async () => (await finished(ann, first.document_id)).status === "superseded");
    expect(await finished(ann, first.document_id)).toMatchObject({ superseded_by: second.document_id });
    const { results } = await find(ann, "how many zorkmids do gaskets cost");
    const ids = results.map((each: { document: { document_id: string } }) => each.document.document_id);
    expect(ids[0]).toBe(second.document_id);
    expect(ids).not.toContain(first.document_id);
    expect(ok(await ann.get(chunksOf(first))).total).toBe(1);
    // Failed documents supersede nothing.
    await ingest(ann, { ...fixtureFile("encrypted.pdf", "application/pdf"), ...more });
    expect((await finished(ann, second.document_id)).status).toBe("stored");
    // The old bytes are a new version.
    const third = await ingest(ann, textFile("Gaskets cost twelve zorkmids.", more));
    expect(third).toMatchObject({ version_num: 4, status: "stored" });
  });

  test("name with other bytes at once creates versions, and only the newest is not superseded", async () => {
    const more = { filename: "at-once.txt" };
    const files = Array.from({ length: 5 }, (_, n) => textFile(`A sprocket costs ${n} florins.`, more));
    const answers = await Promise.all(files.map((file) => ann.post("/documents", file)));
    const all = await settle(async () => {
      const made = await Promise.all(answers.map(({ body }) => finished(ann, body.document_id)));
      return made.filter(({ status }) => status === "superseded").length === 4 && made;
    });
    expect(all.map(({ version_num }) => version_num).toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect(all.find(({ status }) => status === "stored").version_num).toBe(5);
  });
});

// The original file of a document, and its processing again.

/** The bytes of an answer: `api` reads text. */
async function bytesOf(agent: TestAgent, document_id: string) {
  const headers = { authorization: `Bearer ${agent.token}` };
  const answer = await fetch(`${server.url}/documents/${document_id}/content`, { headers });
  return { headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test.each([
  ["manual.pdf", "application/pdf"],
  ["manual.html", "text/html"],
])(
  "the original of %s is the file byte for byte, and nothing that a browser would run",
  async (name, mime) => {
    const file = fixtureFile(name, mime);
    const { document_id } = await ingest(ann, file);
    const { headers, bytes } = await bytesOf(bob, document_id);
    expect(bytes.equals(Buffer.from(file.file_content, "base64"))).toBe(true);
    expect(headers.get("content-type")).toBe(mime);
    expect(headers.get("content-length")).toBe(String(bytes.length));
    expect(headers.get("content-disposition")).toBe(`attachment; filename=${name}`);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    const [entry] = ok(
      await world.admin.get(`/audit?action=documents.content&resource_id=${document_id}`),
    ).entries;
    expect(entry).toMatchObject({ actor_id: bob.id, resource_type: "document", outcome: "done" });
  },
);

test("an original of JSON is no answer to parse", async () => {
  const file = textFile('{"pier": 4.0}', { filename: "pier.json", mime_type: "application/json" });
  const { document_id } = await ingest(ann, file);
  const client = createClient({ url: server.url, token: ann.token });
  const original = (await client.documents.content({ document_id })) as unknown as Blob;
  expect(await original.text()).toBe('{"pier": 4.0}');
});

test("who cannot read a document cannot download it, or try it again", async () => {
  const { document_id } = await ingest(ann, textFile("For Ann alone.", { sensitivity: "confidential" }));
  expect((await ann.get(`/documents/${document_id}/content`)).body).toBe("For Ann alone.");
  for (const who of [bob, world.admin, world.member, world.agent]) {
    await refused(who.get(`/documents/${document_id}/content`), "not_found");
    await refused(who.post(`/documents/${document_id}/retry`), "not_found");
  }
  const { ingestion_source_id: source } = ok(await ann.get(`/documents/${document_id}`));
  ok(await ann.del(`/documents/${document_id}?source_id=${source}`));
  await refused(ann.get(`/documents/${document_id}/content`), "not_found");
  await refused(ann.get(`/documents/${ABSENT}/content`), "not_found");
});

test("a failed document alone is processed again, from its original, by its uploader and admins", async () => {
  const file = fixtureFile("encrypted.pdf", "application/pdf");
  const { document_id, error } = await ingest(ann, file);
  expect(error).toMatch(/encrypted/);
  const { bytes } = await bytesOf(ann, document_id);
  expect(bytes.equals(Buffer.from(file.file_content, "base64"))).toBe(true);
  await refused(bob.post(`/documents/${document_id}/retry`), "forbidden");
  await refused(world.member.post(`/documents/${document_id}/retry`), "forbidden");
  for (const who of [ann, world.admin]) {
    const again = ok(await who.post(`/documents/${document_id}/retry`));
    expect(again).toMatchObject({ document_id, status: "queued", error: null });
    expect(await finished(ann, document_id)).toMatchObject({ status: "failed", error });
  }
  // Uploaded again, it is another document: only one of the two is processed.
  const other = await ingest(ann, file);
  expect(other.document_id).not.toBe(document_id);
  ok(await ann.post(`/documents/${document_id}/retry`));
  expect(await finished(ann, document_id)).toMatchObject({ status: "failed" });
  const stored = (await ingest(ann, textFile())).document_id;
  const answer = await ann.post(`/documents/${stored}/retry`);
  await refused(answer, "conflict", { existing_resource_id: stored });
  expect(answer.body.error.message).toContain("stored");
});
