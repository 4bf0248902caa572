/**
 * Returns the id of an event's delivery to an agent, always the same. It starts with the event's id, which grows with
 * time, so that new rows come last in the index and those of one event are adjacent.
 */
export function deliveryId(event_id: string, agent_id: string): string {
  return `dlv_${event_id.slice("evt_".length)}-${agent_id.slice("ag_".length)}`;
}

/** Filters all deliveries of an event: their ids share its part up to the hyphen, which "." follows. */
export function ofEvent(event_id: string) {
  const part = event_id.slice("evt_".length);
  return { _id: { $gt: `dlv_${part}-`, $lt: `dlv_${part}.` } };
}
