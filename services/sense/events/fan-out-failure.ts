import { FAULTS, isFault } from "../../../lib/contract/faults.ts";
import { metrics } from "../../../observability/metrics.ts";
import { isStoreLost } from "../../../storage/store-lost.ts";
import { noteChange } from "../../../storage/traffic/tally.ts";
import type { EventDeps } from "./deps.ts";
import type { EventDoc } from "./events.model.ts";
import type { Entry } from "./fan-out-queue.ts";
import { fanoutKey } from "./position.ts";

/** Delays of the retries; an event that fails once more is parked. */
const RETRY_SECONDS = [1, 10, 60, 300];

/** Whether an error affects all events, such as a missing store, and not just this event. */
export function isSystemic(err: unknown): boolean {
  if (isFault(err)) return FAULTS[err.type as keyof typeof FAULTS].retryable && err.type !== "internal_error";
  const { retryable, code } = err as { retryable?: boolean; code?: unknown };
  return retryable === true || isStoreLost(err) || String(code).includes("SQLITE");
}

/** Returns what such an error waits for, for the operator. */
export function missingFor(err: unknown): string {
  if (isStoreLost(err)) return "the database, which cannot be reached or written to";
  const { action } = ((err as { data?: unknown }).data ?? {}) as { action?: string };
  return action
    ? `the service ${action.split(".")[0]}, which does not answer`
    : "other services, which are busy";
}

/** Records an event's own failure: it is due again after a delay, or parked after the last retry. */
export async function retryLater(deps: EventDeps, entry: Entry, err: Error): Promise<void> {
  const { events, store } = deps;
  const { event_id, tenant_id, owner, attempts } = entry;
  const seconds = RETRY_SECONDS[attempts];
  if (seconds === undefined) return park(deps, { _id: event_id, tenant_id }, err.message);
  await events.updateMany(
    tenant_id,
    { _id: event_id, fanout_owner: owner },
    {
      $set: { fanout_key: fanoutKey(tenant_id, store.now() + seconds * 1000) },
      $unset: { fanout_owner: 1 },
      $inc: { fanout_attempts: 1 },
    },
  );
}

/** Parks an event until an admin retries it. */
export async function park(
  { events, store, broker }: EventDeps,
  { _id: event_id, tenant_id }: Pick<EventDoc, "_id" | "tenant_id">,
  reason: string,
): Promise<void> {
  await events.updateMany(
    tenant_id,
    { _id: event_id, fanout_key: { $exists: true } },
    {
      $set: { parked_at: new Date(store.now()), park_reason: reason.slice(0, 500) },
      $unset: { fanout_key: 1, fanout_owner: 1 },
    },
  );
  metrics.eventsParked.inc();
  noteChange(tenant_id);
  broker.logger.error({ event_id, reason }, "event parked");
}

/** Releases the leases of events of one tenant: any node may claim them at once. */
export async function releaseLeases({ events, store }: EventDeps, entries: Entry[]): Promise<void> {
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
