import type { MemoryFields } from "../client.ts";
import { type Command, choice, count, given, optionalChoice, readList, text, word } from "./command.ts";
import { readContent } from "./input.ts";

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
    const content = second === undefined ? first : await readContent(second);
    const memory = await context.client.remember(content, fields, { signal: context.signal });
    if (!scope && memory.user_id && memory.scope === "institutional")
      context.telling.note("The whole tenant can read it. For a team: --team ID.");
    context.print(memory, memory.id);
  },
};

export const recall: Command = {
  takes: "QUERY",
  does: "Searches the memories that the caller may read, best first.",
  options: {
    limit: { value: "N", means: "maximum number of memories; default: 5" },
    scope: { value: SCOPES.join("|"), means: "only memories of this scope; default: all" },
  },
  examples: ["recall 'how do heavy parcels travel'"],
  async run(context) {
    const scope = text(context, "scope");
    const params = {
      query: word(context, 0, "QUERY"),
      limit: count(context, "limit", 5),
      ...(scope && { scope: choice(context, "scope", SCOPES, "agent") }),
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
