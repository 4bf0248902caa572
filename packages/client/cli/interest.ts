import type { Interest, InterestsCreateParams } from "../generated/types.ts";
import { type Command, type Context, choice, noteWarnings, text, word } from "./command.ts";
import { UsageError } from "./usage.ts";

const DEPTHS = ["none", "shallow", "deep"] as const;

const FILTER = { filter: { value: "CEL", means: "only matching events, like data.total > 100" } };

export const INTEREST: Record<string, Command> = {
  "interest add": {
    takes: "TYPE",
    does: "Adds an interest of the agent. TYPE is a glob.",
    options: {
      ...FILTER,
      priority: { value: "0-9", means: "9 is delivered first; default: 5" },
      enrich: { value: DEPTHS.join("|"), means: "deliver each event with related memories of the agent" },
    },
    examples: ["interest add 'com.example.order.*' --filter 'data.total > 100'"],
    as: ["agent"],
    run: add,
  },
  "interest try": {
    takes: "TYPE",
    does: "Tries an interest on the last hundred events, without adding it.",
    options: FILTER,
    as: ["agent"],
    run: tryOut,
  },
  "interest list": { takes: "", does: "Lists the agent's interests.", as: ["agent"], run: list },
  "interest remove": { takes: "ID", does: "Removes an interest of the agent.", as: ["agent"], run: remove },
};

async function add(context: Context): Promise<void> {
  const priority = text(context, "priority");
  if (priority !== undefined && !/^\d$/.test(priority))
    throw new UsageError(`--priority is ${priority}: expected 0 to 9.`);
  const params: InterestsCreateParams = {
    ...(await wanted(context)),
    ...(priority && { priority: Number(priority) }),
    enrichment_depth: choice(context, "enrich", DEPTHS, "none"),
  };
  const made = await context.client.interests.create(params, { signal: context.signal });
  context.print(made, formatLine(made));
  noteWarnings(context, made);
}

async function tryOut(context: Context): Promise<void> {
  const result = await context.client.interests.test(await wanted(context), { signal: context.signal });
  const ofType = result.results.filter(({ reason }) => reason !== "type");
  const lines = ofType.map(({ type, subject, matches, error }) =>
    [matches ? "✓" : "✗", type, subject, error && `(${error})`].filter(Boolean).join(" "),
  );
  context.print(
    result,
    [`${result.matched} of the last ${result.tested} events match.`, ...lines, ...result.hints].join("\n"),
  );
}

async function list(context: Context): Promise<void> {
  const { signal } = context;
  const agent_id = await ownId(context);
  const interests: Interest[] = [];
  for await (const each of context.client.interests.list.all({ agent_id, limit: 200 }, { signal }))
    interests.push(each);
  context.print(
    { interests, total: interests.length },
    interests.length ? interests.map(formatLine).join("\n") : "No interests.",
  );
}

async function remove(context: Context): Promise<void> {
  const id = word(context, 0, "ID");
  const agent_id = await ownId(context);
  await context.client.interests.delete({ agent_id, id }, { signal: context.signal });
  context.print({ removed: id }, `${id} removed.`);
}

async function wanted(context: Context) {
  const event_type = word(context, 0, "TYPE");
  const filter_expression = text(context, "filter");
  return { agent_id: await ownId(context), event_type, ...(filter_expression && { filter_expression }) };
}

async function ownId({ client, signal }: Context): Promise<string> {
  const { agent } = await client.auth.me({}, { signal });
  if (!agent) throw new UsageError("Only agents have interests.");
  return agent.id;
}

function formatLine(given: { id: string; event_type: string; filter_expression?: string | null }): string {
  const filter = given.filter_expression ? ` where ${given.filter_expression}` : "";
  return `${given.id} ${given.event_type}${filter}`;
}
