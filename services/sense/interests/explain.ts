import type { Call, OfAgent } from "../../../lib/access/caller.ts";
import type { Owned } from "../../../lib/access/visibility.ts";
import { isFor } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { reservedPrefix } from "../../../lib/cloudevents/platform-types.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { compileFilter, EventScope, filterable, parseEnvelope } from "../../../lib/filter/filter.ts";
import { compileGlob } from "../../../lib/filter/glob.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { filterHints } from "./filter-hints.ts";
import type { VERDICTS } from "./interests.contract.ts";
import { type InterestDoc, toSubscription } from "./interests.model.ts";
import type { Subscription } from "./receiver.ts";
import type { Routing } from "./routing.ts";

export interface Query extends OfAgent {
  /** Default: the tenant's latest. */
  event_id?: string;
  /** Whether the event must be one that an interest could be tested on. */
  isTested?: boolean;
}

/** The answer of an agent's subscriptions to an event. */
export type Explanation = Awaited<ReturnType<typeof explainReception>>;

/** A feed of an agent's channel, and since when the agent gets its events. */
type JoinedFeed = Subscription & { kind: "feed"; since: string };

/** Limit of an agent's interests, and of its channels' feeds, that are tried. */
const MOST = 200;

/** Tries an agent's interests and feeds on an event. @throws Fault not_found */
export async function explainReception(
  { interests, routing }: { interests: TenantCollection<InterestDoc>; routing: Routing },
  ctx: Call,
  query: Query,
) {
  const { tenant_id, agent_id } = query;
  const options = { sort: { created_at: 1 }, limit: MOST + 1 } as const;
  const sample = await sampleOf(ctx, query);
  const of = { tenant_id, event_id: sample?.event_id };
  const [event_state, agent, rows, feeds] = await Promise.all([
    sample && ctx.call<string | null, unknown>("events.state_of", of),
    ctx.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids: [agent_id] }),
    interests.find(tenant_id, { agent_id }, options),
    ctx.call<JoinedFeed[], unknown>("channels.feeds_of_agent", { tenant_id, agent_id, limit: MOST + 1 }),
  ]);
  // The table on this node knows what is suspended here.
  await routing.current(tenant_id);
  const event = sample && headOf(sample);
  const own = rows.map((row) => ({
    ...toSubscription(row),
    since: row.updated_at.toISOString(),
    unmatched_since: row.unmatched_since?.toISOString() ?? null,
  }));
  const joined = feeds.map((feed) => ({ ...feed, unmatched_since: null }));
  const subscriptions = [];
  for (const each of [...own.slice(0, MOST), ...joined.slice(0, MOST)]) {
    const { id, kind, channel_id = null, glob, filter = null, since, unmatched_since } = each;
    const suspended_ms = routing.suspendedFor(tenant_id, id);
    const result = sample && (await tryInterest(glob, filter, [sample])).results[0];
    const matches = result?.reason === "match";
    const isLater = matches && since > (event?.accepted_at ?? "");
    // Null without an event.
    const reason = suspended_ms > 0 ? "suspended" : isLater ? "later" : (result?.reason ?? null);
    subscriptions.push({
      ...{ id, kind, channel_id, event_type: glob, filter_expression: filter },
      ...{ reason, error: result?.error ?? null, suspended_ms, unmatched_since },
    });
  }
  return {
    event,
    event_state,
    /** Whether the agent is outside of the event's audience. */
    is_excluded: sample !== null && !isFor(eventOf(sample), agent),
    subscriptions,
    /** Whether there are more subscriptions than were looked at. */
    more: own.length > MOST || joined.length > MOST,
  };
}

async function sampleOf(ctx: Call, { tenant_id, event_id, isTested }: Query): Promise<Sample | null> {
  const latest = (limit: number, include_service: boolean) =>
    ctx.call<Sample[], LatestParams>("events.latest", { tenant_id, limit, include_service });
  if (event_id === undefined) return (await latest(1, false))[0] ?? null;
  const [sample] = await ctx.call<Sample[], unknown>("events.load", { tenant_id, event_ids: [event_id] });
  if (!sample) throw notFound("event", event_id);
  if (!isTested) return sample;
  const { type } = eventOf(sample);
  const tested = await latest(TEST_EVENTS, isOfService(type));
  if (!tested.some((each) => each.event_id === event_id)) throw notFound("event", event_id);
  return sample;
}

