import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./lib/http.ts";
import { createMemories, embedded, embedders, newAgent, searchByMeaning } from "./lib/memories.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { newWorld } from "./lib/world.ts";

const SETS = ["museum", "farm"];

interface Result {
  id: string;
  score: number;
  match: string;
}

/** A question, the facts that answer it (none: no fact does), and what was found. */
interface Asked {
  kind: string;
  question: string;
  wanted: string[];
  found: Result[];
}

/**
 * Facts that replace others over half a year, and questions about the present, the past, several facts at once, and what no
 * fact states. The second set was held back: nothing was tuned on it but the score from which a result is likely.
 */
export const factsPart: Part = {
  name: "facts",
  title: "Facts that replace others over half a year",
  note:
    "Weights were chosen on `bench/lib/museum.txt`, and none on `bench/lib/farm.txt`, with the bundled\n" +
    "embedder; the score from which a result is likely, on both. Questions about the past name it in words, or by `as_of`.\n" +
    "Answered means a result with `match: likely`.",
  async run() {
    const rows: Row[] = [];
    for (const [embedder, settings] of await embedders())
      for (const name of SETS) {
        const asked = await ask(name, settings);
        for (const each of asked) if (!isRight(each)) progress(`  ${line(each)}`);
        const kinds = [...Map.groupBy(asked, ({ kind }) => kind)];
        rows.push(...kinds.map(([kind, some]) => row(`${embedder}, ${name}`, kind, some)));
      }
    return rows;
  },
};

async function ask(name: string, settings: Record<string, string>): Promise<Asked[]> {
  const text = readFileSync(join(import.meta.dirname, `lib/${name}.txt`), "utf8");
  const [facts = [], words = [], now = [], past = [], several = [], none = []] = text
    .split(/^#.*\n/m)
    .slice(1)
    .map((section) => section.trim().split("\n"))
    .map((section) => section.map((each) => each.split(" | ")));
  const world = await newWorld(settings);
  const client = await newAgent(world, name);
  try {
    const ids = await remember(client, facts);
    await embedded(world);
    const names = new Map([...ids].map(([fact, id]) => [id, fact]));
    const asked: Asked[] = [];
    const add = async (kind: string, question: string, wanted: string, more: object = {}) => {
      const results = await searchByMeaning(client, { query: question, limit: 5, ...more });
      const found = results.map(({ memory, score, match }: { memory: { id: string } } & Result) => ({
        ...{ id: names.get(memory.id) as string, score, match },
      }));
      asked.push({ kind, question, wanted: wanted === "" ? [] : wanted.split(" "), found });
    };
    for (const [wanted = "", question = ""] of words) await add("in other words", question, wanted);
    for (const [wanted = "", question = ""] of now) await add("what holds now", question, wanted);
    for (const [wanted = "", as_of = "", question = ""] of past) {
      await add("what held, by as_of", question, wanted, { as_of });
      await add("what held, by the question alone", question, wanted);
    }
    for (const [wanted = "", question = ""] of several) await add("several facts", question, wanted);
    for (const [form = "", question = ""] of none) await add(`no answer: ${form}`, question, "");
    return asked;
  } finally {
    client.close();
    await world.stop();
  }
}

/** Creates the facts in their order; returns their ids. */
async function remember(client: Client, facts: string[][]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [fact = "", since, replaces = "-", content = ""] of facts) {
    const supersedes_id = ids.get(replaces);
    const memory = {
      ...{ title: content.slice(0, 80), content, type: "semantic", scope: "agent" },
      ...{ freshness_date: `${since}T09:00:00Z`, ...(supersedes_id && { supersedes_id }) },
    };
    const [id] = await createMemories(client, [memory]);
    ids.set(fact, id as string);
  }
  return ids;
}

function row(name: string, kind: string, asked: Asked[]): Row {
  const share = (isSo: (asked: Asked) => boolean) => `${asked.filter(isSo).length} of ${asked.length}`;
  const ids = ({ found }: Asked) => found.map(({ id }) => id);
  const first = share((each) => each.wanted.includes(ids(each)[0] as string));
  const among = share((each) => each.wanted.every((id) => ids(each).includes(id)));
  const likely = share(({ found }) => found[0]?.match === "likely");
  const sure = share(({ found }) => (found[0]?.score ?? 0) >= 0.5);
  const shown = share(({ found }) => found.length > 0);
  const isNone = asked.every(({ wanted }) => wanted.length === 0);
  return {
    what: `${name}, ${kind}`,
    figure: isNone
      ? `answered ${likely}, with ≥ 0.5 ${sure}, any result ${shown}`
      : `first ${first}, all needed in five ${among}`,
  };
}

function isRight({ wanted, found }: Asked): boolean {
  if (wanted.length === 0) return found[0]?.match !== "likely";
  return (
    wanted.includes(found[0]?.id as string) && wanted.every((id) => found.some((each) => each.id === id))
  );
}

function line({ kind, question, wanted, found }: Asked): string {
  const shown = found.map(({ id, score }) => `${id} ${score.toFixed(2)}`).join(", ");
  return `${kind}: ${question} → ${shown || "nothing"}; wanted ${wanted.join(" ") || "none"}`;
}
