import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { startEmbedder } from "../support/embedder.ts";
import { memory, remember } from "../support/memories.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

/** With a clock that a restart may find ahead. */
const env: Record<string, string> = {
  RATE_LIMIT_PER_MINUTE: "0",
  NODE_OPTIONS: `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`,
};

const embedder = await startEmbedder();
env.EMBEDDER_URL = embedder.url;
const server = await startServer({ env });
const agent = await firstAgent(server);
afterAll(async () => {
  await server.stop();
  await embedder.stop();
});

const find = async (query: string) => ok(await agent.post("/memories/search", { query })).results;
const hasVector = async (query: string) => (await find(query))[0]?.sources.vector !== undefined;

test("an index that is lost is made again, and no vector with it", async () => {
  const { id } = await remember(agent, { content: "the walrus sings at dusk" });
  await settle(() => hasVector("walrus dusk"), { what: "the vector" });
  await server.end();
  for (const end of ["", "-wal", "-shm"]) await rm(join(server.dataDir, `search.db${end}`), { force: true });
  const made = embedder.texts.length;
  await server.restart();
  await settle(() => hasVector("walrus dusk"), { what: "the memory and its vector" });
  expect((await find("walrus dusk"))[0].memory.id).toBe(id);
  expect(embedder.texts.slice(made).filter((text) => text.includes("sings"))).toEqual([]);
});

test("as long as an index is being made an answer says that it is not of all there is", async () => {
  for (let batch = 0; batch < 6; batch++) {
    const memories = Array.from({ length: 500 }, (_, i) => memory({ content: `eel ${batch} ${i}` }));
    ok(await agent.post("/memories/batch", { memories }));
  }
  const { id } = await remember(agent, { content: "the last one is a lamprey" });
  await server.end();
  await rm(join(server.dataDir, "search.db"), { force: true });
  await server.restart();
  const before: unknown[] = [];
  const isFound = async () => {
    const { results, degraded_reasons } = ok(await agent.post("/memories/search", { query: "lamprey" }));
    const found = results[0]?.memory.id === id;
    if (!found) before.push(degraded_reasons);
    return found;
  };
  await settle(isFound, { what: "the last memory", every: 1 });
  const reason = "bm25, vector: the index is being built; only part of it was searched";
  for (const reasons of before) expect(reasons).toContain(reason);
});

test("an index that is made again holds what follows a page of long memories", async () => {
  const words = Array.from({ length: 90 }, (_, i) => `capelin${i}x`);
  const memories = words.map((word) => memory({ content: `${word} ${"swims on and on ".repeat(1900)}` }));
  ok(await agent.post("/memories/batch", { memories: memories.slice(0, 45) }));
  ok(await agent.post("/memories/batch", { memories: memories.slice(45) }));
  await server.end();
  // The latest changes are looked at again in any case.
  env.CLOCK_SKEW_MS = "60000";
  for (const end of ["", "-wal", "-shm"]) await rm(join(server.dataDir, `search.db${end}`), { force: true });
  await server.restart();
  for (const word of [words[0], words[50], words[89]] as string[])
    await settle(async () => (await find(word))[0]?.memory.content.startsWith(word), {
      what: `${word} to be found`,
    });
});

test("every memory that outlives a kill is found", async () => {
  const names = Array.from({ length: 60 }, (_, i) => `narwhal${i}x`);
  const sent = names.map((name) =>
    agent.post("/memories", memory({ content: `${name} dives` })).catch(() => null),
  );
  await Promise.race(sent);
  await server.kill();
  await Promise.all(sent);
  await server.restart();
  const { memories } = ok(await agent.get("/memories?limit=200&search=narwhal"));
  expect(memories.length).toBeGreaterThan(0);
  for (const { id, content } of memories) {
    const [name] = content.split(" ");
    await settle(async () => (await find(name))[0]?.memory.id === id, { what: `${name} to be found` });
  }
});
