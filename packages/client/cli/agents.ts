import { groupByReason, type InNeed } from "../attention.ts";
import type {
  Agent,
  AgentsDeleteParams,
  AgentsUpdateParams,
  DeliveryHealth,
  Reception,
} from "../generated/types.ts";
import { findAgentId, findTeamId } from "./agent-names.ts";
import { type Command, type Context, count, text, word } from "./command.ts";
import { confirmed } from "./confirm.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, duration, formatDetails } from "./table.ts";
import { readDelays } from "./times.ts";
import { Failure, UsageError } from "./usage.ts";

const as = ["person", "agent"] as const;
const YES = { yes: { short: "y", means: "do not ask" } } as const;

export const AGENTS: Record<string, Command> = {
  "agent list": {
    takes: "[TEXT]",
    does: "Lists agents with the state of their deliveries, those that need attention first. TEXT is part of the name or description.",
    options: {
      attention: {
        means: "only agents that need attention, in one line if more than three have the same reason",
      },
      each: { means: "one line for each agent" },
      ...LIMIT,
    },
    examples: ["agent list --attention"],
    as,
    run: list,
  },
  "agent show": {
    takes: "AGENT",
    does: "Shows an agent, by its id or name: its state, why, and its last error.",
    examples: ["agent show billing"],
    as,
    run: show,
  },
  why: {
    takes: "[AGENT]",
    does: "Explains why an agent receives an event, or nothing: its interests and feeds, the delivery, leases and limits. Without AGENT: for an agent itself, for a person the agent that needs attention most.",
    options: {
      event: {
        value: "ID",
        means:
          "this event; default: that of its newest dead letter, else of its newest pending delivery, else the latest",
      },
    },
    examples: ["why", "why billing --event evt_…"],
    as,
    run: why,
  },
  "agent update": {
    takes: "AGENT",
    does: "Changes an agent, by its id or name.",
    options: {
      name: { value: "TEXT", means: "the new name" },
      endpoint: { value: "URL", means: "where its deliveries are pushed" },
      "retry-budget": { value: "N", means: "attempts before a delivery is dead-lettered" },
      "retry-delays": {
        value: "DURATION,…",
        means: "before each retry, such as 10s,1m; the last one repeats",
      },
      "max-in-flight": { value: "N|none", means: "deliveries that it has at once" },
      "max-per-minute": { value: "N|none", means: "deliveries that it gets in a minute" },
    },
    examples: ["agent update billing --endpoint https://agent.example.com/events"],
    as,
    run: update,
  },
  "agent delete": {
    takes: "AGENT",
    does: "Deletes an agent, by its id or name, with what is its own.",
    options: {
      shared: { value: "keep|erase", means: "the memories that it shared; default: keep" },
      ...YES,
    },
    as,
    run: remove,
  },
  "team delete": {
    takes: "TEAM",
    does: "Deletes a team, by its id or name. Its agents leave it, and what they shared stays for its authors and admins.",
    options: YES,
    as,
    run: removeTeam,
  },
};

async function remove(context: Context): Promise<void> {
  const agent_id = await findAgentId(context, word(context, 0, "AGENT"));
  const options = { signal: context.signal };
  const shared = text(context, "shared");
  const { name, delivery } = await context.client.agents.get({ agent_id, include: "delivery" }, options);
  const waiting = (delivery?.pending ?? 0) + (delivery?.in_flight ?? 0);
  await confirmed(context, `Delete ${name} with its private memories and ${waiting} undelivered events`);
  const { erased, ...result } = await context.client.agents.delete(
    { agent_id, ...(shared && { shared }) } as AgentsDeleteParams,
    options,
  );
  const counts = Object.entries(erased).filter(([, count]) => count > 0);
  const what = counts.map(([kind, count]) => `${count} ${kind.replaceAll("_", " ")}`).join(", ");
  context.print({ ...result, erased }, `${agent_id} deleted${what && `, with ${what}`}.`);
}

async function removeTeam(context: Context): Promise<void> {
  const team_id = await findTeamId(context, word(context, 0, "TEAM"));
  await confirmed(context, `Delete the team ${team_id}`);
  const result = await context.client.teams.delete({ team_id }, { signal: context.signal });
  context.print(result, `${team_id} deleted; agents that left it: ${result.agents_removed}.`);
}

async function list(context: Context): Promise<void> {
  const [search] = context.words;
  const found = await takeFirst(context, context.client.agents.list, {
    include: "delivery",
    sort: "attention",
    ...(search && { search }),
    ...(context.options.attention && { needs_attention: true }),
  });
  const { attention, each } = context.options;
  const rows: InNeed[] =
    attention && !each
      ? groupByReason(found, duration)
      : found.map((agent) => ({ agents: [agent], summary: null }));
  context.table(
    found,
    rows,
    [
      ["ID", ({ agents: [first, ...others] }) => (others.length ? `${others.length + 1} agents` : first?.id)],
      ["STATE", ({ agents: [first] }) => first && stateOf(first)],
      ["PENDING", ({ agents }) => total(agents, (delivery) => delivery.pending)],
      ["OLDEST", ({ agents }) => seconds(oldest(agents))],
      ["DEAD", ({ agents }) => total(agents, (delivery) => delivery.dead)],
      ["NAME", ({ agents, summary }) => (summary ? `${summary} (--each lists them)` : agents[0]?.name)],
      [
        "LAST ERROR",
        ({ agents, summary }) => (summary === null && agents[0]?.delivery?.last_error?.reason) || null,
      ],
    ],
    attention ? "No agent needs attention." : "No agents.",
  );
}

