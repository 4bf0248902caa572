import type { MemoriesCreateParams } from "../generated/types.ts";
import { type Command, type Context, choice, count, text, word } from "./command.ts";
import { readContent } from "./input.ts";

export const TYPES = ["semantic", "episodic", "procedural", "entity", "reflection", "reasoning"] as const;
export const SCOPES = ["agent", "team", "institutional"] as const;

export const remember: Command = {
  takes: "TITLE [CONTENT]",
  does: "Saves a memory. Without CONTENT, the title is the content.",
  options: {
    type: { value: TYPES.join("|"), means: "default: semantic" },
    scope: {
      value: SCOPES.join("|"),
      means: "who may read it; default: agent, or that of the superseded memory",
    },
    team: { value: "ID", means: "the team of --scope team; default: the agent's own" },
    tags: { value: "A,B", means: "tags to filter by" },
    project: { value: "KEY", means: "the memory's project" },
    supersedes: { value: "ID", means: "the memory to supersede" },
  },
  examples: [
    "remember 'Parcels over 30 kg go by freight'",
    "remember 'How to restore' @restore.md --tags ops",
  ],
  async run(context) {
    const title = word(context, 0, "TITLE");
    const [, content] = context.words;
    const tags = text(context, "tags");
    const supersedes_id = text(context, "supersedes");
    const { scope, team_id } = await audienceOf(context, supersedes_id);
    const project_id = text(context, "project");
    const params: MemoriesCreateParams = {
      title,
      content: content === undefined ? title : await readContent(content),
      type: choice(context, "type", TYPES, "semantic"),
      scope,
      ...(team_id && { team_id }),
      ...(tags && { tags: tags.split(",").filter((tag) => tag.trim()) }),
      ...(project_id && { project_id }),
      ...(supersedes_id && { supersedes_id }),
    };
    const memory = await context.client.memories.create(params, { signal: context.signal });
    context.print(memory, memory.id);
  },
};

/** Returns the scope of a new memory: a successor must be as visible as the memory it replaces. */
async function audienceOf(context: Context, supersedes_id: string | undefined) {
  const team_id = text(context, "team");
  if (text(context, "scope") || team_id || !supersedes_id)
    return { scope: choice(context, "scope", SCOPES, team_id ? "team" : "agent"), team_id };
  return context.client.memories.get({ id: supersedes_id }, { signal: context.signal });
}

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
