import { afterAll, afterEach, expect, test } from "@jest/globals";
import { startEmbedder } from "../support/embedder.ts";
import type { Api } from "../support/http.ts";
import { memory, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const BATCHES = 4;
const BATCH = 500;

const embedder = await startEmbedder();
const env = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url };
const server = await useServer({ env });
const [crowded, calm] = await Promise.all([makeWorld(server, "crowded"), makeWorld(server, "calm")]);
afterAll(() => embedder.stop());
afterEach(() => embedder.behave({ status: 200, holds: false, by: null }));

const gap = async (by: Api) => ok(await by.get("/memories/health")).embed_gap_count as number;
const embedded = (by: Api) => settle(async () => (await gap(by)) === 0, { what: "every vector" });

test("a new memory has its vector within a round, however much another tenant has left to embed", async () => {
  embedder.behave({ holds: true });
  for (let batch = 0; batch < BATCHES; batch++) {
    // No two are near-duplicates.
    const memories = Array.from({ length: BATCH }, (_, i) =>
      memory({ title: `t${batch}x${i}`, content: `crowd u${batch}x${i} v${batch}x${i} w${batch}x${i}` }),
    );
    ok(await crowded.agent.post("/memories/batch", { memories }));
  }
  await remember(calm.agent, { content: "a calm note" });
  embedder.behave({ holds: false });
  await Promise.all([embedded(calm.agent), embedded(crowded.agent)]);
  const order = embedder.texts.filter((text) => /crowd|calm/.test(text));
  expect(order.length).toBeGreaterThan(BATCHES * BATCH);
  expect(order.findIndex((text) => text.includes("calm"))).toBeLessThan((BATCHES * BATCH) / 2);
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
  expect(server.logs()).toMatch(/"kept":0.*the embedder refused a text: it is found by words only/);
});
