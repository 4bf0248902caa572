/** @needs multilingual */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { agentIn, memory } from "../support/memories.ts";
import { PREFIXES, startMultilingual } from "../support/multilingual.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { whole } from "../support/whole.ts";

interface Facts {
  title: string;
  memories: string[];
  questions: [question: string, answer: number][];
  unanswerable: string[];
}

const FACTS: Record<string, Facts> = JSON.parse(
  readFileSync(join(import.meta.dirname, "../fixtures/four-languages.json"), "utf8"),
);
/** Of eight questions in other words, those whose answer is among the first two, less one for another processor. */
const LEAST_FOUND: Record<string, number> = { German: 6, Spanish: 3, Hebrew: 4, Chinese: 7 };

const agents = new Map<string, Api>();

const embedder = await startMultilingual();
const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url, EMBEDDER_MODEL: "e5", ...PREFIXES };
const server = await startServer({ env });
const admin = await firstAgent(server);
for (const [language, { title, memories }] of Object.entries(FACTS))
  agents.set(language, await remembering(language, title, memories));
const gap = async () => ok(await admin.get("/memories/health")).embed_gap_count as number;
const embedded = () => settle(async () => (await gap()) === 0, { what: "every vector", within: 60_000 });
await embedded();
afterAll(async () => {
  await server.stop();
  await embedder.stop();
});

async function remembering(name: string, title: string, contents: string[]): Promise<Api> {
  const agent = await agentIn(server, admin, { name });
  const memories = contents.map((content) => memory({ title, content }));
  const { results } = ok(await agent.post("/memories/batch", { memories }));
  expect(results.map(({ status }: { status: number }) => status)).toEqual(contents.map(() => 201));
  return agent;
}

const agentOf = (language: string) => agents.get(language) as Api;

async function search(agent: Api, query: string): Promise<string[]> {
  const { results } = await whole(async () => ok(await agent.post("/memories/search", { query })));
  return results.map((result: { memory: { content: string } }) => result.memory.content);
}

describe.each(Object.entries(FACTS))("in %s", (language, { memories, questions, unanswerable }) => {
  test("finds answers in other words", async () => {
    const found: string[] = [];
    for (const [question, answer] of questions)
      if ((await search(agentOf(language), question)).slice(0, 2).includes(memories[answer] as string))
        found.push(question);
    expect(found.length).toBeGreaterThanOrEqual(LEAST_FOUND[language] as number);
  });

  test("says that nothing matches", async () => {
    const answered: string[][] = [];
    for (const question of unanswerable) answered.push(await search(agentOf(language), question));
    expect(answered.filter(({ length }) => length > 0).length).toBeLessThanOrEqual(1);
  });
});

test("takes equal statements for duplicates, and others of the same form for others", async () => {
  const same = "Die Heizung im Lager wird am Freitag gewartet.";
  const agent = await remembering("duplicates", "Notiz", [
    same,
    same,
    "El equipo de ventas se reúne los martes por la mañana.",
    "El equipo de compras se reúne los jueves por la tarde.",
    "צוות המכירות נפגש בכל יום שלישי בבוקר.",
    "צוות הרכש נפגש בכל יום רביעי בערב.",
  ]);
  await embedded();
  const proposals = await settle(async () => {
    const { merge_proposals } = ok(await agent.get("/memories/merge-proposals"));
    return merge_proposals.length > 0 && merge_proposals;
  });
  expect(proposals).toEqual([expect.objectContaining({ similarity: expect.any(Number) })]);
  expect(proposals[0].similarity).toBeGreaterThan(0.99);
});

test("the model gets each text with its prefix", () => {
  const bare = embedder.texts.filter((text) => !/^(query|passage): ./.test(text));
  expect(bare).toEqual([]);
});
