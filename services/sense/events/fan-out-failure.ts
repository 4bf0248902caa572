import { FAULTS, isFault } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { isStoreLost } from "../../../storage/store-lost.ts";
import type { EventDoc } from "./events.model.ts";
import type { Entry } from "./fan-out-queue.ts";
import { fanoutKey } from "./position.ts";

interface Parts {
  events: TenantCollection<EventDoc>;
  store: Store;
}

const RETRY_SECONDS = [1, 10, 60, 300];

/** Returns the milliseconds until a retry after this many failures; null to park the event (the fifth). */
export function retryDelay(failures: number): number | null {
  const seconds = RETRY_SECONDS[failures - 1];
  return seconds === undefined ? null : seconds * 1000;
}

/** Whether an error affects all events, such as a missing store, and not just this event. */
export function isSystemic(err: unknown): boolean {
  if (isFault(err)) return FAULTS[err.type as keyof typeof FAULTS].retryable && err.type !== "internal_error";
  const { retryable, code } = err as { retryable?: boolean; code?: unknown };
  return retryable === true || isStoreLost(err) || String(code).includes("SQLITE");
}

/** Records an event's own failure and the time of its retry. */
export async function postpone({ events, store }: Parts, entry: Entry, delay: number): Promise<void> {
  const { event_id, tenant_id, owner } = entry;
  await events.updateMany(
    tenant_id,
    { _id: event_id, fanout_owner: owner },
    {
      $set: { fanout_key: fanoutKey(tenant_id, store.now() + delay) },
      $unset: { fanout_owner: 1 },
      $inc: { fanout_attempts: 1 },
    },
  );
}

/** Releases the leases of events of one tenant: any node may claim them at once. */
export async function giveBack({ events, store }: Parts, entries: Entry[]): Promise<void> {
  const tenant_id = (entries[0] as Entry).tenant_id;
  await events.updateMany(
    tenant_id,
    {
      _id: { $in: entries.map((entry) => entry.event_id) },
      fanout_owner: { $in: [...new Set(entries.map((entry) => entry.owner))] },
    },
    { $set: { fanout_key: fanoutKey(tenant_id, store.now()) }, $unset: { fanout_owner: 1 } },
  );
}

/** Parks an event until an admin retries it. */
export async function park(
  { events, store }: Parts,
  row: Pick<EventDoc, "_id" | "tenant_id">,
  reason: string,
) {
  await events.updateMany(
    row.tenant_id,
    { _id: row._id, fanout_key: { $exists: true } },
    {
      $set: { parked_at: new Date(store.now()), park_reason: reason.slice(0, 500) },
      $unset: { fanout_key: 1, fanout_owner: 1 },
    },
  );
}
