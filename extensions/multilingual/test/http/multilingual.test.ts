/** @needs multilingual @alone: the process of a server. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { firstAgent } from "../../../../test/support/agents.ts";
import type { Api } from "../../../../test/support/http.ts";
import { agentIn, memory } from "../../../../test/support/memories.ts";
import { MULTILINGUAL } from "../../../../test/support/multilingual.ts";
import { ownFolder } from "../../../../test/support/own-folder.ts";
import { pythonOf } from "../../../../test/support/python.ts";
import { startServer } from "../../../../test/support/server.ts";
import { settle } from "../../../../test/support/settle.ts";
import { ok } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";
import { whole } from "../../../../test/support/whole.ts";

interface Facts {
  title: string;
  memories: string[];
  questions: [question: string, answer: number][];
  unanswerable: string[];
}

const FACTS: Record<string, Facts> = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../test/fixtures/four-languages.json"), "utf8"),
);
/** Of eight questions in other words, those whose answer is among the first two, less one for another processor. */
const LEAST_FOUND: Record<string, number> = { German: 6, Spanish: 3, Hebrew: 4, Chinese: 7 };

const agents = new Map<string, Api>();

const environment = join(pythonOf(MULTILINGUAL), "../..");
const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "multilingual", MULTILINGUAL_DIR: environment };
const server = await useServer({ env });
const admin = await firstAgent(server);
for (const [language, { title, memories }] of Object.entries(FACTS))
  agents.set(language, await remembering(language, title, memories));
const gap = async () => ok(await admin.get("/memories/health")).embed_gap_count as number;
const embedded = () => settle(async () => (await gap()) === 0, { what: "every vector", within: 60_000 });
await embedded();

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

/** Process ids of the models that a server runs. */
const models = (pid: number) =>
  globSync(`/proc/${pid}/task/*/children`)
    .flatMap((file) => readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number))
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("embedder.py"));

const isGone = (pid: number) => !existsSync(`/proc/${pid}`);

test("a model that ends is started again, and counts as memory", async () => {
  const [model] = models(server.pid());
  expect(await server.metrics()).toMatch(/embedder_memory_bytes\{[^}]*of="multilingual"[^}]*\} [1-9]\d{7}/);
  process.kill(model as number, "SIGKILL");
  const agent = await remembering("after", "Notiz", ["Der Aufzug wird im Oktober ersetzt."]);
  await embedded();
  expect(await search(agent, "Wann wird der Aufzug ersetzt?")).toEqual([
    "Der Aufzug wird im Oktober ersetzt.",
  ]);
  expect(models(server.pid())).not.toContain(model);
});

test("a model ends with a server that is killed", async () => {
  const [model] = models(server.pid());
  await server.kill();
  await settle(() => isGone(model as number));
  await server.restart();
});

test("without the environment a start says how to get it", async () => {
  const nowhere = join(await ownFolder(), "nowhere");
  const starting = startServer({ env: { EMBEDDER: "multilingual", MULTILINGUAL_DIR: nowhere } });
  await expect(starting).rejects.toThrow(
    `EMBEDDER is multilingual, but ${nowhere} does not have it: run \`npm run embedder -- add multilingual\``,
  );
});
