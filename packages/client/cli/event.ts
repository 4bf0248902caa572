import type { EventReceiver, EventsGetResult, EventsTypeResult, ListedEvent } from "../generated/types.ts";
import { agentNames } from "./agent-names.ts";
import { paint, type Style } from "./colour.ts";
import { type Command, type Context, given, optionalChoice, text, word } from "./command.ts";
import { formatLog, readLog } from "./delivery-log.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, duration, formatDetails, formatTable } from "./table.ts";
import { Failure } from "./usage.ts";

const as = ["person", "agent"] as const;

const OUTCOMES = ["dead", "pending", "none"] as const;

const COLOURS: Record<string, Style> = {
  ...{ dead: "red", pending: "yellow", done: "green", acknowledged: "green" },
};

/** Says of a dead or pending event also that it has no deliveries yet. */
function outcomeOf({ outcome, state }: Pick<ListedEvent, "outcome" | "state">): string {
  const reason = { parked: "parked", waiting: "delayed" }[state as string];
  return reason ? `${outcome}, ${reason}` : outcome;
}

const list: Command = {
  takes: "[TYPE]",
  does: "Lists events that the caller may read, latest first, without the service's own. TYPE is a glob.",
  options: {
    source: { value: "URI", means: "only of this source" },
    subject: { value: "TEXT", means: "only of this subject" },
    since: { value: "TIME", means: "only events accepted at this time or later" },
    outcome: {
      value: OUTCOMES.join("|"),
      means: "only events with a dead letter or parked, or with a pending delivery, or that matched no agent",
    },
    waiting: { means: "only delayed events that wait for their time" },
    service: { means: "also the service's own events; implied by a TYPE that begins with service" },
    ...LIMIT,
  },
  examples: ["event list 'com.example.order.*' --since 2026-01-31T09:00:00Z", "event list --outcome dead"],
  as,
  async run(context) {
    const [type] = context.words;
    const isService = context.options.service === true || type?.startsWith("service") === true;
    const outcome = optionalChoice(context, "outcome", OUTCOMES);
    const events = await takeFirst(context, context.client.events.list, {
      ...(type && { type }),
      ...given(context, "source", "subject", "since"),
      include_service: isService,
      ...(outcome && { outcome }),
      ...(context.options.waiting === true && { waiting: true }),
    });
    context.table(
      events,
      events,
      [
        ["ID", ({ event_id }) => event_id],
        ["ACCEPTED", ({ accepted_at }) => age(accepted_at)],
        ["OUTCOME", outcomeOf, ({ outcome }) => COLOURS[outcome]],
        ["AGENTS", ({ matched_count }) => matched_count],
        ["TYPE", ({ payload }) => payload.type],
        ["SUBJECT", ({ payload }) => payload.subject],
      ],
      "No events.",
    );
  },
};

const show: Command = {
  takes: "ID",
  does: "Shows an event: what happened to it, and for admins its deliveries.",
  options: { delivery: { value: "ID", means: "only this delivery, with each of its attempts and its log" } },
  examples: ["event show evt_…", "event show evt_… --delivery dlv_…"],
  as,
  async run(context) {
    const event_id = word(context, 0, "ID");
    const event = await context.client.events.get({ event_id }, { signal: context.signal });
    const wanted = text(context, "delivery");
    if (wanted === undefined) return context.print(event, () => shown(event));
    const receiver = event.receivers?.find(({ delivery_id }) => delivery_id === wanted);
    if (!receiver)
      throw new Failure(`The event has no delivery ${wanted} that the caller may see.`, "not_found");
    const log = await readLog(context, receiver);
    context.print({ ...receiver, log }, () => delivery(receiver, log));
  },
};

const types: Command = {
  takes: "[TYPE]",
  does: "Lists the types of events, the one seen last first; with TYPE, shows who listens to it and its latest event.",
  options: {
    search: { value: "TEXT", means: "only types that contain this" },
    ...LIMIT,
  },
  examples: ["event types --search order", "event types com.example.order.created"],
  as,
  async run(context) {
    const { client, signal } = context;
    const [type] = context.words;
    if (type !== undefined) {
      const found = await client.events.type({ type }, { signal });
      const nameOf = await agentNames(context);
      return context.print(found, () => shownType(found, nameOf));
    }
    const found = await takeFirst(context, client.events.types, given(context, "search"));
    context.table(
      found,
      found,
      [
        ["TYPE", ({ type }) => type],
        ["LAST SEEN", ({ last_seen_at }) => age(last_seen_at)],
        ["EVENTS", ({ count }) => count],
        ["LISTENERS", ({ listeners }) => listeners],
        ["SOURCE", ({ sources }) => andMore(sources.map(({ source }) => source))],
      ],
      "No event types.",
    );
  },
};

const andMore = ([first, ...others]: string[]) =>
  others.length > 0 ? `${first} and ${others.length} more` : (first ?? null);

