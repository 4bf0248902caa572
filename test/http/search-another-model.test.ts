import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { startEmbedder } from "../support/embedder.ts";
import { agentToken, api } from "../support/http.ts";
import { remember } from "../support/memories.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { whole } from "../support/whole.ts";

test("another model recomputes all vectors, and search works by words meanwhile", async () => {
  const embedder = await startEmbedder();
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url } });
  const agent = await firstAgent(server);
  const { id } = await remember(agent, { content: "the dugong grazes at noon" });
  const hasVector = async () =>
    ok(await agent.post("/memories/search", { query: "dugong noon" })).results[0]?.sources.vector !==
    undefined;
  await settle(hasVector, { what: "the vector" });
  await server.end();
  embedder.behave({ holds: true, dims: 32 });
  const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url, EMBEDDER_MODEL: "another" };
  const other = await startServer({ env, dataDir: server.dataDir });
  try {
    const same = api(other, await agentToken(other, other.credentials.agent.api_key));
    const gap = async () => ok(await same.get("/memories/health")).embed_gap_count as number;
    const left = await settle(gap, { what: "vectors to recompute" });
    const search = async () => ok(await same.post("/memories/search", { query: "dugong noon" }));
    expect(await search()).toMatchObject({ degraded: true, results: [{ memory: { id } }] });
    embedder.behave({ holds: false });
    await settle(async () => (await gap()) === 0, { what: `vectors for all ${left}` });
    expect((await whole(search)).results[0]).toMatchObject({
      memory: { id },
      sources: { vector: expect.any(Number) },
    });
  } finally {
    await other.stop();
    await server.stop();
    await embedder.stop();
  }
});
