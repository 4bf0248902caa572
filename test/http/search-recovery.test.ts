import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { newCli } from "../support/cli.ts";
import { damage } from "../support/damage.ts";
import { startEmbedder } from "../support/embedder.ts";
import type { Api } from "../support/http.ts";
import { memory, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { use, useServer } from "../support/use.ts";
import { whole } from "../support/whole.ts";

const embedder = use(await startEmbedder());
/** With a clock that a restart may find ahead, and a model that it may find changed. */
const env: Record<string, string> = {
  ...{ OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url },
  NODE_OPTIONS: `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`,
};
const server = await useServer({ env });
const agent = await firstAgent(server);
afterEach(() => embedder.behave({ holds: false, by: null }));

const search = async (query: string, by: Api = agent) => ok(await by.post("/memories/search", { query }));
const find = async (query: string, by?: Api) => (await search(query, by)).results;
const hasVector = async (query: string, by?: Api) => (await find(query, by))[0]?.sources.vector !== undefined;

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

test("as long as a damaged index is being made again an answer says that it is not of all there is", async () => {
  for (let batch = 0; batch < 6; batch++) {
    const memories = Array.from({ length: 500 }, (_, i) => memory({ content: `eel ${batch} ${i}` }));
    ok(await agent.post("/memories/batch", { memories }));
  }
  const { id } = await remember(agent, { content: "the last one is a lamprey" });
  await server.end();
  await damage(join(server.dataDir, "search.db"), (page) => page > 1);
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

const [crowded, calm] = await Promise.all([makeWorld(server, "crowded"), makeWorld(server, "calm")]);
const gap = async (by: Api) => ok(await by.get("/memories/health")).embed_gap_count as number;
const embedded = (by: Api) => settle(async () => (await gap(by)) === 0, { what: "every vector" });

test("a new memory has its vector within a round, however much another tenant has left to embed", async () => {
  const [batches, batch] = [4, 500];
  embedder.behave({ holds: true });
  for (let b = 0; b < batches; b++) {
    // No two are near-duplicates.
    const memories = Array.from({ length: batch }, (_, i) =>
      memory({ title: `t${b}x${i}`, content: `crowd u${b}x${i} v${b}x${i} w${b}x${i}` }),
    );
    ok(await crowded.agent.post("/memories/batch", { memories }));
  }
  await remember(calm.agent, { content: "a calm note" });
  embedder.behave({ holds: false });
  await Promise.all([embedded(calm.agent), embedded(crowded.agent)]);
  const order = embedder.texts.filter((text) => /crowd|calm/.test(text));
  expect(order.length).toBeGreaterThan(batches * batch);
  expect(order.findIndex((text) => text.includes("calm"))).toBeLessThan((batches * batch) / 2);
});

test("a text that the embedder refuses is set aside and named, and holds up no other tenant", async () => {
  const isPoison = (text: string) => text.includes("poison");
  embedder.behave({
    by: async (texts) => (texts.some(isPoison) ? [] : texts.map(() => new Array(64).fill(1))),
  });
  await remember(crowded.agent, { content: "poison" });
  await remember(calm.agent, { content: "something new" });
  await embedded(calm.agent);
  await embedded(crowded.agent);
  const refused = /"kept":0.*the embedder refused a text: it is found by words only/;
  await settle(() => refused.test(server.logs()));
});

test("another model recomputes all vectors, and search works by words meanwhile", async () => {
  const { id } = await remember(calm.agent, { content: "the dugong grazes at noon" });
  await settle(() => hasVector("dugong noon", calm.agent), { what: "the vector" });
  await server.end();
  embedder.behave({ holds: true, dims: 32 });
  env.EMBEDDER_MODEL = "another";
  await server.restart();
  const left = await settle(() => gap(calm.agent), { what: "vectors to recompute" });
  expect(await search("dugong noon", calm.agent)).toMatchObject({
    degraded: true,
    results: [{ memory: { id } }],
  });
  const { api_key } = server.credentials.agent;
  await using cli = newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: api_key });
  expect((await cli.run(["doctor"])).out).toMatch(/! memories \d+ memories wait for the embedder/);
  embedder.behave({ holds: false });
  await settle(async () => (await gap(calm.agent)) === 0, { what: `vectors for all ${left}` });
  expect((await whole(() => search("dugong noon", calm.agent))).results[0]).toMatchObject({
    memory: { id },
    sources: { vector: expect.any(Number) },
  });
});
