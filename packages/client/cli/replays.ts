import type { Replay } from "../generated/types.ts";
import { findAgentId } from "./agent-names.ts";
import { type Command, type Context, count, text, word } from "./command.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age } from "./table.ts";
import { parseTime, TIME_FORMS } from "./times.ts";
import { UsageError } from "./usage.ts";

const as = ["person", "agent"] as const;

export const REPLAYS: Record<string, Command> = {
  "agent replay": {
    takes: "AGENT",
    does: "Replays past events to an agent, by its id or name: those that match its interests and feeds now. Runs in the background.",
    options: {
      since: { value: "TIME", means: `events accepted at this time or later, ${TIME_FORMS}` },
      "from-event": { value: "ID", means: "this event and those accepted after it" },
      until: { value: "TIME", means: "events accepted at this time or before; default: now" },
      interest: { value: "ID", means: "only events that match this interest" },
      again: { means: "also events that the agent has acknowledged or that were dead-lettered" },
      "per-minute": { value: "N", means: "maximum deliveries a minute; default: 600" },
      "dry-run": { means: "only say how many" },
      cancel: { means: "cancel the running replay instead" },
    },
    examples: [
      "agent replay billing --since 2026-01-31T09:00:00Z --dry-run",
      "agent replay billing --cancel",
    ],
    as,
    run: replay,
  },
  "agent replays": {
    takes: "AGENT",
    does: "Lists the replays of past events to an agent, newest first, with their progress.",
    options: LIMIT,
    as,
    run: list,
  },
};

async function replay(context: Context): Promise<void> {
  const name = word(context, 0, "AGENT");
  const [from, from_event] = ["since", "from-event"].map((each) => text(context, each));
  const isCancelled = context.options.cancel === true;
  if (!isCancelled && (from === undefined) === (from_event === undefined))
    throw new UsageError("Give either --since or --from-event, or --cancel.");
  const per_minute = text(context, "per-minute") && count(context, "per-minute", 1);
  const until = text(context, "until");
  const times = {
    ...(from && { from: parseTime("since", from) }),
    ...(until && { until: parseTime("until", until) }),
  };
  const agent_id = await findAgentId(context, name);
  if (isCancelled) return cancel(context, agent_id);
  const interest_id = text(context, "interest");
  const wanted = {
    ...{ agent_id, again: context.options.again === true, ...times },
    ...(from_event && { from_event }),
    ...(interest_id && { interest_id }),
  };
  const { deliveries } = context.client;
  const options = { signal: context.signal };
  if (context.options["dry-run"]) {
    const found = await deliveries.countReplay(wanted, options);
    const { deliverable, matched, more } = found;
    const least = more ? "At least " : "";
    context.print(found, `${least}${deliverable} would be delivered, of ${matched} that match.`);
    return;
  }
  const started = await deliveries.startReplay({ ...wanted, ...(per_minute && { per_minute }) }, options);
  context.print(started, formatLine(started));
}

async function cancel(context: Context, agent_id: string): Promise<void> {
  const { deliveries } = context.client;
  const options = { signal: context.signal };
  const { replays } = await deliveries.replays({ agent_id, limit: 1 }, options);
  const [running] = replays.filter(({ state }) => state === "running");
  if (!running) return context.print(null, "No replay is running.");
  const cancelled = await deliveries.cancelReplay({ agent_id, replay_id: running.id }, options);
  context.print(cancelled, formatLine(cancelled));
}

async function list(context: Context): Promise<void> {
  const agent_id = await findAgentId(context, word(context, 0, "AGENT"));
  const replays = await takeFirst(context, context.client.deliveries.replays, { agent_id });
  context.table(
    replays,
    replays,
    [
      ["ID", ({ id }) => id],
      ["STATE", ({ state, waiting_for }) => (waiting_for ? `${state}, waits for ${waiting_for}` : state)],
      ["MATCHED", ({ matched }) => matched],
      ["DELIVERED", ({ delivered }) => delivered],
      ["REACHED", ({ reached }) => reached],
      ["CREATED", ({ created_at }) => age(created_at)],
      ["ERROR", ({ error }) => error],
    ],
    "No replays.",
  );
}

const formatLine = ({ id, state, delivered }: Replay) => `${id} ${state}: ${delivered} delivered so far.`;
