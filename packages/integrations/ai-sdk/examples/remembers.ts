/** A model that knows in one conversation what was said in another. The model is a mock, so that no provider is needed. */
import { generateText, wrapLanguageModel } from "ai";
import { memoryMiddleware, sensoriumMCP } from "ai-sdk-sensorium";
import { createClient } from "sensorium";
import { repeatingModel } from "./model.ts";

const model = wrapLanguageModel({
  model: repeatingModel(),
  middleware: memoryMiddleware(createClient(), { save: true }),
});
await generateText({ model, prompt: "I drink green tea in the morning." });
const { text } = await generateText({ model, prompt: "What do I drink in the morning?" });
console.log(text.includes("green tea") ? "it knows the tea" : text);

const mcp = await sensoriumMCP({ tools: "remember" });
console.log("memories_search" in (await mcp.tools()) ? "and has the tools" : "and has no tools");
await mcp.close();
