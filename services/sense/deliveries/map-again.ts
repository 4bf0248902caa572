import type { ServiceBroker } from "moleculer";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { BatchAnswer } from "../events/publish-answers.ts";
import { keptReason, reasonKey } from "./dead.ts";
import { payloadOf } from "./dead-letters.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** What mapping a dead letter anew came to; the error is a whole reason. */
type MappedAgain = { event: CloudEvent } | { error: string };

/** A dead letter that its inlet can map once more. */
export type Unmapped = DeliveryDoc & Required<Pick<DeliveryDoc, "origin">>;

export function isUnmapped(doc: DeliveryDoc): doc is Unmapped {
  return doc.event_id === null && doc.origin !== undefined;
}

/** Maps what came by the registration's mapping as it is now. */
export function mapAgain(broker: ServiceBroker, doc: Unmapped): Promise<MappedAgain> {
  const { inlet, ...origin } = doc.origin;
  const { tenant_id, created_at } = doc;
  return broker.call(`${inlet}.map_again`, {
    ...origin,
    ...{ tenant_id, payload: payloadOf(doc), received_at: created_at.getTime() },
  });
}

/**
 * Carries out the replay of what was not mapped: publishes it, and it is no dead letter any more; or says anew why not.
 * Repeated after a crash it is the same event again, which adds nothing.
 *
 * @throws Error when it cannot be told now
 */
export async function publishAgain(
  broker: ServiceBroker,
  deliveries: TenantCollection<DeliveryDoc>,
  doc: Unmapped,
): Promise<void> {
  const { _id, tenant_id, agent_id } = doc;
  const guard = { _id, agent_id, state: "dead" as const };
  const error = await publish(broker, doc);
  if (error === null) {
    await deliveries.delete(tenant_id, guard);
    return;
  }
  const dlq_reason = keptReason(error);
  await deliveries.update(tenant_id, guard, {
    $set: { dlq_reason, dlq_reason_key: reasonKey(tenant_id, dlq_reason) },
    $unset: { replay_at: 1 },
  });
}

/** Why it is still no event; null when it is one. */
async function publish(broker: ServiceBroker, doc: Unmapped): Promise<string | null> {
  const mapped = await mapAgain(broker, doc);
  if ("error" in mapped) return mapped.error;
  const { tenant_id } = doc;
  const wanted = { tenant_id, publisher_id: null, events: [mapped.event] };
  const [answer] = await broker.call<[BatchAnswer], unknown>("events.ingest", wanted);
  if (answer.status !== "rejected") return null;
  if (answer.error.code === "internal_error") throw new Error(answer.error.message);
  return `mapping error: ${answer.error.message}`;
}
