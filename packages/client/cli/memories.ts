import type { MemoriesUpdateParams, Memory, MergeProposal } from "../generated/types.ts";
import { type Command, type Context, given, optionalChoice, readList, text, word } from "./command.ts";
import { readContent } from "./input.ts";
import { FILTERS, readFilters, SCOPES, TYPES } from "./memory.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, formatDetails } from "./table.ts";
import { UsageError } from "./usage.ts";

const list: Command = {
  takes: "[TEXT]",
  does: "Lists memories, latest first; TEXT is a part of the title or the content.",
  options: {
    type: { value: TYPES.join("|"), means: "only this type" },
    scope: { value: SCOPES.join("|"), means: "only this scope" },
    tags: { value: "A,B", means: "only with any of these tags" },
    project: { value: "KEY", means: "only of this project" },
    ...FILTERS,
    ...LIMIT,
  },
  async run(context) {
    const [search] = context.words;
    const type = optionalChoice(context, "type", TYPES);
    const scope = optionalChoice(context, "scope", SCOPES);
    const [tags, project_id] = [readList(context, "tags"), text(context, "project")];
    const { metadata, ...filters } = await readFilters(context);
    const memories = await takeFirst(context, context.client.memories.list, {
      ...(search && { search }),
      ...(type && { type }),
      ...(scope && { scope }),
      ...(tags && { tags }),
      ...(project_id && { project_id }),
      ...filters,
      ...(metadata && { metadata: JSON.stringify(metadata) }),
    });
    context.table(
      memories,
      memories,
      [
        ["ID", ({ id }) => id],
        ["TYPE", ({ type }) => type],
        ["SCOPE", ({ scope }) => scope],
        ["CREATED", ({ created_at }) => age(created_at)],
        ["TITLE", ({ title }) => title],
      ],
      "No memories.",
    );
  },
};

const show: Command = {
  takes: "ID",
  does: "Shows a memory.",
  async run(context) {
    const id = word(context, 0, "ID");
    const memory = await context.client.memories.get({ id }, { signal: context.signal });
    context.print(memory, () => shown(memory));
  },
};

const update: Command = {
  takes: "ID",
  does: "Changes fields of a memory. To replace what it says, supersede it with `remember --supersedes`.",
  options: {
    title: { value: "TEXT", means: "the new title" },
    content: { value: "TEXT", means: "the new text" },
    tags: { value: "A,B", means: "the new tags; empty for none" },
    project: { value: "KEY", means: "the new project; empty for none" },
  },
  examples: ["memory update mem_… --tags parcels,freight"],
  async run(context) {
    const id = word(context, 0, "ID");
    const content = text(context, "content");
    const tags = readList(context, "tags");
    const project = text(context, "project");
    const change: Omit<MemoriesUpdateParams, "id"> = {
      ...given(context, "title"),
      ...(content !== undefined && { content: await readContent(context.host, content) }),
      ...(tags && { tags }),
      ...(project !== undefined && { project_id: project || null }),
    };
    if (Object.keys(change).length === 0)
      throw new UsageError("Nothing to change: give --title, --content, --tags or --project.");
    const memory = await context.client.memories.update({ id, ...change }, { signal: context.signal });
    context.print(memory, `${id} changed.`);
  },
};

const forget: Command = {
  takes: "ID",
  does: "Forgets a memory: searches no longer find it. `memory restore` brings it back.",
  async run(context) {
    const id = word(context, 0, "ID");
    const result = await context.client.memories.forget({ id }, { signal: context.signal });
    context.print(result, `${id} forgotten.`);
  },
};

const restore: Command = {
  takes: "ID",
  does: "Restores a forgotten memory.",
  async run(context) {
    const id = word(context, 0, "ID");
    const memory = await context.client.memories.restore({ id }, { signal: context.signal });
    context.print(memory, `${id} restored.`);
  },
};

const NOTE = { note: { value: "TEXT", means: "why" } };

