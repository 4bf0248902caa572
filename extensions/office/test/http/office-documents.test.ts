import { expect, test } from "@jest/globals";
import { newAgent } from "../../../../test/support/agents.ts";
import { chunksOf, fixtureFile, ingest } from "../../../../test/support/documents.ts";
import { makeWorld, ok } from "../../../../test/support/tenancy.ts";
import { useShared } from "../../../../test/support/use.ts";
import { DOCX, PPTX, XLSX } from "../office-files.ts";

const server = await useShared();
const { admin } = await makeWorld(server, "office");
const ann = await newAgent(server, admin, ["memory:read", "memory:write"]);

test.each([
  ["manual.docx", DOCX, null],
  ["festival.pptx", PPTX, 1],
  ["inventory.xlsx", XLSX, 1],
])("%s is stored", async (name, type, page_number) => {
  const document = await ingest(ann, fixtureFile(name, type));
  expect(document).toMatchObject({ status: "stored", error: null });
  expect(ok(await ann.get(chunksOf(document))).chunks[0]).toMatchObject({ chunk_index: 0, page_number });
});
