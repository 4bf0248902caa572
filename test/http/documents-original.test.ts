import { expect, test } from "@jest/globals";
import { createClient } from "../../packages/client/index.ts";
import { newAgent, type TestAgent } from "../support/agents.ts";
import { finished, fixtureFile, ingest, textFile } from "../support/documents.ts";
import { ABSENT, makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "originals");
const ann = await newAgent(server, world.admin, ["memory:read", "memory:write"]);
// The admin who makes an agent owns it, and would read what is its own.
ok(await world.admin.patch(`/agents/${ann.id}`, { owner_user_id: null }));
const bob = await newAgent(server, world.admin, ["memory:read", "memory:write"]);

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

test("a failed document is processed again, from its original, by its uploader and admins", async () => {
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
});

test("only failed documents can be tried again", async () => {
  const { document_id } = await ingest(ann, textFile());
  const answer = await ann.post(`/documents/${document_id}/retry`);
  await refused(answer, "conflict", { existing_resource_id: document_id });
  expect(answer.body.error.message).toContain("stored");
});
