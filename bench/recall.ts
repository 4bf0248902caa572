/**
 * `npm run bench:recall -- FILE [--record]`: how much of a question's answer search finds.
 *
 * Each turn of each conversation becomes a memory through the API, each question a search with limit 10. Without a
 * file, a small invented conversation only shows that it works. `--record` writes docs/benchmarks.md.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Conversation, memoryOf, type Question, readConversations } from "./lib/conversations.ts";
import type { Client } from "./lib/http.ts";
import { createMemories, embedded, newAgent } from "./lib/memories.ts";
import { progress, type Row, writeSection } from "./lib/report.ts";
import { meanQuality, type Quality, quality } from "./lib/retrieval.ts";
import { percentile } from "./lib/stats.ts";
import { newWorld, type World } from "./lib/world.ts";

const SAMPLE = join(import.meta.dirname, "lib/sample-conversation.json");
/** Questions of this category ask for something never said; by convention the overall figure excludes them. */
const UNANSWERABLE = 5;
/** The minimum shares of the evidence and of its sessions among the first ten, in percent. */
const TARGET = 82;
const SESSIONS_TARGET = 92;

interface Asked extends Quality {
  category: Question["category"];
  /** Share of the evidence's sessions that have a turn among the first ten. */
  sessions: number;
  ms: number;
  degraded: boolean;
}

const options = process.argv.slice(2);
const file = options.find((option) => !option.startsWith("--"));
if (file && !existsSync(file)) {
  process.stderr.write(`There is no file ${file}.\n`);
  process.exit(1);
}
const conversations = readConversations(file ?? SAMPLE);
if (!file) progress("no file is named: the sample conversation shows that it works, and no more");
const rows = report(await measure(conversations));
if (options.includes("--record")) writeSection({ name: "recall", title: "Recall of conversations" }, rows);

async function measure(all: Conversation[]): Promise<Asked[]> {
  const world = await newWorld();
  try {
    const stored: Stored[] = [];
    for (const conversation of all) stored.push(await remember(world, conversation));
    await embedded(world);
    const asked: Asked[] = [];
    for (const each of stored) {
      asked.push(...(await askAll(each)));
      each.client.close();
      progress(`conversation ${each.conversation.id}: ${each.conversation.questions.length} questions asked`);
    }
    return asked;
  } finally {
    await world.stop();
  }
}

/** A conversation, stored as the memories of a separate agent. */
interface Stored {
  conversation: Conversation;
  client: Client;
  /** Turns by their memory. */
  turns: Map<string, string>;
}

async function remember(world: World, conversation: Conversation): Promise<Stored> {
  const name = `conversation ${conversation.id}`;
  const client = await newAgent(world, name);
  const ids = await createMemories(
    client,
    conversation.turns.map((turn) => memoryOf(conversation, turn)),
  );
  const turns = new Map(ids.map((id, i) => [id, conversation.turns[i]?.id as string]));
  progress(`${name}: ${turns.size} turns remembered`);
  return { conversation, client, turns };
}

async function askAll({ conversation, client, turns }: Stored): Promise<Asked[]> {
  const known = new Set(turns.values());
  const sessionOf = new Map(conversation.turns.map(({ id, session }) => [id, session]));
  const sessionsOf = (ids: Iterable<string>) => new Set([...ids].map((id) => sessionOf.get(id)));
  const asked: Asked[] = [];
  for (const { question, category, evidence } of conversation.questions) {
    const wanted = new Set(evidence.filter((id) => known.has(id)));
    if (wanted.size === 0) continue;
    const start = performance.now();
    const { results, degraded } = await client.send("POST", "/memories/search", {
      query: question,
      limit: 10,
    });
    const ms = performance.now() - start;
    const found = results.map(({ memory }: { memory: { id: string } }) => turns.get(memory.id) as string);
    const sessions = sessionsOf(wanted);
    const reached = sessions.intersection(sessionsOf(found)).size / sessions.size;
    asked.push({ category, ms, degraded, sessions: reached, ...quality(found, wanted) });
  }
  return asked;
}

function report(asked: Asked[]): Row[] {
  const answerable = asked.filter(({ category }) => Number(category) !== UNANSWERABLE);
  const categories = [...Map.groupBy(asked, ({ category }) => String(category))].sort();
  const groups: [string, Asked[]][] = [
    [`without category ${UNANSWERABLE}`, answerable],
    ["all questions", asked],
    ...categories.map(([category, group]): [string, Asked[]] => [`category ${category}`, group]),
  ];
  const rows: Row[] = groups
    .filter(([, group]) => group.length)
    .map(([name, group]) => qualityRow(name, group));
  const times = asked.map(({ ms }) => ms);
  const [p50, p95] = [0.5, 0.95].map((p) => percentile(times, p).toFixed(1));
  rows.push({ what: "p50 / p95 of a search, one at a time", figure: `${p50} / ${p95} ms` });
  rows.push({
    what: "answered without vectors",
    figure: String(asked.filter((each) => each.degraded).length),
  });
  const sessions = (100 * answerable.reduce((sum, each) => sum + each.sessions, 0)) / answerable.length;
  const [first, ...others] = rows as [Row, ...Row[]];
  const met = meanQuality(answerable).recall10 * 100 >= TARGET;
  const marked: Row[] = [
    { ...first, target: `recall@10 ≥ ${TARGET}`, met },
    {
      what: `without category ${UNANSWERABLE}, by session`,
      figure: `recall@10 ${sessions.toFixed(1)}`,
      target: `≥ ${SESSIONS_TARGET}`,
      met: sessions >= SESSIONS_TARGET,
    },
    ...others,
  ];
  for (const { what, figure } of marked) process.stdout.write(`${what.padEnd(36)}  ${figure}\n`);
  return marked;
}

function qualityRow(name: string, group: Asked[]): Row {
  const { recall5, recall10, ndcg10, hit10 } = meanQuality(group);
  const percent = (share: number) => (share * 100).toFixed(1);
  const figure =
    `recall@5 ${percent(recall5)}, recall@10 ${percent(recall10)}, ` +
    `nDCG@10 ${percent(ndcg10)}, hit@10 ${percent(hit10)}`;
  return { what: `${name} (${group.length})`, figure };
}
