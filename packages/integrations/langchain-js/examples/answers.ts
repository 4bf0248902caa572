/** A chain that answers from memories. The model is a fake, so that no provider is needed: it repeats its prompt. */
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnableLambda, RunnablePassthrough } from "@langchain/core/runnables";
import { FakeChatModel } from "@langchain/core/utils/testing";
import { MemoryRetriever, sensoriumMCP } from "langchain-sensorium";
import { createClient } from "sensorium";

// One tool call, as a model makes it.
const mcp = sensoriumMCP({ tools: "remember" });
const tools = await mcp.getTools();
const create = tools.find(({ name }) => name === "memories_create");
await create?.invoke({ content: "Parcels over 30 kg go by freight" });
await mcp.close();

const retriever = new MemoryRetriever({ client: createClient() });
const chain = RunnablePassthrough.assign({
  notes: RunnableLambda.from(({ question }: { question: string }) => question)
    .pipe(retriever)
    .pipe((found) => found.map(({ pageContent }) => pageContent).join("\n")),
})
  .pipe(ChatPromptTemplate.fromTemplate("Answer from these notes: {notes}\n{question}"))
  .pipe(new FakeChatModel({}))
  .pipe(new StringOutputParser());

console.log(await chain.invoke({ question: "How do heavy parcels travel?" }));
