import { LruMap } from "../lib/lru-map.ts";
/** What is counted of each tenant. */
export const TALLIED = ["published", "delivered", "acknowledged"] as const;
type Tallied = (typeof TALLIED)[number];
export type Tally = Record<Tallied, number[]>;

/** Seconds of one count. */
export const TALLY_SECONDS = 10;
/** So many counts are kept: a quarter of an hour. */
const TALLY_LENGTH = 90;

interface Counts {
  /** Number of the newest count: time divided by its length. */
  at: number;
  counts: Tally;
}

const tenants = new LruMap<string, Counts>(1000);

/** Counts what this process does for a tenant, for the console to show (the operator's metrics name no tenant). */
export function tally(tenant_id: string, what: Tallied, count: number, now = Date.now()): void {
  if (count === 0) return;
  const { counts } = upTo(tenant_id, slotOf(now));
  (counts[what][TALLY_LENGTH - 1] as number) += count;
}

/** What this process did for a tenant in the last quarter of an hour, oldest first; the last count still runs. */
export function tallyOf(tenant_id: string, now = Date.now()): Tally {
  if (!tenants.has(tenant_id)) return emptyTally();
  return upTo(tenant_id, slotOf(now)).counts;
}

export function emptyTally(): Tally {
  const zeros = () => new Array<number>(TALLY_LENGTH).fill(0);
  return { published: zeros(), delivered: zeros(), acknowledged: zeros() };
}

const slotOf = (now: number) => Math.floor(now / (TALLY_SECONDS * 1000));

/** A tenant's counts, moved along so that the last is of this time. */
function upTo(tenant_id: string, at: number): Counts {
  const known = tenants.get(tenant_id) ?? { at, counts: emptyTally() };
  tenants.set(tenant_id, known);
  const passed = Math.min(at - known.at, TALLY_LENGTH);
  if (passed <= 0) return known;
  for (const what of TALLIED) {
    known.counts[what].splice(0, passed);
    known.counts[what].push(...new Array<number>(passed).fill(0));
  }
  known.at = at;
  return known;
}
