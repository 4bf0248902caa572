import type { Interest, InterestsUpdateParams } from "../generated/types.ts";
import { existingInterest } from "../interest.ts";
import { type Command, type Context, noteWarnings, optionalChoice, text, word } from "./command.ts";
import { readDelays } from "./times.ts";
import { UsageError } from "./usage.ts";

const DEPTHS = ["none", "shallow", "deep"] as const;

const FILTER = { filter: { value: "CEL", means: "only matching events, like data.total > 100" } };

const SETTINGS = {
  ...FILTER,
  priority: { value: "0-9", means: "9 is delivered first; default: 5" },
  enrich: { value: DEPTHS.join("|"), means: "deliver each event with related memories of the agent" },
  "retry-delays": {
    value: "DURATION,…",
    means: "before each retry; the last one repeats; default: the agent's",
  },
  "order-by": { value: "PATH", means: "one delivery at a time for each value, like data.order_id" },
};

export const INTEREST: Record<string, Command> = {
  "interest add": {
    takes: "TYPE",
    does: "Adds an interest of the agent. TYPE is a glob.",
    options: {
      ...SETTINGS,
      "if-missing": { means: "if the agent has one of this type and filter, print that, unchanged" },
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
  "interest update": {
    takes: "ID",
    does: "Changes an interest of the agent, for events published from now on.",
    options: {
      type: { value: "TYPE", means: "the glob" },
      ...SETTINGS,
      "agent-delays": { means: "retry after the agent's delays again" },
      unordered: { means: "deliver in any order again" },
    },
    examples: ["interest update int_… --retry-delays 1s,5s,30s"],
    as: ["agent"],
    run: update,
  },
  "interest remove": { takes: "ID", does: "Removes an interest of the agent.", as: ["agent"], run: remove },
};

async function add(context: Context): Promise<void> {
  const { client, options, signal } = context;
  const params = { ...readSettings(context), ...(await wanted(context)) };
  const made = await client.interests.create(params, { signal }).catch((error) => {
    const id = options["if-missing"] ? existingInterest(error) : undefined;
    if (!id) throw error;
    return client.interests.get({ agent_id: params.agent_id, id }, { signal });
  });
  context.print(made, formatLine(made));
  noteWarnings(context, made);
}

async function update(context: Context): Promise<void> {
  const id = word(context, 0, "ID");
  const event_type = text(context, "type");
  const agentDelays = context.options["agent-delays"] === true;
  if (agentDelays && text(context, "retry-delays"))
    throw new UsageError("Give --retry-delays or --agent-delays, not both.");
  const unordered = context.options.unordered === true;
  if (unordered && text(context, "order-by"))
    throw new UsageError("Give --order-by or --unordered, not both.");
  const changes: Settings = {
    ...readSettings(context),
    ...(event_type && { event_type }),
    ...(agentDelays && { retry_delays_seconds: null }),
    ...(unordered && { ordering_key: null }),
  };
  if (Object.keys(changes).length === 0)
    throw new UsageError(
      "Nothing to change: give --type, --filter, --priority, --enrich, --retry-delays, --agent-delays, --order-by or --unordered.",
    );
  const agent_id = await ownId(context);
  const changed = await context.client.interests.update(
    { agent_id, id, ...changes },
    { signal: context.signal },
  );
  context.print(changed, formatLine(changed));
  noteWarnings(context, changed);
}

type Settings = Omit<InterestsUpdateParams, "agent_id" | "id">;

/** Returns the given settings. @throws UsageError */
function readSettings(context: Context): Settings {
  const filter_expression = text(context, "filter");
  const priority = text(context, "priority");
  if (priority !== undefined && !/^\d$/.test(priority))
    throw new UsageError(`--priority is ${priority}: expected 0 to 9.`);
  const enrichment_depth = optionalChoice(context, "enrich", DEPTHS);
  const retry_delays_seconds = readDelays(context);
  const ordering_key = text(context, "order-by");
  return {
    ...(filter_expression && { filter_expression }),
    ...(priority && { priority: Number(priority) }),
    ...(enrichment_depth && { enrichment_depth }),
    ...(retry_delays_seconds && { retry_delays_seconds }),
    ...(ordering_key && { ordering_key }),
  };
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
