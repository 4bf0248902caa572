import type { Context, ServiceBroker } from "moleculer";
import type { OfAgent } from "../../../lib/access/caller.ts";
import type { Owned } from "../../../lib/access/visibility.ts";
import { upToSize } from "../../../lib/broker/between-nodes.ts";
import { isFor } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { readEnvelope } from "../../../lib/filter/filter.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Loaded } from "./explain.ts";
import { type InterestDoc, toSubscription } from "./interests.model.ts";
import type { Match, Subscription } from "./receiver.ts";
import { RoutingTable } from "./routing-table.ts";

/** An event of the past, without its content. */
export interface PastEvent {
  event_id: string;
  position: string;
  type: string;
  size: number;
  accepted_at: string;
  /** It is not due for fan-out yet. */
  waits: boolean;
}

/** Params of `events.history`, which returns past events in their order. */
export interface HistoryParams {
  tenant_id: string;
  /** A position, or a time in ms; inclusive. */
  from: string | number;
  /** A time in ms; inclusive. */
  until: number;
  limit: number;
}

export interface MatchAgentParams extends OfAgent {
  /** Only this interest; null: all interests and feeds of the agent. */
  interest_id: string | null;
  /** In their order. */
  events: PastEvent[];
  /** Stop after so many matches. */
  most: number;
}

export interface AgentMatches {
  /** Number of the first events that were examined: one at least. */
  examined: number;
  /** Those that the agent receives. */
  matches: Match[];
}

/** Limit of an agent's feeds: those of all its channels. */
const MOST_FEEDS = 10_000;
/** Bytes of events that one call reads at once, and in all. */
const BATCH_BYTES = 1_048_576;
const MOST_BYTES = 8 * BATCH_BYTES;

/**
 * Matches past events with the subscriptions of one agent, as fan-out does with those of all. Filters have a budget of
 * their own here: a call ends early before one is suspended, so that no event is missed.
 *
 * @throws Fault not_found if the interest is gone
 */
export async function matchAgent(
  interests: TenantCollection<InterestDoc>,
  ctx: Context,
  { tenant_id, agent_id, interest_id, events, most }: MatchAgentParams,
): Promise<AgentMatches & { matched: string[] }> {
  const own = { agent_id, ...(interest_id !== null && { _id: interest_id }) };
  const joined = { tenant_id, agent_id, limit: MOST_FEEDS };
  const [agents, rows, feeds] = await Promise.all([
    ctx.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids: [agent_id] }),
    interests.find(tenant_id, own),
    interest_id === null ? ctx.call<Subscription[], unknown>("channels.feeds_of_agent", joined) : [],
  ]);
  if (interest_id !== null && rows.length === 0) throw notFound("interest", interest_id);
  const table = new RoutingTable(0);
  for (const row of rows) table.subscribe(toSubscription(row), row);
  for (const feed of feeds) {
    table.subscribe(feed);
    table.join(feed.channel_id as string, agent_id);
  }
  const ids = [...rows.map(({ _id }) => _id), ...feeds.map(({ id }) => id)];
  const isSuspended = () => ids.some((id) => table.suspendedFor(id) > 0);
  const taken = new Map<string, boolean>();
  let batch = new Map<string, CloudEvent | null>();
  let bytes = 0;
  const matches: Match[] = [];
  let examined = 0;
  for (const { event_id, type, waits } of events) {
    if (matches.length >= most) break;
    if (!taken.has(type)) taken.set(type, await table.takes(type));
    let receivers: Match["receivers"] = [];
    if (taken.get(type) && !waits) {
      if (!batch.has(event_id)) {
        if (bytes >= MOST_BYTES) break;
        const rest = events.slice(examined).filter((each) => taken.get(each.type) !== false);
        const next = upToSize(rest, ({ size }) => size, BATCH_BYTES);
        for (const { size } of next) bytes += size;
        const event_ids = next.map((each) => each.event_id);
        batch = await loadBatch(ctx.broker, tenant_id, event_ids);
      }
      const event = batch.get(event_id);
      if (event && isFor(event, agents)) ({ receivers } = await table.match(event));
    }
    // Earlier matches are reliable; a call that begins here has the whole budget.
    if (examined > 0 && isSuspended()) break;
    examined++;
    if (receivers.length > 0) matches.push({ event_id, receivers });
  }
  return { examined, matches, matched: table.takeMatched() };
}

/** Loads the events that fit into a batch: none for those that are not kept or cannot be parsed. */
async function loadBatch(broker: ServiceBroker, tenant_id: string, event_ids: string[]) {
  const params = { tenant_id, event_ids };
  const loaded = await broker.call<Loaded[], unknown>("events.load", params);
  const batch = new Map<string, CloudEvent | null>(event_ids.map((id) => [id, null]));
  for (const { event_id, envelope } of loaded) batch.set(event_id, readEnvelope(envelope));
  return batch;
}
