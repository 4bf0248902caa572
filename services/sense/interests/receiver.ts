/** A receiver of an event with its matches: the result of `interests.match`, for fan-out and replays. */
export interface Receiver {
  agent_id: string;
  interest_ids: string[];
  feed_ids: string[];
  priority: number;
  enrichment_depth: "none" | "shallow" | "deep";
}

/** Builds the request to `deliveries.enqueue`. `size`: bytes of the event as JSON. */
export function deliveryTo(receiver: Receiver, tenant_id: string, event_id: string, size: number) {
  const { agent_id, interest_ids, feed_ids, priority, enrichment_depth } = receiver;
  const matched = { interest_ids, feed_ids };
  return { tenant_id, event_id, agent_id, priority, matched, enrichment_depth, size };
}
