import { expect, test } from "@jest/globals";
import { agentToken, api } from "../support/http.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

test("saved outputs survive a crash complete, and are found even if not yet indexed", async () => {
  await using server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  const agent = api(server, await agentToken(server, server.credentials.agent.api_key));
  const filler = "Nothing of note was said in the meeting of that day. ".repeat(40_000);
  const body = `# Log\n\n${filler}\n\nThe quetzal was seen at noon.`;
  const { id } = ok(await agent.post("/outputs", { body }));
  const { id: old } = ok(await agent.post("/outputs", { body: "# Short\n\nAn axolotl." }));
  ok(await agent.post("/outputs", { output_id: old, body: "# Short\n\nA capybara." }));
  await server.kill();
  await server.restart();
  const after = api(server, await agentToken(server, server.credentials.agent.api_key));
  expect(ok(await after.get(`/outputs/${id}`)).body).toBe(body);
  expect(ok(await after.get(`/outputs/${old}/versions/1`)).body).toBe("# Short\n\nAn axolotl.");
  const found = async (query: string) =>
    ok(await after.post("/outputs/search", { query })).results.map(
      ({ output }: { output: { id: string } }) => output.id,
    );
  await settle(async () => (await found("quetzal at noon"))[0] === id);
  await settle(async () => (await found("capybara")).includes(old));
});

test("whenever it is killed, no output is without its text", async () => {
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  const connect = async () => api(server, await agentToken(server, server.credentials.agent.api_key));
  const bodyOf = (n: number) => `# Output ${n}\n\n${`line ${n} of many\n`.repeat(5000)}`;
  try {
    const answered = new Set<string>();
    for (const upTo of [40, 80]) {
      const agent = await connect();
      const saves = Array.from({ length: 40 }, async (_, i) => {
        const n = upTo - i;
        const { id } = ok(await agent.post("/outputs", { title: String(n), body: bodyOf(n) }));
        answered.add(id);
      });
      await Promise.any(saves);
      await server.kill();
      await Promise.allSettled(saves);
      await server.restart();
    }
    const after = await connect();
    const { outputs } = ok(await after.get("/outputs?limit=200"));
    const ids = new Set(outputs.map(({ id }: { id: string }) => id));
    expect([...answered].filter((id) => !ids.has(id))).toEqual([]);
    for (const { id, title } of outputs) {
      expect(ok(await after.get(`/outputs/${id}`)).body === bodyOf(Number(title))).toBe(true);
    }
  } finally {
    await server.stop();
  }
});
