import { backOff } from "../../../lib/queue/backoff.ts";
import { metrics } from "../../../observability/metrics.ts";
import { tally } from "../../../observability/tally.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Update, Write } from "../../../storage/query.ts";
import { deadUpdate } from "./dead.ts";
import { type DeliveryDoc, PENDING, TIMELINE_ENTRIES, type TimelineEntry } from "./deliveries.model.ts";

type Deliveries = TenantCollection<DeliveryDoc>;

/** Deliveries of one agent, and the current time. */
interface Settlement {
  tenant_id: string;
  agent_id: string;
  delivery_ids: string[];
  at: Date;
}

export function noted(entry: TimelineEntry) {
  return { timeline: { $each: [entry], $slice: -TIMELINE_ENTRIES } };
}

/**
 * Acknowledges deliveries under any lease: finished work is not repeated.
 *
 * @returns how many were pending until now
 */
export async function acknowledge(
  deliveries: Deliveries,
  { tenant_id, agent_id, delivery_ids, at }: Settlement,
  retire_at: Date,
): Promise<number> {
  const acknowledged = await deliveries.updateMany(
    tenant_id,
    { _id: { $in: delivery_ids }, agent_id, state: { $in: PENDING } },
    {
      $set: { state: "acknowledged", retire_at },
      $unset: { due_at: 1, lease: 1 },
      $push: noted({ at, what: "acknowledged" }),
    },
  );
  metrics.deliveriesAcknowledged.inc(acknowledged);
  tally(tenant_id, "acknowledged", acknowledged);
  return acknowledged;
}

interface GivenBack extends Settlement {
  retry_budget: number;
  /** Seconds until it is ready again, by attempts so far; the back-off if absent. 0 is at once. */
  delay?: (attempts: number, delivery_id: string) => number;
  /** The reason recorded on a dead letter. */
  reason?: (delivery_id: string) => string | undefined;
}

/**
 * Returns leased deliveries to the queue after a delay, or dead-letters them if their budget is spent. Deliveries
 * without a lease stay unchanged.
 */
export async function giveBack(
  deliveries: Deliveries,
  {
    tenant_id,
    agent_id,
    delivery_ids,
    at,
    retry_budget,
    delay = backOffOf,
    reason = () => undefined,
  }: GivenBack,
): Promise<{ nacked: number; dead_lettered: number; ready: boolean }> {
  const held = await deliveries.find(
    tenant_id,
    { _id: { $in: delivery_ids }, agent_id, state: "leased" },
    { projection: { attempt_count: 1, lease: 1 } },
  );
  let ready = false;
  const toDead: Write<DeliveryDoc>[] = [];
  const toRetry: Write<DeliveryDoc>[] = [];
  for (const { _id, attempt_count, lease } of held) {
    // Only this lease: the row may be settled and leased again before this write.
    const filter = { _id, tenant_id, agent_id, state: "leased" as const, lease };
    const why = reason(_id);
    if (attempt_count >= retry_budget) {
      const update = deadUpdate({
        tenant_id,
        agent_id,
        at,
        reason: spent(retry_budget, why ?? "handed back"),
      });
      toDead.push({ updateOne: { filter, update } });
      continue;
    }
    const seconds = delay(attempt_count, _id);
    ready ||= seconds <= 0;
    toRetry.push({ updateOne: { filter, update: retryUpdate(at, seconds, why) } });
  }
  const [dead_lettered, retried] = await Promise.all([write(deliveries, toDead), write(deliveries, toRetry)]);
  metrics.deliveriesNacked.inc(dead_lettered + retried);
  metrics.deliveriesDeadLettered.inc(dead_lettered);
  return { nacked: dead_lettered + retried, dead_lettered, ready };
}

function backOffOf(attempts: number): number {
  return backOff(attempts);
}

/** Returns the reason of a dead letter whose budget is spent (spec: DLQ item). */
export function spent(budget: number, why: string): string {
  return `max attempts exceeded (${budget}): ${why}`;
}

function retryUpdate(at: Date, seconds: number, reason: string | undefined): Update<DeliveryDoc> {
  const entry: TimelineEntry = { at, what: "nacked", ...(reason !== undefined && { reason }) };
  if (seconds <= 0) {
    return {
      $set: { state: "ready" as const },
      $unset: { due_at: 1, lease: 1 } as const,
      $push: noted(entry),
    };
  }
  const due_at = new Date(at.getTime() + seconds * 1000);
  return { $set: { state: "waiting" as const, due_at }, $unset: { lease: 1 } as const, $push: noted(entry) };
}

async function write(deliveries: Deliveries, operations: Write<DeliveryDoc>[]): Promise<number> {
  return operations.length ? (await deliveries.bulk(operations)).modifiedCount : 0;
}

/** Extends leases to `seconds` from now. @returns how many were leased */
export function extendLeases(
  deliveries: Deliveries,
  settlement: Settlement,
  seconds: number,
): Promise<number> {
  const { tenant_id, agent_id, delivery_ids, at } = settlement;
  const due_at = new Date(at.getTime() + seconds * 1000);
  return deliveries.updateMany(
    tenant_id,
    { _id: { $in: delivery_ids }, agent_id, state: "leased" },
    { $set: { due_at } },
  );
}

const GIVEN_UP_AT_ONCE = 500;

/** Dead-letters an agent's ready deliveries created before a time. @returns how many */
export async function giveUp(
  deliveries: Deliveries,
  {
    tenant_id,
    agent_id,
    before,
    at,
    reason,
  }: Omit<Settlement, "delivery_ids"> & { before: Date; reason: string },
): Promise<number> {
  for (let dead = 0; ; ) {
    const old = await deliveries.find(
      tenant_id,
      { state: "ready", agent_id, created_at: { $lt: before } },
      { limit: GIVEN_UP_AT_ONCE, projection: { _id: 1 } },
    );
    const guard = { _id: { $in: old.map(({ _id }) => _id) }, state: "ready" as const };
    if (old.length)
      dead += await deliveries.updateMany(tenant_id, guard, deadUpdate({ tenant_id, agent_id, at, reason }));
    if (old.length === GIVEN_UP_AT_ONCE) continue;
    metrics.deliveriesDeadLettered.inc(dead);
    return dead;
  }
}

/** Releases what a lease still holds, at once and without counting an attempt. @returns how many */
export function release(deliveries: Deliveries, settlement: Settlement & { lease: string }): Promise<number> {
  const { tenant_id, agent_id, delivery_ids, lease, at } = settlement;
  return deliveries.updateMany(
    tenant_id,
    { _id: { $in: delivery_ids }, agent_id, state: "leased", lease },
    {
      $set: { state: "ready" },
      $unset: { due_at: 1, lease: 1 },
      $inc: { attempt_count: -1 },
      $push: noted({ at, what: "returned" }),
    },
  );
}
