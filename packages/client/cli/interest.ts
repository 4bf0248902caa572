import type { Interest, InterestsCreateParams } from "../generated/types.ts";
import { type Command, type Context, choice, text, word } from "./command.ts";
import { UsageError } from "./usage.ts";

type Action = (context: Context) => Promise<void>;

const ACTIONS: Record<string, Action> = { add, try: tryOut, list, remove };
const DEPTHS = ["none", "shallow", "deep"] as const;

export const interest: Command = {
  takes: "add TYPE | try TYPE | list | remove ID",
  does: "Adds, lists and removes the agent's interests, or tries one on the last hundred events. TYPE is a glob.",
  options: {
    filter: { value: "CEL", means: "add, try: only matching events, like data.total > 100" },
    priority: { value: "0-9", means: "add: 9 is delivered first; default: 5" },
    enrich: { value: DEPTHS.join("|"), means: "add: deliver each event with related memories of the agent" },
  },
  async run(context) {
    const name = context.words.shift() ?? "list";
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!action) throw new UsageError(`interest ${name}: expected ${Object.keys(ACTIONS).join(", ")}.`);
    await action(context);
  },
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
  context.print(made, lineOf(made));
}

async function tryOut(context: Context): Promise<void> {
  const result = await context.client.interests.test(await wanted(context), { signal: context.signal });
  const ofType = result.results.filter(({ reason }) => reason !== "type");
  const lines = ofType.map(({ type, subject, matches, error }) =>
    [matches ? "✓" : "✗", type, subject, error && `(${error})`].filter(Boolean).join(" "),
  );
  context.print(
    result,
    [`${result.matched} of the last ${result.tested} events match.`, ...lines].join("\n"),
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
    interests.length ? interests.map(lineOf).join("\n") : "No interests.",
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

function lineOf(given: { id: string; event_type: string; filter_expression?: string | null }): string {
  const filter = given.filter_expression ? ` where ${given.filter_expression}` : "";
  return `${given.id} ${given.event_type}${filter}`;
}
