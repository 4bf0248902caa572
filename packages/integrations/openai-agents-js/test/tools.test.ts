/** @needs frameworks */
import { expect, jest, test } from "@jest/globals";
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { newClient } from "../../../../test/support/integrations.ts";
import { useShared } from "../../../../test/support/use.ts";
import { sensoriumMCP } from "../src/index.ts";

const server = await useShared("local");
setTracingDisabled(true);

test("an agent has the tools of the server and calls them", async () => {
  const account = await newClient(server);
  const tools = sensoriumMCP({ ...account, tools: "remember" });
  await tools.connect();
  try {
    const model = new ScriptedModel([
      [functionCall("memories_create", { content: "Ada drinks green tea" }, { callId: "1" })],
      [functionCall("memories_search", { query: "tea", limit: 5000 }, { callId: "2" })],
      [assistantMessage("Noted.")],
    ]);
    const agent = new Agent({ name: "Assistant", model, mcpServers: [tools] });
    expect((await run(agent, "I drink green tea")).finalOutput).toBe("Noted.");
    expect(model.firstCall?.request.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["memories_create", "memories_search", "documents_search"]),
    );
    // The model reads what was wrong with its second call.
    expect(JSON.stringify(model.lastCall?.request.input)).toMatch(/limit: expected 1 to \d+, got 5000/);
  } finally {
    await tools.close();
  }
  expect((await account.client.memories.list()).memories[0]?.content).toBe("Ada drinks green tea");
});

test("a key that is not the server's is refused", async () => {
  const tools = sensoriumMCP({ ...(await newClient(server)), apiKey: "ak_live_nobody" });
  // The SDK reports it there, too.
  const log = jest.spyOn(console, "error").mockImplementation(() => {});
  await expect(tools.connect()).rejects.toThrow(/401|unauthorized/i);
  await tools.close();
  log.mockRestore();
});