const total = (agents: readonly Agent[], of: (delivery: DeliveryHealth) => number) =>
  agents.reduce((sum, { delivery }) => sum + (delivery ? of(delivery) : 0), 0);

function oldest(agents: readonly Agent[]): number | null {
  const ages = agents.flatMap(({ delivery }) => delivery?.oldest_age_seconds ?? []);
  return ages.length ? Math.max(...ages) : null;
}

async function show(context: Context): Promise<void> {
  const agent_id = await findAgentId(context, word(context, 0, "AGENT"));
  const options = { signal: context.signal };
  const agent = await context.client.agents.get({ agent_id, include: "delivery" }, options);
  const { delivery } = agent;
  const error = delivery?.last_error;
  const details = formatDetails([
    ["Agent", agent.name],
    ["Id", agent.id],
    ["State", stateOf(agent)],
    ["Why", delivery?.reason],
    ["Delivery", agent.delivery_mode],
    ["Endpoint", agent.delivery_endpoint],
    ["Pending", delivery?.pending],
    ["Limited by", delivery?.limited_by],
    ["Oldest", seconds(delivery?.oldest_age_seconds)],
    ["Late after", seconds(delivery?.late_after_seconds)],
    ["Dead letters", delivery?.dead],
    ["Success 24 h", rate(delivery?.success_rate)],
    ["Last seen", delivery?.last_seen_at && age(delivery.last_seen_at)],
    ["Last error", error && `${error.reason} (${age(error.at)})`],
  ]);
  context.print(agent, details);
}

async function why(context: Context): Promise<void> {
  const [typed] = context.words;
  const chosen = typed === undefined ? await agentInNeed(context) : null;
  const agent_id = chosen?.id ?? (await findAgentId(context, typed as string));
  const event_id = text(context, "event");
  const found = await context.client.deliveries.explain(
    { agent_id, ...(event_id && { event_id }) },
    { signal: context.signal },
  );
  const { event, reasons, subscriptions, health, limits } = found;
  const lines = [
    ...(chosen ? [`Agent ${chosen.name} (${chosen.id})`] : []),
    event ? `${event.event_id} ${event.type} (${age(event.accepted_at)})` : "No event.",
    ...reasons.map(({ reason, text }) => `${reason === "acknowledged" ? "✓" : "!"} ${text}`),
    ...subscriptions.map((each) => {
      const sign = each.reason === null ? "-" : each.reason === "match" ? "✓" : "✗";
      const filter = each.filter_expression ? ` where ${each.filter_expression}` : "";
      const never = each.unmatched_since && ` (no match since ${age(each.unmatched_since)})`;
      const verdict = each.reason && `: ${VERDICTS[each.reason]}${each.error ? `: ${each.error}` : ""}`;
      return `${sign} ${each.kind} ${each.id} ${each.event_type}${filter}${verdict ?? ""}${never ?? ""}`;
    }),
    `State ${health.state}: ${health.pending} pending, ${health.in_flight} in flight, ${health.dead} dead letters`,
    `Limits: lease ${limits.visibility_timeout_seconds} s, ${limits.retry_budget} attempts, ${limits.requests_per_minute ?? "any number of"} requests a minute, ${limits.max_in_flight ?? "any number of"} deliveries at once, ${limits.max_per_minute ?? "any number of"} a minute`,
  ];
  context.print(found, lines.join("\n"));
}

/** Returns the agent that makes the call, or for a person the one that needs attention most. */
async function agentInNeed({ client, signal }: Context): Promise<Pick<Agent, "id" | "name">> {
  const { agent } = await client.auth.me({ signal });
  if (agent) return agent;
  const [worst] = (await client.agents.list({ sort: "attention", limit: 1 }, { signal })).agents;
  if (!worst)
    throw new Failure("There is no agent yet: `sensorium agent create NAME` creates one.", "not_found");
  return worst;
}

const VERDICTS: Record<NonNullable<Reception["subscriptions"][number]["reason"]>, string> = {
  match: "matches",
  type: "another type",
  filter: "its filter is false",
  filter_error: "its filter failed",
  suspended: "suspended, because its filter or glob takes too long",
  later: "matches, but is newer than the event",
};

async function update(context: Context): Promise<void> {
  const agent_id = await findAgentId(context, word(context, 0, "AGENT"));
  const [name, endpoint] = ["name", "endpoint"].map((each) => text(context, each));
  const budget = text(context, "retry-budget") && count(context, "retry-budget", 1);
  const delays = readDelays(context);
  const changes: Omit<AgentsUpdateParams, "agent_id"> = {
    ...(name && { name }),
    ...(endpoint && { delivery_endpoint: endpoint }),
    ...(budget && { retry_budget: budget }),
    ...(delays && { retry_delays_seconds: delays }),
    ...readLimit(context, "max-in-flight", "max_in_flight"),
    ...readLimit(context, "max-per-minute", "max_per_minute"),
  };
  if (Object.keys(changes).length === 0)
    throw new UsageError(
      "Nothing to change: give --name, --endpoint, --retry-budget, --retry-delays, --max-in-flight or --max-per-minute.",
    );
  const agent = await context.client.agents.update({ agent_id, ...changes }, { signal: context.signal });
  context.print(agent, `${agent.name} changed.`);
}

function readLimit(context: Context, option: string, field: "max_in_flight" | "max_per_minute") {
  const given = text(context, option);
  return given && { [field]: given === "none" ? null : count(context, option, 1) };
}

const stateOf = ({ status, delivery }: Agent) => (status === "inactive" ? status : delivery?.state);

const seconds = (each: number | null | undefined) =>
  each === null || each === undefined ? null : duration(each);

const rate = (each: number | null | undefined) =>
  each === null || each === undefined ? null : `${Math.floor(each * 100)} %`;