function shownType(found: EventsTypeResult, nameOf: (id: string | null) => string | null): string {
  const { type, sources, first_seen_at, last_seen_at, count, listeners, listening, last_event } = found;
  const details = formatDetails([
    ["Type", type],
    ["Sources", sources.map(({ source }) => source).join(", ")],
    ["First seen", `${first_seen_at} (${age(first_seen_at)})`],
    ["Last seen", `${last_seen_at} (${age(last_seen_at)})`],
    ["Events", count],
    ["Listeners", listeners],
    ["Last event", last_event?.event_id],
  ]);
  const agents = formatTable(listening, [
    ["AGENT", ({ agent_id }) => nameOf(agent_id)],
    ["BY", ({ interest_ids, feed_ids }) => [...interest_ids, ...feed_ids].join(", ")],
  ]);
  const example = last_event && JSON.stringify(last_event.payload, null, 2);
  return [details, listening.length > 0 && agents, example].filter(Boolean).join("\n\n");
}

const retry: Command = {
  takes: "ID",
  does: "Retries the matching of a parked event, after its cause is fixed.",
  as,
  async run(context) {
    const event_id = word(context, 0, "ID");
    const result = await context.client.events.retry({ event_id }, { signal: context.signal });
    context.print(result, `${event_id} ${result.status}.`);
  },
};

const cancel: Command = {
  takes: "ID",
  does: "Cancels a delayed event that waits for its time.",
  examples: ["event cancel evt_…"],
  async run(context) {
    const event_id = word(context, 0, "ID");
    await context.client.events.cancel({ event_id }, { signal: context.signal });
    context.print({ cancelled: event_id }, `${event_id} cancelled.`);
  },
};

const stats: Command = {
  takes: "",
  does: "Counts deliveries by state: an agent's own, or for admins of each agent.",
  examples: ["delivery stats"],
  as,
  async run(context: Context) {
    const { client, signal } = context;
    const found = await client.deliveries.stats({ limit: 200 }, { signal });
    const { agents = [], oldest_age_seconds, ...sum } = found;
    const own = formatDetails([
      ["Pending", sum.pending],
      ["In flight", sum.in_flight],
      ["Waiting", sum.waiting],
      ["Limited by", sum.limited_by],
      ["Dead", sum.dead],
      ["Oldest", oldest_age_seconds === null ? "–" : duration(oldest_age_seconds)],
    ]);
    if (!found.agents) return context.print(found, own);
    const busiest = agents.toSorted((a, b) => (b.oldest_age_seconds ?? -1) - (a.oldest_age_seconds ?? -1));
    const nameOf = await agentNames(context);
    const oldest = (seconds: number | null) => (seconds === null ? null : duration(seconds));
    context.table(
      found,
      busiest,
      [
        ["AGENT", ({ agent_id }) => nameOf(agent_id)],
        ["PENDING", ({ pending }) => pending],
        ["IN FLIGHT", ({ in_flight }) => in_flight],
        ["WAITING", ({ waiting }) => waiting],
        ["LIMITED BY", ({ limited_by }) => limited_by ?? null],
        ["DEAD", ({ dead }) => dead],
        ["OLDEST", ({ oldest_age_seconds }) => oldest(oldest_age_seconds)],
      ],
      "No agents.",
    );
  },
};

function shown(event: EventsGetResult): string {
  const { event_id, outcome, accepted_at, matched_count, publisher_id, park_reason, payload, deliveries } =
    event;
  const colour = COLOURS[outcome];
  const details = formatDetails([
    ["Event", event_id],
    ["Outcome", colour ? paint(colour, outcomeOf(event)) : outcomeOf(event)],
    ["Type", payload.type],
    ["Source", payload.source],
    ["Subject", payload.subject],
    ["Parked", park_reason],
    ["Accepted", `${accepted_at} (${age(accepted_at)})`],
    ["Waits until", event.waits_until],
    ["Publisher", publisher_id],
    ["Agents", matched_count],
    [
      "Deliveries",
      `${deliveries.dlq} dead, ${deliveries.pending} pending, ${deliveries.acknowledged} acknowledged`,
    ],
  ]);
  const receivers = event.receivers?.length
    ? formatTable(event.receivers, [
        ["DELIVERY", ({ delivery_id }) => delivery_id],
        ["AGENT", ({ agent_id }) => agent_id],
        ["STATE", ({ state }) => state, ({ state }) => COLOURS[state]],
        ["ATTEMPTS", ({ attempt_count }) => attempt_count],
        ["LAST", ({ timeline }) => timeline.at(-1)?.reason ?? timeline.at(-1)?.what],
      ])
    : "";
  return [details, receivers, JSON.stringify(payload, null, 2)].filter(Boolean).join("\n\n");
}

function delivery(receiver: EventReceiver, log: string | null): string {
  const { delivery_id, agent_id, state, attempt_count, timeline } = receiver;
  const details = formatDetails([
    ["Delivery", delivery_id],
    ["Agent", agent_id],
    ["State", state],
    ["Attempts", attempt_count],
  ]);
  const lines = timeline.map(({ at, what, reason }) => [at, what, reason].filter(Boolean).join("  "));
  return [details, lines.join("\n"), formatLog(log)].filter(Boolean).join("\n\n");
}

export const EVENTS: Record<string, Command> = {
  "event list": list,
  "event show": show,
  "event types": types,
  "event retry": retry,
  "event cancel": cancel,
  "delivery stats": stats,
};
