import type { ServiceBroker } from "moleculer";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { BatchAnswer } from "../../../lib/cloudevents/publish-answers.ts";
import { parseExact } from "../../../lib/json/json.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { keptReason, reasonKey } from "./dead-letter-state.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";
import { mappingError } from "./mapping-error.ts";

/** The result of mapping a dead letter again; the error is a complete reason. */
type MappedAgain = { event: CloudEvent } | { error: string };

/** A dead letter that its inlet can map again. */
export type Unmapped = DeliveryDoc & Required<Pick<DeliveryDoc, "origin">>;

export function isUnmapped(doc: DeliveryDoc): doc is Unmapped {
  return doc.event_id === null && doc.origin !== undefined;
}

/** Maps the payload by the registration's current mapping. */
export function mapAgain(broker: ServiceBroker, doc: Unmapped): Promise<MappedAgain> {
  const { inlet, ...origin } = doc.origin;
  const { tenant_id, created_at, payload_json } = doc;
  const payload = payload_json === undefined ? undefined : parseExact(payload_json);
  const received_at = created_at.getTime();
  return broker.call(`${inlet}.map_again`, { ...origin, tenant_id, payload, received_at });
}

/**
 * Replays an unmapped payload: publishes it and removes the dead letter, or records why it still fails. Repeated after
 * a crash it publishes the same event, which adds nothing.
 *
 * @throws Error if the outcome cannot be determined now
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

/** Returns why it still cannot be mapped; null if it was published. */
async function publish(broker: ServiceBroker, doc: Unmapped): Promise<string | null> {
  const mapped = await mapAgain(broker, doc);
  if ("error" in mapped) return mapped.error;
  const { tenant_id } = doc;
  const params = { tenant_id, publisher_id: null, events: [mapped.event] };
  const [answer] = await broker.call<[BatchAnswer], unknown>("events.ingest", params);
  if (answer.status !== "rejected") return null;
  if (answer.error.code === "internal_error") throw new Error(answer.error.message);
  return mappingError(answer.error);
}
