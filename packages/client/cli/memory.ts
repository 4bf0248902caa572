import type { MemoryFields } from "../client.ts";
import type { MemoriesSearchParams } from "../generated/types.ts";
import {
  type Command,
  type Context,
  choice,
  count,
  given,
  type Option,
  optionalChoice,
  readList,
  text,
  word,
} from "./command.ts";
import { readContent, readObject } from "./input.ts";

export const TYPES = ["semantic", "episodic", "procedural", "entity", "reflection", "reasoning"] as const;
export const SCOPES = ["agent", "team", "institutional"] as const;

export const remember: Command = {
  takes: "TITLE [CONTENT]",
  does: "Saves a memory. Without CONTENT, the first word is the content, and its first line the title.",
  options: {
    type: { value: TYPES.join("|"), means: "default: semantic" },
    scope: {
      value: SCOPES.join("|"),
      means: "who may read it; default: agent, for a person institutional, or that of the superseded memory",
    },
    team: { value: "ID", means: "the team of --scope team; default: the agent's own" },
    subject: { value: "TEXT", means: "whom it is about, such as a customer's id; erasure finds it by this" },
    tags: { value: "A,B", means: "tags to filter by" },
    project: { value: "KEY", means: "the memory's project" },
    supersedes: { value: "ID", means: "the memory to supersede" },
  },
  examples: [
    "remember 'Parcels over 30 kg go by freight'",
    "remember 'How to restore' @restore.md --tags ops",
  ],
  async run(context) {
    const first = word(context, 0, "TITLE");
    const [, second] = context.words;
    const [type, scope] = [optionalChoice(context, "type", TYPES), optionalChoice(context, "scope", SCOPES)];
    const [team_id, tags] = [text(context, "team"), readList(context, "tags")];
    const [project_id, supersedes_id] = [text(context, "project"), text(context, "supersedes")];
    const fields: MemoryFields = {
      ...(second !== undefined && { title: first }),
      ...given(context, "subject"),
      ...(type && { type }),
      ...(scope && { scope }),
      ...(team_id && { team_id }),
      ...(tags && { tags }),
      ...(project_id && { project_id }),
      ...(supersedes_id && { supersedes_id }),
    };
    const content = second === undefined ? first : await readContent(context.host, second);
    const memory = await context.client.remember(content, fields, { signal: context.signal });
    if (!scope && memory.user_id && memory.scope === "institutional")
      context.telling.note("The whole tenant can read it. For a team: --team ID.");
    context.print(memory, memory.id);
  },
};

const TIME = "only those at or after this time, such as 2026-01-31T09:00:00Z";
const END = "only those before this time";

/** Options of what lists and searches memories. */
export const FILTERS: Record<string, Option> = {
  agent: { value: "ID", means: "only memories that this agent owns" },
  subject: { value: "SUBJECT", means: "only memories about this subject" },
  metadata: {
    value: "JSON",
    means: 'only with these values, such as {"customer": "acme", "amount": {"gte": 100}}',
  },
  "created-from": { value: "TIME", means: TIME },
  "created-until": { value: "TIME", means: END },
  "updated-from": { value: "TIME", means: TIME },
  "updated-until": { value: "TIME", means: END },
  "freshness-from": { value: "TIME", means: TIME },
  "freshness-until": { value: "TIME", means: END },
};

/** Returns the filters that are given, as parameters. @throws UsageError */
export async function readFilters(context: Context) {
  const agent_id = text(context, "agent");
  const metadata = text(context, "metadata");
  const names = Object.keys(FILTERS).filter((name) => name.includes("-"));
  const times = Object.entries(given(context, ...names));
  return {
    ...(agent_id && { agent_id }),
    ...given(context, "subject"),
    ...(metadata && { metadata: (await readObject(context.host, metadata, "--metadata")) as MetadataFilter }),
    ...Object.fromEntries(times.map(([name, time]) => [name.replace("-", "_"), time])),
  };
}

type MetadataFilter = NonNullable<MemoriesSearchParams["metadata"]>;

export const recall: Command = {
  takes: "QUERY",
  does: "Searches the memories that the caller may read, best first.",
  options: {
    limit: { value: "N", means: "maximum number of memories; default: 5" },
    scope: { value: SCOPES.join("|"), means: "only memories of this scope; default: all" },
    ...FILTERS,
  },
  examples: [
    "recall 'how do heavy parcels travel'",
    `recall 'open invoices' --metadata '{"customer": "acme", "amount": {"gte": 100}}'`,
  ],
  async run(context) {
    const scope = text(context, "scope");
    const params = {
      query: word(context, 0, "QUERY"),
      limit: count(context, "limit", 5),
      ...(scope && { scope: choice(context, "scope", SCOPES, "agent") }),
      ...(await readFilters(context)),
    };
    const result = await context.client.memories.search(params, { signal: context.signal });
    const shown = result.results.map(({ memory, score }) => {
      const body =
        memory.content.trim() === memory.title ? "" : `\n  ${memory.content.trim().replaceAll("\n", "\n  ")}`;
      return `${score.toFixed(2)}  ${memory.title}  (${memory.type}, ${memory.scope}, ${memory.id})${body}`;
    });
    context.print(result, shown.length ? shown.join("\n\n") : "No matching memories.");
  },
};
