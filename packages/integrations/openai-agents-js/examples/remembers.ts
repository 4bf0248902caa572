/** A conversation that goes on where the last process left it. The model is scripted, so that no provider is needed. */
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { SensoriumSession, sensoriumMCP } from "openai-agents-sensorium";
import { createClient } from "sensorium";

const url = process.env.SENSORIUM_URL ?? "http://127.0.0.1:3000";
const apiKey = process.env.SENSORIUM_API_KEY ?? "";
setTracingDisabled(true);

const model = new ScriptedModel([
  modelResponder(({ request: { input } }) => {
    const count = typeof input === "string" ? 1 : input.length;
    return [assistantMessage(`It is ${count} message${count === 1 ? "" : "s"} long.`)];
  }),
]);
const tools = sensoriumMCP({ url, apiKey, tools: "remember" });
await tools.connect();
const agent = new Agent({ name: "Assistant", model, mcpServers: [tools] });
const session = new SensoriumSession(createClient({ url, apiKey }), { sessionId: "ada" });
console.log((await run(agent, "How long is our conversation?", { session })).finalOutput);
await tools.close();