const propose: Command = {
  takes: "ID OTHER",
  does: "Proposes to merge two memories that say the same; an admin decides.",
  options: NOTE,
  async run(context) {
    const [memory_a_id, memory_b_id] = [word(context, 0, "ID"), word(context, 1, "OTHER")];
    const params = { memory_a_id, memory_b_id, ...resolutionNote(context) };
    const proposal = await context.client.merges.propose(params, { signal: context.signal });
    context.print(proposal, `${proposal.id} proposed.`);
  },
};

const STATES = ["open", "resolved", "rejected"] as const;

const merges: Command = {
  takes: "",
  does: "Lists merge proposals.",
  options: { status: { value: STATES.join("|"), means: "default: open" }, ...LIMIT },
  as: ["person", "agent"],
  async run(context) {
    const status = optionalChoice(context, "status", STATES) ?? "open";
    const proposals = await takeFirst(context, context.client.merges.list, { status });
    // Only what is shown is looked up.
    const titles =
      context.options.json || context.options.query ? new Map() : await loadTitles(context, proposals);
    context.table(
      proposals,
      proposals,
      [
        ["ID", ({ id }) => id],
        ["ALIKE", ({ similarity }) => (similarity === null ? null : `${Math.round(similarity * 100)} %`)],
        ["PROPOSED", ({ proposed_at }) => age(proposed_at)],
        ["MEMORIES", ({ memory_a_id: a, memory_b_id: b }) => `${titles.get(a) ?? a} | ${titles.get(b) ?? b}`],
      ],
      `No ${status} merge proposals.`,
    );
  },
};

const accept: Command = {
  takes: "PROPOSAL",
  does: "Merges the two memories of a proposal.",
  options: {
    keep: { value: "ID", means: "the memory to keep; default: the first of the proposal" },
    ...NOTE,
  },
  as: ["person"],
  async run(context) {
    const id = word(context, 0, "PROPOSAL");
    const { merges } = context.client;
    const kept = text(context, "keep") ?? (await merges.get({ id }, { signal: context.signal })).memory_a_id;
    const params = { id, surviving_memory_id: kept, ...resolutionNote(context) };
    const proposal = await merges.resolve(params, { signal: context.signal });
    context.print(proposal, `Merged into ${kept}.`);
  },
};

const reject: Command = {
  takes: "PROPOSAL",
  does: "Rejects a merge proposal: both memories stay.",
  options: NOTE,
  as: ["person"],
  async run(context) {
    const id = word(context, 0, "PROPOSAL");
    const params = { id, ...resolutionNote(context) };
    const proposal = await context.client.merges.reject(params, { signal: context.signal });
    context.print(proposal, `${id} rejected.`);
  },
};

function resolutionNote(context: Context): { resolution_note?: string } {
  const note = text(context, "note");
  return note === undefined ? {} : { resolution_note: note };
}

/** The titles of the proposals' memories; one that the caller may no longer read has none. */
async function loadTitles(
  { client, signal }: Context,
  proposals: MergeProposal[],
): Promise<Map<string, string>> {
  const ids = new Set(proposals.flatMap(({ memory_a_id, memory_b_id }) => [memory_a_id, memory_b_id]));
  const found = await Promise.all(
    Array.from(ids, (id) => client.memories.get({ id }, { signal }).catch(() => undefined)),
  );
  return new Map(found.filter((each) => each !== undefined).map(({ id, title }) => [id, title]));
}

function shown(memory: Memory): string {
  const { id, title, content, type, scope, status, tags, project_id, created_at, updated_at } = memory;
  const details = formatDetails([
    ["Title", title],
    ["Id", id],
    ["Status", status],
    ["Type", `${type}, ${scope}`],
    ["Tags", tags.join(", ")],
    ["Project", project_id],
    ["Superseded", memory.superseded_by && `by ${memory.superseded_by}`],
    ["Created", `${created_at} (${age(created_at)})`],
    ["Updated", updated_at === created_at ? null : `${updated_at} (${age(updated_at)})`],
  ]);
  return `${details}\n\n${content.trimEnd()}`;
}

export const MEMORIES: Record<string, Command> = {
  "memory list": list,
  "memory show": show,
  "memory update": update,
  "memory forget": forget,
  "memory restore": restore,
  "memory merge": propose,
  "merge list": merges,
  "merge accept": accept,
  "merge reject": reject,
};
