import { LruMap } from "../../lib/lru-map.ts";
import { HOUR_MS } from "../../lib/time.ts";
import { TALLIED, type Tallied, tallyLive } from "./live-tally.ts";

/**
 * What is counted of a tenant's traffic (the operator's metrics name no tenant). `delivered` counts attempts, `failed`
 * those that were rejected, answered with an error or not acknowledged in time. `latency_ms` is the sum of the times
 * from a delivery's creation to its acknowledgement, `timed` the number of these.
 */
export const COUNTED = [
  "published",
  "created",
  "delivered",
  "acknowledged",
  "failed",
  "dead_lettered",
  "latency_ms",
  "timed",
] as const;
export type Counted = (typeof COUNTED)[number];
export type Counts = Partial<Record<Counted, number>>;

/** Whose traffic: the agent that published it or receives it, if any, and the type of the event, if known. */
export interface Of {
  tenant_id: string;
  agent_id?: string | null;
  type?: string | undefined;
}

/** Counts by agent, then by type. */
type ByAgent = Map<string, Map<string, Counts>>;

/** Stands for no agent: a person, a webhook or a connector. */
export const NOBODY = "";
/** Stands for the agents or types beyond those counted by themselves, and for unknown types. */
export const OTHER = "other";

/** A tenant's agents and types that are counted by themselves in an hour, on each node: these bound the rows. */
export const MAX_AGENTS = 500;
export const MAX_TYPES = 100;

const live = new Set<string>(TALLIED);
const admitted = new LruMap<string, { hour: number; agents: Set<string>; types: Set<string> }>(1000);
let pending = new Map<string, ByAgent>();
/** Most calls count for the same agent and type as the one before. */
let last: (Of & { hour: number; counts: Counts }) | undefined;

/** Counts something that this process did for a tenant: in memory, until `Traffic` adds it to the tenant's rows. */
export function tally(of: Of, what: Counted, count: number, now = Date.now()): void {
  if (count === 0) return;
  if (live.has(what)) tallyLive(of.tenant_id, what as Tallied, count, now);
  const counts = countsOf(of, now);
  counts[what] = (counts[what] ?? 0) + count;
}

/** Returns what was counted since the last call, by tenant. */
export function drainTally(): Map<string, ByAgent> {
  const drained = pending;
  if (drained.size > 0) pending = new Map();
  last = undefined;
  return drained;
}

function countsOf({ tenant_id, agent_id, type }: Of, now: number): Counts {
  const hour = Math.floor(now / HOUR_MS);
  const isLast = last?.type === type && last?.agent_id === agent_id && last?.tenant_id === tenant_id;
  if (last && isLast && last.hour === hour) return last.counts;
  const known = admittedFor(tenant_id, hour);
  const agent = agent_id ? among(known.agents, agent_id, MAX_AGENTS) : NOBODY;
  const kind = type ? among(known.types, type, MAX_TYPES) : OTHER;
  const agents = orSet(pending, tenant_id, () => new Map() as ByAgent);
  const types = orSet(agents, agent, () => new Map<string, Counts>());
  const counts = orSet(types, kind, () => ({}) as Counts);
  last = { tenant_id, agent_id, type, hour, counts };
  return counts;
}

function admittedFor(tenant_id: string, hour: number) {
  const known = admitted.get(tenant_id);
  if (known?.hour === hour) return known;
  const fresh = { hour, agents: new Set<string>(), types: new Set<string>() };
  admitted.set(tenant_id, fresh);
  return fresh;
}

function among(known: Set<string>, name: string, max: number): string {
  if (known.has(name)) return name;
  if (known.size >= max) return OTHER;
  known.add(name);
  return name;
}

function orSet<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
