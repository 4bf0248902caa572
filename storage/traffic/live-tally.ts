import { LruMap } from "../../lib/lru-map.ts";

/** The counts kept per tenant. */
export const TALLIED = ["published", "delivered", "acknowledged"] as const;
export type Tallied = (typeof TALLIED)[number];
export type Tally = Record<Tallied, number[]> & {
  /** Rises with each change of events and deliveries. */
  changes: number;
};

/** Seconds of one count. */
export const TALLY_SECONDS = 10;
/** Number of counts kept: a quarter of an hour. */
const TALLY_LENGTH = 90;

interface Counts {
  /** Number of the newest count: time divided by its length. */
  at: number;
  counts: Tally;
}

const tenants = new LruMap<string, Counts>(1000);

/** Counts this process's work of the last moments for a tenant: rates that are shown as they change. */
export function tallyLive(tenant_id: string, what: Tallied, count: number, now = Date.now()): void {
  if (count === 0) return;
  const { counts } = upTo(tenant_id, slotOf(now));
  (counts[what][TALLY_LENGTH - 1] as number) += count;
  counts.changes++;
}

/** Notes a change that no count shows: pages that show the tenant's events and deliveries reload them. */
export function noteChange(tenant_id: string, now = Date.now()): void {
  upTo(tenant_id, slotOf(now)).counts.changes++;
}

/** Returns this process's counts for a tenant, a quarter of an hour, oldest first; the last is still running. */
export function tallyOf(tenant_id: string, now = Date.now()): Tally {
  if (!tenants.has(tenant_id)) return emptyTally();
  return upTo(tenant_id, slotOf(now)).counts;
}

export function emptyTally(): Tally {
  const zeros = () => new Array<number>(TALLY_LENGTH).fill(0);
  return { published: zeros(), delivered: zeros(), acknowledged: zeros(), changes: 0 };
}

const slotOf = (now: number) => Math.floor(now / (TALLY_SECONDS * 1000));

/** Returns a tenant's counts, shifted so that the last is the current one. */
function upTo(tenant_id: string, at: number): Counts {
  const known = tenants.get(tenant_id);
  if (!known) {
    const fresh = { at, counts: emptyTally() };
    tenants.set(tenant_id, fresh);
    return fresh;
  }
  const passed = Math.min(at - known.at, TALLY_LENGTH);
  if (passed <= 0) return known;
  for (const what of TALLIED) {
    known.counts[what].splice(0, passed);
    known.counts[what].push(...new Array<number>(passed).fill(0));
  }
  known.at = at;
  return known;
}
