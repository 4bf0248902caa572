import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { BundledEmbedder } from "../../connectors/embedders/make.ts";
import { startEmbedder } from "../../test/support/embedder.ts";
import { getPython, pythonOf, requirementsIn } from "../../test/support/python.ts";
import { ToolsUnavailable } from "../../test/support/tools.ts";
import { type Conversation, memoryOf, readConversations } from "./conversations.ts";
import { type Part, progress, type Row } from "./report.ts";
import { meanQuality, type Quality, quality } from "./retrieval.ts";

const SAMPLE = join(import.meta.dirname, "sample-conversation.json");
const RECALL = join(import.meta.dirname, "../recall.ts");
const PROGRAM = join(import.meta.dirname, "memory_peers.py");
const PACKAGES = {
  name: "other memories",
  requirements: requirementsIn("bench/lib/memory-peers-requirements.txt"),
};
/** Questions about what was never said. */
const UNANSWERABLE = 5;

/** Other memories on the same turns and questions as `bench:recall`, with vectors of the same embedder. */
export function memoryPeers(file = SAMPLE): Part {
  const conversations = readConversations(file).map(answerable);
  return {
    name: "memory_peers",
    title: "Recall of conversations, next to other memories",
    note: `The same turns (\`speaker: text\`) and questions, without category ${UNANSWERABLE}, and the bundled embedder for all that take one.`,
    async run() {
      return [await ours(file), ...(await others(conversations))];
    },
  };
}

function answerable(conversation: Conversation): Conversation {
  const known = new Set(conversation.turns.map(({ id }) => id));
  const questions = conversation.questions
    .filter(({ category }) => Number(category) !== UNANSWERABLE)
    .map((question) => ({ ...question, evidence: question.evidence.filter((id) => known.has(id)) }));
  return { ...conversation, questions: questions.filter(({ evidence }) => evidence.length > 0) };
}

async function ours(file: string): Promise<Row> {
  const { stdout } = await promisify(execFile)(process.execPath, [RECALL, file]);
  const [, figure = ""] = /^without category.*? {2,}(recall@5.*)$/m.exec(stdout) ?? [];
  return row("Sensorium", figure);
}

async function others(conversations: Conversation[]): Promise<Row[]> {
  try {
    await getPython(progress, PACKAGES);
  } catch (err) {
    if (!(err instanceof ToolsUnavailable)) throw err;
    return [row("others", `left out: ${err.message}`)];
  }
  const [embedder, bundled] = [await startEmbedder(), new BundledEmbedder()];
  embedder.behave({ by: (texts) => bundled.embedTexts(texts) });
  const folder = mkdtempSync(join(tmpdir(), "sensorium-peers-"));
  try {
    const given = join(folder, "given.json");
    const asked = conversations.map((conversation) => ({
      turns: conversation.turns.map((turn) => ({ id: turn.id, text: textOf(conversation, turn) })),
      questions: conversation.questions.map(({ question }) => question),
    }));
    writeFileSync(given, JSON.stringify({ embedder: embedder.url, conversations: asked }));
    const { stdout } = await promisify(execFile)(pythonOf(PACKAGES), [PROGRAM, given], {
      maxBuffer: 1 << 28,
    });
    return stdout
      .trim()
      .split("\n")
      .map((line) => rowOf(JSON.parse(line), conversations));
  } finally {
    rmSync(folder, { recursive: true });
    await bundled.close();
    await embedder.stop();
  }
}

function textOf(conversation: Conversation, turn: Conversation["turns"][0]): string {
  const { title, content } = memoryOf(conversation, turn);
  return `${title}: ${content}`;
}

interface Printed {
  system: string;
  found?: string[][][];
  failed?: string;
}

function rowOf({ system, found, failed }: Printed, conversations: Conversation[]): Row {
  if (!found) return row(system, `left out: ${failed}`);
  const all = conversations.flatMap(({ questions }, c) =>
    questions.map(({ evidence }, q) => quality(found[c]?.[q] ?? [], new Set(evidence))),
  );
  return row(system, figureOf(all));
}

function figureOf(all: Quality[]): string {
  const { recall5, recall10, ndcg10, hit10 } = meanQuality(all);
  const percent = (share: number) => (share * 100).toFixed(1);
  return `recall@5 ${percent(recall5)}, recall@10 ${percent(recall10)}, nDCG@10 ${percent(ndcg10)}, hit@10 ${percent(hit10)}`;
}

function row(what: string, figure: string): Row {
  progress(`${what}: ${figure}`);
  return { what, figure };
}
