import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { chunksOf, finished, foundBy, textFile } from "../support/documents.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const agent = await firstAgent(server);

/** Returns text for many chunks, each with a unique word. */
const longText = (name: string, paragraphs: number) =>
  Array.from(
    { length: paragraphs },
    (_, at) => `${name}${at} ${"and so it goes on and on. ".repeat(40)}`,
  ).join("\n\n");

test("documents accepted before a SIGKILL are parsed after it, once", async () => {
  const files = ["quagga", "okapi", "dugong"].map((name) =>
    textFile(longText(name, 400), { filename: name }),
  );
  const accepted: string[] = await Promise.all(
    files.map(async (file) => ok(await agent.post("/documents", file)).document_id),
  );
  // In the middle of one of them, or after the first: the states between may pass between two looks.
  await settle(async () => {
    const { documents } = ok(await agent.get("/documents"));
    return documents.some(({ status }: { status: string }) => status !== "queued");
  });
  await server.kill();
  await server.restart();
  for (const document_id of accepted) {
    const document = await finished(agent, document_id);
    expect(document).toMatchObject({ status: "stored", error: null });
    const { chunks, total } = ok(await agent.get(chunksOf(document, "&limit=100&offset=300")));
    expect(total).toBe(document.chunk_count);
    const answer = chunks.map(({ chunk_index }: { chunk_index: number }) => chunk_index);
    expect(answer).toEqual(chunks.map((_: unknown, at: number) => 300 + at));
    expect((await foundBy(agent, `${document.filename}321`))[0]).toBe(document.filename);
  }
  for (const file of files) expect((await agent.post("/documents", file)).status).toBe(200);
});

test("a deletion that was answered holds after a SIGKILL", async () => {
  const file = textFile(longText("axolotl", 300), { filename: "axolotl" });
  const document = await finished(agent, ok(await agent.post("/documents", file)).document_id);
  const path = `/documents/${document.document_id}`;
  expect(ok(await agent.del(`${path}?source_id=${document.ingestion_source_id}`)).deleted).toBe(true);
  await server.kill();
  await server.restart();
  expect((await agent.get(path)).status).toBe(404);
  expect(await foundBy(agent, "axolotl7")).not.toContain("axolotl");
});
