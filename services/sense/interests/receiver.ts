/** One receiver of an event, and why: what `interests.match` gives, to fan-out and to replays alike. */
export interface Receiver {
  agent_id: string;
  interest_ids: string[];
  feed_ids: string[];
  priority: number;
  enrichment_depth: "none" | "shallow" | "deep";
}

/** The delivery that `deliveries.enqueue` is asked for. `size`: bytes of the event as JSON. */
export function deliveryTo(receiver: Receiver, tenant_id: string, event_id: string, size: number) {
  const { agent_id, interest_ids, feed_ids, priority, enrichment_depth } = receiver;
  const matched = { interest_ids, feed_ids };
  return { tenant_id, event_id, agent_id, priority, matched, enrichment_depth, size };
}
