import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import { isPlatformType, type PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { Due } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { DeadLetterNotice } from "./dead-letters.contract.ts";
import { loadEnvelopes } from "./dead-letters.ts";
import { type DeliveryDoc, inBatches, SHORTEST } from "./deliveries.model.ts";

const BATCH = 100;

/** Publishes `service.delivery.dead_lettered` for dead rows and clears their mark; repeated after a crash it adds nothing. */
export function newAnnouncements(
  broker: ServiceBroker,
  deliveries: TenantCollection<DeliveryDoc>,
  now: () => number,
): () => Promise<boolean> {
  const due = new Due({ rows: deliveries, by: "announce_at", now, batch: BATCH, projection: SHORTEST });
  return () =>
    due.work(async (tenant_id, rows) => {
      for (const batch of inBatches(rows)) await announceBatch(broker, deliveries, tenant_id, batch);
    });
}

async function announceBatch(
  broker: ServiceBroker,
  deliveries: TenantCollection<DeliveryDoc>,
  tenant_id: string,
  rows: DeliveryDoc[],
): Promise<void> {
  const envelopes = await loadEnvelopes(broker, tenant_id, rows);
  await Promise.all(rows.map((row) => announce(broker, row, envelopes.get(row.event_id ?? ""))));
  for (const [announce_at, same] of Map.groupBy(rows, (row) => row.announce_at?.getTime() as number)) {
    // Clear only announced marks: a row that was replayed and dead-lettered again meanwhile has another time.
    const guard = { _id: { $in: same.map(({ _id }) => _id) }, announce_at: new Date(announce_at) };
    await deliveries.updateMany(tenant_id, guard, { $unset: { announce_at: 1 } });
  }
}

async function announce(
  broker: ServiceBroker,
  row: DeliveryDoc,
  envelope: string | undefined,
): Promise<void> {
  // Never announce a dead-lettered announcement: it would loop.
  if (envelope !== undefined && isPlatformType(JSON.parse(envelope).type)) return;
  const { _id, tenant_id, event_id, agent_id, attempt_count, dead_lettered_at } = row;
  const dlq_reason = row.dlq_reason as string;
  await broker.call("events.emit", {
    tenant_id,
    type: "service.delivery.dead_lettered" satisfies PlatformEventType,
    subject: _id,
    data: { delivery_id: _id, event_id, agent_id, attempt_count, dlq_reason } satisfies Static<
      typeof DeadLetterNotice
    >,
    dedupe: `${_id} ${dead_lettered_at?.getTime()}`,
  });
}
