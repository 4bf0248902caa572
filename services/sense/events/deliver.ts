import type { ServiceBroker } from "moleculer";
import { deliveryTo, type Match } from "../interests/receiver.ts";
import type { Entry } from "./fan-out-queue.ts";

const ENQUEUE_CHUNK = 1_000;
const MAX_RECEIVERS = 10_000;

/**
 * Matches events of one tenant and enqueues their deliveries by one call each, whatever the number of events.
 *
 * @param onMatched is called when the last deliveries are being written
 * @returns the number of receivers of each of the first events: of one at least. With very many receivers it stops
 * early to bound memory; call again for the rest.
 */
export async function deliver(
  broker: ServiceBroker,
  entries: Entry[],
  onMatched: () => void,
): Promise<number[]> {
  const tenant_id = (entries[0] as Entry).tenant_id;
  const events = entries.map(({ event_id, event }) => ({ event_id, envelope: event }));
  const matches: Match[] = await broker.call("interests.match", {
    tenant_id,
    events,
    max_receivers: MAX_RECEIVERS,
  });
  const deliveries = matches.flatMap(({ event_id, receivers }, i) => {
    const { size } = entries[i] as Entry;
    return receivers.map((receiver) => deliveryTo(receiver, tenant_id, event_id, size));
  });
  const chunks: Promise<unknown>[] = [];
  for (let at = 0; at < deliveries.length; at += ENQUEUE_CHUNK) {
    const chunk = deliveries.slice(at, at + ENQUEUE_CHUNK);
    chunks.push(broker.call("deliveries.enqueue", { deliveries: chunk }));
  }
  if (matches.length === entries.length) onMatched();
  await Promise.all(chunks);
  return matches.map(({ receivers }) => receivers.length);
}
