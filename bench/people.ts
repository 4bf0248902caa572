/**
 * `npm run bench:people`: whether search finds a team's facts for questions in other words, and says `no_match` for
 * those that no fact answers. Half of the questions, every second one, is for setting thresholds; the other half tells
 * whether they hold.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./lib/http.ts";
import { createMemories, embedded, newAgent } from "./lib/memories.ts";
import { newWorld } from "./lib/world.ts";

const MOST_TRIES = 20;
const FILE = join(import.meta.dirname, "lib/people.txt");

interface Asked {
  question: string;
  language: "English" | "German";
  isMeasured: boolean;
  /** Null: no fact answers it. */
  wanted: string | null;
  found: string[];
  /** Of the first. */
  score: number;
}

const [facts = [], questions = [], unanswerable = []] = sectionsOf(readFileSync(FILE, "utf8"));
const all = await ask();
const groups: [string, (asked: Asked) => boolean][] = [
  ["all", () => true],
  ["English", ({ language }) => language === "English"],
  ["German", ({ language }) => language === "German"],
  ["half for thresholds", ({ isMeasured }) => !isMeasured],
  ["other half", ({ isMeasured }) => isMeasured],
];
for (const [name, isOf] of groups) process.stdout.write(`${name.padEnd(20)}  ${figures(all.filter(isOf))}\n`);
if (process.argv.includes("--list")) for (const asked of all) process.stdout.write(`${line(asked)}\n`);

/** Returns the lines of each section, split into their columns. */
function sectionsOf(text: string): string[][][] {
  const sections = text.split(/^#.*\n/m).slice(1);
  return sections.map((section) =>
    section
      .trim()
      .split("\n")
      .map((row) => row.split(" | ")),
  );
}

async function ask(): Promise<Asked[]> {
  const world = await newWorld();
  const client = await newAgent(world, "team");
  try {
    const memories = facts.map(([, title, content]) => ({
      title,
      content,
      type: "semantic",
      scope: "agent",
    }));
    const ids: string[] = [];
    // One after the other: which is newer counts.
    for (const memory of memories) ids.push(...(await createMemories(client, [memory])));
    const names = new Map(ids.map((id, i) => [id, facts[i]?.[0] as string]));
    await embedded(world);
    const asked: Asked[] = [];
    for (const part of [questions, unanswerable])
      for (const [i, [wanted = "-", question = ""]] of part.entries()) {
        const results = await search(client, question);
        asked.push({
          question,
          language: i < part.length / 2 ? "English" : "German",
          isMeasured: i % 2 === 1,
          wanted: wanted === "-" ? null : wanted,
          found: results.map(({ memory }: { memory: { id: string } }) => names.get(memory.id) as string),
          score: results[0]?.score ?? 0,
        });
      }
    return asked;
  } finally {
    client.close();
    await world.stop();
  }
}

/** Searches again while the embedder is late: words alone are not what is measured. */
async function search(client: Client, query: string) {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { results, degraded } = await client.send("POST", "/memories/search", { query, limit: 5 });
    if (!degraded) return results;
  }
  throw new Error(`no vector for "${query}"`);
}

function figures(asked: Asked[]): string {
  const answerable = asked.filter(({ wanted }) => wanted !== null);
  const others = asked.filter(({ wanted }) => wanted === null);
  const share = (of: Asked[], isSo: (asked: Asked) => boolean) => `${of.filter(isSo).length} of ${of.length}`;
  return [
    `hit@1 ${share(answerable, ({ wanted, found }) => found[0] === wanted)}`,
    `hit@5 ${share(answerable, ({ wanted, found }) => found.includes(wanted as string))}`,
    `false no_match ${share(answerable, ({ found }) => found.length === 0)}`,
    `missing no_match ${share(others, ({ found }) => found.length > 0)}`,
  ].join(", ");
}

function line({ question, wanted, found, score }: Asked): string {
  const place = wanted === null ? found.length === 0 : found[0] === wanted;
  return `${place ? " " : "!"} ${score.toFixed(2)}  ${wanted ?? "none"}  ${found.join(" ")}  ${question}`;
}
