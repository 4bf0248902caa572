/** A conversation that goes on where the last process left it. The model is scripted, so that no provider is needed. */
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { SensoriumSession, sensoriumMCP } from "openai-agents-sensorium";
import { createClient } from "sensorium";

setTracingDisabled(true);

const model = new ScriptedModel([
  modelResponder(({ request: { input } }) => {
    const count = typeof input === "string" ? 1 : input.length;
    return [assistantMessage(`It is ${count} message${count === 1 ? "" : "s"} long.`)];
  }),
]);
const tools = sensoriumMCP({ tools: "remember" });
await tools.connect();
const agent = new Agent({ name: "Assistant", model, mcpServers: [tools] });
const session = new SensoriumSession(createClient(), { sessionId: "ada" });
console.log((await run(agent, "How long is our conversation?", { session })).finalOutput);
await tools.close();
