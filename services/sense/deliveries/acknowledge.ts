import type { OfAgent } from "../../../lib/access/caller.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Claims } from "./claim.ts";
import { type DeliveryDoc, PENDING, SETTLED, timelinePush } from "./deliveries.model.ts";
import type { Progress } from "./health/progress.ts";
import type { Ordering } from "./ordering.ts";
import type { ReadyDeliveries, ToAcknowledge } from "./ready.ts";

/** Deliveries of one agent. */
export interface Selection extends OfAgent {
  delivery_ids: string[];
}

export type Logged = Pick<DeliveryDoc, "log" | "log_at">;

export interface AcknowledgeDeps {
  deliveries: TenantCollection<DeliveryDoc>;
  /** Null on a store with several nodes. */
  ready: ReadyDeliveries | null;
  store: Pick<Store, "now">;
  claims: Pick<Claims, "acknowledgements">;
  ordering: Ordering;
  progress: Pick<Progress, "acknowledged" | "failed">;
  /** How long acknowledged rows keep their timeline. */
  retentionMs: number;
}

/**
 * Acknowledges deliveries, and releases the next of their keys with the same writes. Under any lease, whichever a request
 * names: finished work is not repeated. @returns how many were pending until now
 */
export async function acknowledge(
  deps: AcknowledgeDeps,
  { tenant_id, agent_id, delivery_ids }: Selection,
  logged?: Logged,
): Promise<number> {
  const { deliveries, ready, store, claims, progress, ordering, retentionMs } = deps;
  const { groups, unknown } = claims.acknowledgements.groupsOf(delivery_ids);
  if (unknown.length > 0) groups.push(...(await readGroups(ready?.rows ?? deliveries, tenant_id, unknown)));
  // Without a key nothing is awaited: the write is sent before the lease of the next (`Claims.claim`).
  const next = groups.length > 0 ? await ordering.next(tenant_id, groups) : null;
  const at = new Date(store.now());
  const retire_at = new Date(at.getTime() + retentionMs);
  // As a bulk of one: what is sent behind it stays behind it.
  const write = async (rows: TenantCollection<DeliveryDoc>, { ids, handed_out_at }: ToAcknowledge) => {
    const filter = { _id: { $in: ids }, tenant_id, agent_id, state: { $in: PENDING } };
    const update = {
      $set: { ...logged, state: "acknowledged" as const, retire_at },
      $unset: SETTLED,
      ...(handed_out_at && { $inc: { attempt_count: 1 } }),
      $push: timelinePush(...(handed_out_at ? [{ at: handed_out_at, what: "handed_out" } as const] : []), {
        at,
        what: "acknowledged",
      }),
    };
    return (await rows.bulk([{ updateMany: { filter, update } }])).modifiedCount;
  };
  const acknowledging = ready
    ? ready.acknowledge(agent_id, delivery_ids, write)
    : write(deliveries, { ids: delivery_ids });
  if (next) void ordering.follow(next, acknowledging);
  const acknowledged = await acknowledging;
  metrics.deliveriesAcknowledged.inc(acknowledged);
  const own = { tenant_id, agent_id };
  claims.acknowledgements.acknowledged(own, delivery_ids, acknowledged, at);
  if (acknowledged) progress.acknowledged(own, at);
  return acknowledged;
}

/** Reads the groups of deliveries that another node delivered, or this one before its start. */
async function readGroups(deliveries: TenantCollection<DeliveryDoc>, tenant_id: string, ids: string[]) {
  const filter = { _id: { $in: ids }, active_key: { $exists: true } };
  const rows = await deliveries.find(tenant_id, filter, { projection: { active_key: 1 } } as const);
  return rows.flatMap(({ active_key }) => active_key ?? []);
}
