/** An agent that remembers with the server's tools. Its model is scripted, so that no provider is needed. */
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { sensoriumMCP } from "openai-agents-sensorium";

const url = process.env.SENSORIUM_URL ?? "http://127.0.0.1:3000";
const apiKey = process.env.SENSORIUM_API_KEY ?? "";
setTracingDisabled(true);

const model = new ScriptedModel([
  [functionCall("memories_create", { content: "Ada drinks green tea" }, { callId: "1" })],
  [functionCall("memories_search", { query: "What does Ada drink?" }, { callId: "2" })],
  modelResponder(({ request }) => [
    assistantMessage(
      JSON.stringify(request.input).includes("Ada drinks green tea") ? "green tea" : "I forgot",
    ),
  ]),
]);
const tools = sensoriumMCP({ url, apiKey, tools: "remember" });
await tools.connect();
const agent = new Agent({ name: "Assistant", model, mcpServers: [tools] });
console.log((await run(agent, "What does Ada drink?")).finalOutput);
await tools.close();
