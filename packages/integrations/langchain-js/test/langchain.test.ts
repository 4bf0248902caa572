/** @needs frameworks */
import { expect, test } from "@jest/globals";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { type ClientAgent, newClient, runProgram } from "../../../../test/support/integrations.ts";
import { settle } from "../../../../test/support/settle.ts";
import { useShared } from "../../../../test/support/use.ts";
import { DocumentRetriever, MemoryRetriever, sensoriumMCP } from "../src/index.ts";

const server = await useShared("local");

const fact = { type: "semantic", scope: "agent" } as const;

async function upload({ client }: ClientAgent, filename: string, text: string): Promise<string> {
  const file_content = Buffer.from(text).toString("base64");
  const { document_id = "" } = await client.documents.upload({
    filename,
    mime_type: "text/markdown",
    file_content,
  });
  await settle(async () => (await client.documents.get({ document_id })).status === "stored");
  return document_id;
}

test("memories are retrieved with what is known about them, the best first", async () => {
  const { client } = await newClient(server);
  const content = "ACME pays invoices within 14 days";
  const metadata = { customer: "acme" };
  const { id } = await client.memories.create({
    title: "Terms",
    content,
    ...fact,
    tags: ["billing"],
    metadata,
  });
  await client.memories.create({ title: "Tea", content: "Ada drinks green tea", ...fact });
  const [first] = await new MemoryRetriever({ client }).invoke("When does ACME pay its invoices?");
  expect(first).toMatchObject({
    id,
    pageContent: content,
    metadata: { title: "Terms", type: "semantic", scope: "agent", tags: ["billing"], metadata },
  });
  expect(first?.metadata.score).toBeGreaterThan(0);
  const tagged = new MemoryRetriever({ client, search: { tags: ["billing"], limit: 1 } });
  expect((await tagged.invoke("green tea, invoices")).map((found) => found.id)).toEqual([id]);
  expect(await tagged.batch(["invoices", "ACME"])).toEqual([[expect.anything()], [expect.anything()]]);
});

test("passages of documents are retrieved with their place", async () => {
  const agent = await newClient(server);
  const document_id = await upload(agent, "tea.md", "# Tea\n\nGreen tea is brewed at seventy degrees.");
  const [passage] = await new DocumentRetriever({ client: agent.client }).invoke(
    "How hot is the water for green tea?",
  );
  expect(passage).toMatchObject({
    pageContent: expect.stringContaining("seventy degrees"),
    metadata: { document_id, filename: "tea.md", version_num: 1, char_offset: 0, page_number: null },
  });
});

test("a retriever is a step of a chain", async () => {
  const { client } = await newClient(server);
  await client.memories.create({ title: "Freight", content: "Parcels over 30 kg go by freight", ...fact });
  const prompts: string[] = [];
  const chain = new MemoryRetriever({ client })
    .pipe((found) => ({ notes: found.map(({ pageContent }) => pageContent).join() }))
    .pipe(ChatPromptTemplate.fromTemplate("Answer from: {notes}"))
    .pipe((prompt) => {
      prompts.push(prompt.toString());
      return prompt;
    })
    .pipe(new FakeListChatModel({ responses: ["By freight."] }))
    .pipe(new StringOutputParser());
  expect(await chain.invoke("How do heavy parcels travel?")).toBe("By freight.");
  expect(prompts).toEqual([expect.stringContaining("Parcels over 30 kg go by freight")]);
});

test("a refusal of the server reaches the caller", async () => {
  const { client } = await newClient(server);
  const wrong = new MemoryRetriever({ client, search: { limit: 5000 } });
  await expect(wrong.invoke("anything")).rejects.toMatchObject({ code: "validation_failed", status: 400 });
});

test("the tools are those of the server, which names what is wrong with a call", async () => {
  const agent = await newClient(server);
  const mcp = sensoriumMCP({ ...agent, tools: "remember" });
  try {
    const tools = await mcp.getTools();
    const named = (name: string) => tools.find((tool) => tool.name === name);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["memories_create", "documents_search"]),
    );
    await named("memories_create")?.invoke({ content: "Ada drinks green tea" });
    expect(JSON.stringify(await named("memories_search")?.invoke({ query: "tea" }))).toContain(
      "Ada drinks green tea",
    );
    await expect(named("memories_search")?.invoke({ query: "tea", limit: 5000 })).rejects.toThrow(/limit/);
  } finally {
    await mcp.close();
  }
});

test("the example", async () => {
  const printed = await runProgram(
    "packages/integrations/langchain-js/examples/answers.ts",
    await newClient(server),
  );
  expect(printed).toContain(
    "Answer from these notes: Parcels over 30 kg go by freight\nHow do heavy parcels travel?",
  );
});
