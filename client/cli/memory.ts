import type { MemoriesCreateParams } from "../generated/types.ts";
import { type Command, choice, count, text, word } from "./command.ts";
import { contentOf } from "./input.ts";

const TYPES = ["semantic", "episodic", "procedural", "entity", "reflection", "reasoning"] as const;
const SCOPES = ["agent", "team", "institutional"] as const;

export const remember: Command = {
  takes: "TITLE [CONTENT] [--type TYPE] [--scope agent|team|institutional] [--tags A,B] [--project KEY]",
  does: "Makes a memory; CONTENT is the title when it is left out.",
  options: {
    type: { type: "string" },
    scope: { type: "string" },
    tags: { type: "string" },
    project: { type: "string" },
  },
  async run(context) {
    const title = word(context, 0, "TITLE");
    const tags = text(context, "tags");
    const project_id = text(context, "project");
    const params: MemoriesCreateParams = {
      title,
      content: await contentOf(context.words[1] ?? title),
      type: choice(context, "type", TYPES, "semantic"),
      scope: choice(context, "scope", SCOPES, "agent"),
      ...(tags && { tags: tags.split(",") }),
      ...(project_id && { project_id }),
    };
    const memory = await context.client.memories.create(params, { signal: context.signal });
    context.print(memory, memory.id);
  },
};

export const recall: Command = {
  takes: "QUERY [--limit N] [--scope agent|team|institutional]",
  does: "Searches the memories that the agent may see, best first.",
  options: { limit: { type: "string" }, scope: { type: "string" } },
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
    context.print(result, shown.length ? shown.join("\n\n") : "Nothing fits.");
  },
};
