import { afterAll, expect, test } from "@jest/globals";
import { newAgent } from "../../../../test/support/agents.ts";
import { chunksOf, ingest, textFile } from "../../../../test/support/documents.ts";
import { serving } from "../../../../test/support/serving.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

const sent: string[] = [];
const converter = await serving(async (request, response) => {
  const chunks = await request.toArray();
  const page = Buffer.concat(chunks).toString();
  sent.push(page);
  response.writeHead(page.includes("Fog") ? 500 : 200);
  response.end("<p>Tide</p><p>High at six.</p>");
});
afterAll(converter.close);
const settings = { DOCUMENT_CONVERTER_URL: converter.url, DOCUMENT_CONVERTER: "tika" };
const server = await useServer({
  env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", ...settings },
});
const { admin } = await makeWorld(server, "converted");
const ann = await newAgent(server, admin, ["memory:read", "memory:write"]);

async function stored(html: string) {
  const document = await ingest(ann, textFile(html, { mime_type: "text/html" }));
  const { chunks } = ok(await ann.get(chunksOf(document)));
  return [document.status, chunks.map(({ text }: { text: string }) => text).join("\n"), document.losses];
}

test("a document that is not read completely is converted", async () => {
  expect(await stored("<p>Tide</p><img src=six.png>")).toEqual(["stored", "Tide\n\nHigh at six.", []]);
  expect(await stored("<p>Ebb</p>")).toEqual(["stored", "Ebb", []]);
  expect(sent).toEqual(["<p>Tide</p><img src=six.png>"]);
});

test("what a failing converter leaves is read here, and it is said", async () => {
  const lost = { kind: "picture", place: "text", count: 1 };
  const place = "the converter failed: the converter responded with 500";
  expect(await stored("<p>Fog</p><img src=fog.png>")).toEqual([
    ...["stored", "Fog"],
    [lost, { kind: "conversion", place, count: 1 }],
  ]);
});
