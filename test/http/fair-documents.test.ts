import { expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { finished, ingest, textFile } from "../support/documents.ts";
import type { Api } from "../support/http.ts";
import { endlessPdf } from "../support/pdf.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const SCOPES = ["memory:read", "memory:write"];
const SLOW = 6;
/** So long that nothing else takes as long, so short that a test sees a few of them end. */
const DOCUMENT_PARSE_SECONDS = "8";
let made = 0;

const env = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", DOCUMENT_PARSE_SECONDS };
const server = await useServer({ env });
const [crowded, calm] = await Promise.all([makeWorld(server, "crowded"), makeWorld(server, "calm")]);
const attacker = await newAgent(server, crowded.admin, SCOPES);

async function uploadSlow(by: Api, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const file_content = endlessPdf(`${++made}`).toString("base64");
    const file = { file_content, filename: `${made}.pdf`, mime_type: "application/pdf" };
    ids.push(ok(await by.post("/documents", file)).document_id);
  }
  return ids;
}

async function statuses(by: Api, ids: string[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => ok(await by.get(`/documents/${id}`)).status));
}

test("documents that take long to read hold up nobody in another tenant", async () => {
  const ids = await uploadSlow(attacker, SLOW);
  await settle(async () => (await statuses(attacker, ids)).includes("chunking"));
  const stored = await ingest(calm.agent, textFile("A note of somebody else."));
  expect(stored.status).toBe("stored");
  // Not even the first of them has come to its end.
  const others = await statuses(attacker, ids);
  expect(others.filter((status) => status === "chunking")).toHaveLength(1);
  expect(others.filter((status) => status === "queued")).toHaveLength(SLOW - 1);
});

test("within a tenant, others go before the rest of one agent's slow documents", async () => {
  const ids = await uploadSlow(attacker, SLOW);
  const other = await newAgent(server, crowded.admin, SCOPES);
  expect((await ingest(other, textFile("A note of a colleague."))).status).toBe("stored");
  expect(await statuses(attacker, ids)).toContain("queued");
});

test("a document that takes too long fails with the limit", async () => {
  const { error } = await finished(calm.agent, (await uploadSlow(calm.agent, 1))[0] as string);
  expect(error).toBe(`The file takes longer than ${DOCUMENT_PARSE_SECONDS} s to parse.`);
});