/** Why an agent is likely to receive nothing: no subscription, or one that has not matched. */
export interface Lacking {
  /** Of the interest that has waited longest; null without any subscription. */
  event_type: string | null;
  /** When that interest began to wait, in ms. */
  since: number | null;
}

/** Returns, of some agents that may receive, those that lack a subscription or have one unmatched since before a time. */
export async function findLacking(
  interests: TenantCollection<InterestDoc>,
  ctx: Call,
  { tenant_id, agent_ids, before }: { tenant_id: string; agent_ids: string[]; before: number },
): Promise<Record<string, Lacking>> {
  const projection = { agent_id: 1, event_type: 1, unmatched_since: 1 };
  const rows = await interests.find(tenant_id, { agent_id: { $in: agent_ids } }, { projection });
  const lacking: Record<string, Lacking> = {};
  for (const { agent_id, event_type, unmatched_since } of rows) {
    const since = unmatched_since?.getTime() ?? Number.POSITIVE_INFINITY;
    if (since <= before && since < (lacking[agent_id]?.since ?? Number.POSITIVE_INFINITY))
      lacking[agent_id] = { event_type, since };
  }
  const subscribed = new Set(rows.map(({ agent_id }) => agent_id));
  const others = agent_ids.filter((id) => !subscribed.has(id));
  if (others.length === 0) return lacking;
  const [fed, receiving] = await Promise.all([
    ctx.call<string[], unknown>("channels.fed_agents", { tenant_id, agent_ids: others }),
    ctx.call<string[], unknown>("keys.receiving", { tenant_id, agent_ids: others }),
  ]);
  const isFed = new Set(fed);
  // An agent without a key for receiving is there to send or to remember.
  for (const id of receiving) if (!isFed.has(id)) lacking[id] = { event_type: null, since: null };
  return lacking;
}

/** An event as `events.load` returns it. */
export interface Loaded {
  event_id: string;
  /** JSON text of the whole CloudEvent. */
  envelope: string;
  accepted_at: Date;
  /** Trace context of the publishing request, if the event has none. */
  traceparent?: string;
}

/** An event to test an interest on. */
export interface Sample extends Loaded {
  /** The CloudEvent, once parsed. */
  event?: CloudEvent;
}

/** Params of `events.latest`, which returns samples. */
export interface LatestParams {
  tenant_id: string;
  limit: number;
  /** With the service's own. */
  include_service: boolean;
}

export const TEST_EVENTS = 100;

/** Whether a type or glob is of the service's own events. */
export const isOfService = (type: string) => /^(service|memory)\./.test(type);

interface Verdict {
  reason: (typeof VERDICTS)[number];
  error?: string;
}

/** How long trying events may block the event loop. */
const SLICE_MS = 2;

function eventOf(sample: Sample): CloudEvent {
  sample.event ??= parseEnvelope<CloudEvent>(sample.envelope);
  return sample.event;
}

function headOf(sample: Sample) {
  const { type, source, subject = null } = eventOf(sample);
  const accepted_at = new Date(sample.accepted_at).toISOString();
  return { event_id: sample.event_id, type, source, subject, accepted_at };
}

/** Returns for each event whether a candidate would match it, and why not. Glob and filter are valid. */
export async function tryInterest(glob: string, filter: string | null, samples: Sample[]) {
  const results = [];
  const types = compileGlob(glob);
  const predicate = filter === null ? null : compileFilter(filter);
  const ofType: CloudEvent[] = [];
  const slices = new Slices(SLICE_MS);
  for (const sample of samples) {
    const event = eventOf(sample);
    const { reason, error } = verdict(event);
    if (reason !== "type") ofType.push(filterable(event) as CloudEvent);
    results.push({ ...headOf(sample), matches: reason === "match", reason, ...(error && { error }) });
    if (slices.over) await slices.next();
  }
  const matched = results.filter(({ matches }) => matches).length;
  const hints = filter === null ? [] : filterHints(filter, ofType).map(({ text }) => text);
  return { tested: results.length, matched, hints, results };

  function verdict(event: CloudEvent): Verdict {
    const isNamed = types.prefix.length >= reservedPrefix(event.type).length;
    if (!isNamed || !types.test(event.type)) return { reason: "type" };
    if (!predicate) return { reason: "match" };
    const { outcome, error } = predicate.explain(new EventScope(event));
    if (outcome === "error")
      return { reason: "filter_error", error: error ?? "the filter could not be evaluated" };
    return { reason: outcome === "match" ? "match" : "filter" };
  }
}
