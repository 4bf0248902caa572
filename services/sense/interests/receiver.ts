import type { EnrichmentDepth } from "./interests.contract.ts";

/** An agent that receives an event, and why. */
export interface Receiver {
  agent_id: string;
  interest_ids: string[];
  feed_ids: string[];
  /** The highest priority of its matching interests; 0 if only feeds match. */
  priority: number;
  enrichment_depth: EnrichmentDepth;
  /** Those of its matching interests that retry soonest; absent if none sets any. */
  retry_delays_seconds?: readonly number[];
  /** Digest of the value of its interests' ordering key; absent without one. */
  ordering?: string;
}

export interface ListenersParams {
  tenant_id: string;
  type: string;
}

type Matched = Pick<Receiver, "interest_ids" | "feed_ids">;

/** An agent that listens to a type, with what matches it. */
export type Listener = Matched & Pick<Receiver, "agent_id">;

/** The result of `interests.match`: that of each of the first events, by the routing of a version or later ones. */
export interface Matches {
  matches: Match[];
  version: number;
}

export interface MatchLimits {
  /** Stop after the event that reaches this many receivers: the answer then holds fewer events than requested. */
  max_receivers?: number;
  /** The same once matching has taken as long, without the time of other work. */
  max_ms?: number;
}

export interface Match {
  event_id: string;
  receivers: Receiver[];
  /** Ids of waits for which it is the event; absent without any. */
  waits?: string[];
}

export interface NewDelivery extends Omit<Receiver, keyof Matched> {
  tenant_id: string;
  event_id: string;
  matched: Matched;
  /** Bytes of the event as JSON, so that a poll can stop at its size limit without reading it. */
  size?: number;
  /** The event's type, for statistics. */
  type?: string;
  /** The replay of history that requests it. */
  replay_id?: string;
}

export function deliveryTo(
  receiver: Receiver,
  { tenant_id, event_id, type, size }: Pick<NewDelivery, "tenant_id" | "event_id" | "type" | "size">,
): NewDelivery {
  const { agent_id, interest_ids, feed_ids, priority, enrichment_depth } = receiver;
  const matched = { interest_ids, feed_ids };
  const made: NewDelivery = {
    tenant_id,
    event_id,
    agent_id,
    priority,
    matched,
    enrichment_depth,
    type,
    size,
  };
  // Spreads would take a copy each, for each delivery.
  if (receiver.retry_delays_seconds) made.retry_delays_seconds = receiver.retry_delays_seconds;
  if (receiver.ordering !== undefined) made.ordering = receiver.ordering;
  return made;
}

/** A subscription: an agent's interest, a channel's feed, or a wait for one event (waits.ts). */
export interface Subscription {
  readonly id: string;
  readonly kind: "interest" | "feed" | "wait";
  readonly agent_id?: string;
  readonly channel_id?: string;
  /** Set for a wait: events accepted earlier, in ms since 1970, do not count; and who must be allowed to see them. */
  readonly begun_at?: number;
  readonly reader_id?: string;
  readonly glob: string;
  /** A CEL predicate; without one the glob alone decides. */
  readonly filter?: string;
  /** Set for an interest that has matched no event. */
  readonly unmatched?: boolean;
  /** 0..9, 9 first; feeds have 0. */
  readonly priority: number;
}
