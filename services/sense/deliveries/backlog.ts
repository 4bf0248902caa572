import type { Service } from "moleculer";
import type { OfAgent } from "../../../lib/access/caller.ts";
import { tenantsIn } from "../../../mixins/due.ts";
import { observeSharedGauge } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type DeliveryDoc, type DeliveryState, PENDING } from "./deliveries.model.ts";

/** Counting reads an index entry for every pending row, possibly millions. */
const FRESH_MS = 60_000;
/** Agents of a tenant whose oldest delivery one reading finds, by about three look-ups each. */
const AGENTS = 1_000;

/** Pending deliveries of all tenants. */
interface Backlog {
  counts: Record<string, number>;
  /** Creation time, in ms, of the oldest that is ready for its receiver. */
  oldest: number | null;
}

/** Shows the backlog of all tenants, on one of the nodes, at most a minute old. @param now the record's time, in ms */
export function observeBacklog(
  service: Service,
  deliveries: TenantCollection<DeliveryDoc>,
  now: () => number,
): void {
  const backlog = newBacklog(deliveries);
  observeSharedGauge(service, "deliveries_pending", async () => (await backlog()).counts);
  const readOldest = async () => {
    const { oldest } = await backlog();
    return { ready: oldest === null ? 0 : Math.max(0, now() - oldest) / 1000 };
  };
  observeSharedGauge(service, "deliveries_oldest_seconds", readOldest, "deliveries_pending");
}

function newBacklog(deliveries: TenantCollection<DeliveryDoc>) {
  const oldestOf = new Map<string, () => Promise<number | null>>();
  let last: Promise<Backlog> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<Backlog> {
    const counts = Object.fromEntries(PENDING.map((state) => [state, 0]));
    let oldest: number | null = null;
    for (const { tenant_id } of await tenantsIn(deliveries)) {
      for (const state of PENDING)
        counts[state] = (counts[state] ?? 0) + (await deliveries.count(tenant_id, { state }));
      const readOldest = oldestOf.get(tenant_id) ?? newOldestReady(deliveries, tenant_id);
      oldestOf.set(tenant_id, readOldest);
      oldest = earlier(oldest, await readOldest());
    }
    return { counts, oldest };
  }

  return function backlog(): Promise<Backlog> {
    const now = performance.now();
    if (!last || now - readAt > FRESH_MS) {
      readAt = now;
      last = read().catch((err) => {
        last = undefined;
        throw err;
      });
    }
    return last;
  };
}

/**
 * Returns what reads the creation time of a tenant's oldest ready delivery. A reading looks at some of the agents that
 * have any, and the next one goes on behind them.
 */
export function newOldestReady(
  deliveries: TenantCollection<DeliveryDoc>,
  tenant_id: string,
  agents = AGENTS,
): () => Promise<number | null> {
  /** The last agent that was looked at. */
  let after = "";
  /** The oldest of those until now, and the oldest of all when they were last looked at. */
  let oldest: number | null = null;
  let before: number | null = null;
  return async () => {
    let looked = 0;
    for await (const agent_id of agentsWith(deliveries, tenant_id, "ready", after)) {
      after = agent_id;
      oldest = earlier(oldest, await findOldest(deliveries, { tenant_id, agent_id }, "ready"));
      if (++looked === agents) return earlier(oldest, before);
    }
    [before, oldest, after] = [oldest, null, ""];
    return before;
  };
}

const earlier = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** Finds the creation time, in ms, of an agent's oldest delivery in a state. */
export async function findOldest(
  deliveries: TenantCollection<DeliveryDoc>,
  of: OfAgent,
  state: DeliveryState,
): Promise<number | null> {
  let oldest: number | null = null;
  for await (const { created_at } of headsOf(deliveries, of, state))
    oldest = earlier(oldest, created_at.getTime());
  return oldest;
}

/** Yields an agent's oldest delivery of each priority in use, the highest first: each is one look-up in the index of polls. */
export async function* headsOf(
  deliveries: TenantCollection<DeliveryDoc>,
  { tenant_id, agent_id }: OfAgent,
  state: DeliveryState,
): AsyncGenerator<DeliveryDoc> {
  const sort = { priority: -1, created_at: 1 } as const;
  const options = { sort, projection: { priority: 1, created_at: 1 } } as const;
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const filter = { state, agent_id, priority: { $lt: below } };
    const head = await deliveries.findOne(tenant_id, filter, options);
    if (!head) return;
    yield head;
    below = head.priority;
  }
}

/** Yields the agents with deliveries in a state, by one look-up in the index of polls each. */
export async function* agentsWith(
  deliveries: TenantCollection<DeliveryDoc>,
  tenant_id: string,
  state: DeliveryState,
  after = "",
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const options = { sort: { agent_id: 1 }, projection: { agent_id: 1 } } as const;
  for (let [last, found] = [after, 0]; found < most; found++) {
    const row = await deliveries.findOne(tenant_id, { state, agent_id: { $gt: last } }, options);
    if (!row) return;
    last = row.agent_id as string;
    yield last;
  }
}
