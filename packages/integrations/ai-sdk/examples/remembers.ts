/** A model that knows in one conversation what was said in another. The model is a mock, so that no provider is needed. */
import { generateText, wrapLanguageModel } from "ai";
import { memoryMiddleware, sensoriumMCP } from "ai-sdk-sensorium";
import { createClient } from "sensorium";
import { repeatingModel } from "./model.ts";

const url = process.env.SENSORIUM_URL ?? "http://127.0.0.1:3000";
const apiKey = process.env.SENSORIUM_API_KEY ?? "";

const model = wrapLanguageModel({
  model: repeatingModel(),
  middleware: memoryMiddleware(createClient({ url, apiKey }), { save: true }),
});
await generateText({ model, prompt: "I drink green tea in the morning." });
const { text } = await generateText({ model, prompt: "What do I drink in the morning?" });
console.log(text.includes("green tea") ? "it knows the tea" : text);

const mcp = await sensoriumMCP({ url, apiKey, tools: "remember" });
console.log("memories_search" in (await mcp.tools()) ? "and has the tools" : "and has no tools");
await mcp.close();
