import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createMemories, embedded, embedders, newAgent, searchByMeaning } from "./lib/memories.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { newWorld } from "./lib/world.ts";

const FILE = join(import.meta.dirname, "lib/people.txt");
/** The least share of questions whose fact is the first result. */
const TARGET = 0.8;

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
const groups: [string, (asked: Asked) => boolean][] = [
  ["all", () => true],
  ["English", ({ language }) => language === "English"],
  ["German", ({ language }) => language === "German"],
  ["half for thresholds", ({ isMeasured }) => !isMeasured],
  ["other half", ({ isMeasured }) => isMeasured],
];

/**
 * Whether search finds a team's facts for questions in other words, and says `no_match` for those that no fact answers.
 * Half of the questions, every second one, is for setting thresholds; the other half tells whether they hold.
 */
export const peoplePart: Part = {
  name: "people",
  title: "Facts of a team, asked for in other words",
  note:
    "`bench/lib/people.txt`; the bundled embedder is English. A false `no_match` is one for a question with an\n" +
    "answer, a missing one a result for a question without.",
  async run() {
    const rows: Row[] = [];
    for (const [embedder, settings] of await embedders()) {
      const all = await ask(settings);
      for (const asked of all) if (!isRight(asked)) progress(`  ${line(asked)}`);
      const answerable = all.filter(({ wanted }) => wanted !== null);
      const met = answerable.filter(isRight).length >= TARGET * answerable.length;
      const goal = { target: `hit@1 ≥ ${TARGET * 100} %`, met };
      rows.push(
        ...groups.map(([what, isOf], i) => ({
          what: `${embedder}: ${what}`,
          figure: figures(all.filter(isOf)),
          ...(i === 0 && goal),
        })),
      );
    }
    return rows;
  },
};

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

async function ask(settings: Record<string, string>): Promise<Asked[]> {
  const world = await newWorld(settings);
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
        const results = await searchByMeaning(client, { query: question, limit: 5 });
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

function isRight({ wanted, found }: Asked): boolean {
  return wanted === null ? found.length === 0 : found[0] === wanted;
}

function line({ question, wanted, found, score }: Asked): string {
  return `${score.toFixed(2)}  ${wanted ?? "none"}  ${found.join(" ")}  ${question}`;
}
