import { LruMap } from "../../../lib/lru-map.ts";
import { HOUR_MS } from "../../../lib/time.ts";

/**
 * Counters of a tenant's traffic. `delivered` counts attempts, `failed`
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
/**
 * Counters of a tenant's use of the service, for the operator: by hour, not by agent or type. `cpu_ms` is the
 * processor time of all nodes, each node's divided by what it did for each tenant (`noteWork`).
 */
type Used = "requests" | "searches" | "cpu_ms";
export type Counts = Partial<Record<Counted | Used, number>>;

/** Whose traffic: the agent that published it or receives it, if any, and the type of the event, if known. */
export interface Of {
  tenant_id: string;
  agent_id?: string | null;
  type?: string | undefined;
}

type ByAgent = Map<string, Map<string, Counts>>;

/** Stands for no agent: a person, a webhook or a connector. */
export const NOBODY = "";
/** Stands for the agents or types beyond those counted by themselves, and for unknown types. */
export const OTHER = "other";

/** A tenant's agents and types that are counted by themselves in an hour, on each node: these bound the rows. */
export const MAX_AGENTS = 500;
export const MAX_TYPES = 100;

/** The counts that are shown as they change. */
export const RECENT = ["published", "delivered", "acknowledged"] as const;
/** Seconds of one of them. */
export const RECENT_SECONDS = 10;
/** Their number: a quarter of an hour, oldest first; the last is still in progress. */
const RECENT_LENGTH = 90;
export type Recent = Record<(typeof RECENT)[number], number[]> & {
  /** Rises with each change of events and deliveries. */
  changes: number;
};

/** A tenant's use of this process, and its work in milliseconds. */
export interface Use {
  counts: Counts;
  work: number;
}

/** Counts that this process keeps of a tenant. */
interface Tenant {
  /** The agents and types counted by themselves in this hour. */
  hour: number;
  agents: Set<string>;
  types: Set<string>;
  recent: Recent;
  /** Number of the last of the recent counts: time divided by its length. */
  recent_at: number;
}

/** The subject of the last count: mostly the next one has the same. */
interface Last extends Of {
  at: number;
  tenant: Tenant;
  counts: Counts;
}

const tenants = new LruMap<string, Tenant>(1000);
let pending = new Map<string, ByAgent>();
let last: Last | null = null;
let use = new Map<string, Use>();

/** Counts something that this process did for a tenant: in memory, until `Traffic` adds it to the tenant's rows. */
export function tally(of: Of, what: Counted, count: number, now = Date.now()): void {
  if (count === 0) return;
  const { tenant_id, agent_id, type } = of;
  const at = recentAt(now);
  if (last?.at !== at || last.tenant_id !== tenant_id || last.agent_id !== agent_id || last.type !== type)
    last = { tenant_id, agent_id, type, at, ...getCounts(of, now) };
  const { tenant, counts } = last;
  counts[what] = (counts[what] ?? 0) + count;
  tenant.recent.changes++;
  const recent = tenant.recent[what as (typeof RECENT)[number]];
  if (recent) (recent[RECENT_LENGTH - 1] as number) += count;
}

export function tallyUse(tenant_id: string, what: "requests" | "searches"): void {
  const { counts } = useOf(tenant_id);
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Notes milliseconds of work of this process for a tenant, which get their part of its processor time. */
export function noteWork(tenant_id: string, ms: number): void {
  useOf(tenant_id).work += ms;
}

/** Returns the tenants' use since the last call. */
export function drainUse(): Map<string, Use> {
  const drained = use;
  use = new Map();
  return drained;
}

/** Notes a change that no count shows: pages that show the tenant's events and deliveries reload them. */
export function noteChange(tenant_id: string, now = Date.now()): void {
  tenantAt(tenant_id, recentAt(now)).recent.changes++;
}

/** Returns what was counted since the last call, by tenant. */
export function drainTally(): Map<string, ByAgent> {
  const drained = pending;
  pending = new Map();
  last = null;
  return drained;
}

/** Returns this process's recent counts for a tenant. */
export function recentOf(tenant_id: string, now = Date.now()): Recent {
  return tenants.has(tenant_id) ? tenantAt(tenant_id, recentAt(now)).recent : noneRecent();
}

export function noneRecent(): Recent {
  const zeros = () => new Array<number>(RECENT_LENGTH).fill(0);
  return { published: zeros(), delivered: zeros(), acknowledged: zeros(), changes: 0 };
}

const useOf = (tenant_id: string) => orSet(use, tenant_id, (): Use => ({ counts: {}, work: 0 }));

const recentAt = (now: number) => Math.floor(now / (RECENT_SECONDS * 1000));

function getCounts({ tenant_id, agent_id, type }: Of, now: number): { tenant: Tenant; counts: Counts } {
  const tenant = tenantAt(tenant_id, recentAt(now));
  const hour = Math.floor(now / HOUR_MS);
  if (tenant.hour !== hour) Object.assign(tenant, { hour, agents: new Set(), types: new Set() });
  const agent = agent_id ? among(tenant.agents, agent_id, MAX_AGENTS) : NOBODY;
  const kind = type ? among(tenant.types, type, MAX_TYPES) : OTHER;
  const agents = orSet(pending, tenant_id, () => new Map() as ByAgent);
  const types = orSet(agents, agent, () => new Map<string, Counts>());
  return { tenant, counts: orSet(types, kind, () => ({}) as Counts) };
}

/** Returns a tenant, its recent counts shifted so that the last is the one of a time. */
function tenantAt(tenant_id: string, at: number): Tenant {
  const tenant = orSet(tenants, tenant_id, (): Tenant => {
    const counted = { hour: 0, agents: new Set<string>(), types: new Set<string>() };
    return { ...counted, recent: noneRecent(), recent_at: at };
  });
  const passed = Math.min(at - tenant.recent_at, RECENT_LENGTH);
  if (passed <= 0) return tenant;
  for (const what of RECENT) {
    tenant.recent[what].splice(0, passed);
    tenant.recent[what].push(...new Array<number>(passed).fill(0));
  }
  tenant.recent_at = at;
  return tenant;
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
