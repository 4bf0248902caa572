import { DAY_MS } from "../../../lib/time.ts";
import { othersToo } from "../../../mixins/others-too.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Write } from "../../../storage/query.ts";
import type { AgentSettingsCache } from "./agent-settings.ts";
import { deadUpdate } from "./dead.ts";
import type { DeliveryDoc, DeliveryState } from "./deliveries.model.ts";
import type { Ready } from "./enqueue.ts";
import { noted, spent } from "./settle.ts";

/** Ended leases and waits. */
interface Over {
  due_at: { $lte: Date } | { $gt: Date };
  state?: DeliveryState;
}

interface Parts {
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
  agents: AgentSettingsCache;
  announceReady: (ready: Ready[]) => void;
}

/** Rows per write: more would delay the writes of others. */
const BATCH = 500;
/** Longest possible lease and wait, by the contracts of agents, extend and return. */
const LONGEST_LEASE_MS = DAY_MS / 2;
const LONGEST_WAIT_MS = DAY_MS;

/** Time-driven transitions. Each task returns whether there may be more. */
export function newSweeps({ store, deliveries, agents, announceReady }: Parts) {
  const findDue = othersToo<DeliveryDoc>(
    (others) => find({ due_at: { $lte: new Date(store.now()) }, ...others }),
    BATCH,
  );

  /** Ends leases and waits: the row becomes ready again, or dead if the budget is spent. */
  async function due(): Promise<boolean> {
    const rows = await findDue({});
    const at = new Date(store.now());
    return end(rows, { due_at: { $lte: at } }, at);
  }

  /** Ends leases and waits that end later than any can: they were created while the clock was ahead. */
  async function ahead(): Promise<boolean> {
    const at = new Date(store.now());
    const after = (ms: number) => ({ due_at: { $gt: new Date(at.getTime() + ms) } });
    const endOf = async (over: Over) => end(await find(over), over, at);
    const leases = await endOf({ ...after(LONGEST_LEASE_MS), state: "leased" });
    return (await endOf({ ...after(LONGEST_WAIT_MS), state: "waiting" })) || leases;
  }

  function find(filter: Over & { tenant_id?: { $nin: string[] } }): Promise<DeliveryDoc[]> {
    const projection = { tenant_id: 1, agent_id: 1, state: 1, attempt_count: 1 };
    const options = { sort: { due_at: 1 }, limit: BATCH, projection } as const;
    return deliveries.system.find(filter, options).toArray() as Promise<DeliveryDoc[]>;
  }

  async function end(rows: DeliveryDoc[], over: Over, at: Date): Promise<boolean> {
    if (rows.length === 0) return false;
    const byAgent = [...Map.groupBy(rows, ({ agent_id }) => agent_id as string)];
    const budgets = await budgetsOf(byAgent);
    const operations = byAgent.flatMap(([agent_id, those]) =>
      moves(those, budgets.get(agent_id) as number, at, over),
    );
    const dead = rows.filter((row) => isSpent(row, budgets.get(row.agent_id as string) as number)).length;
    await deliveries.bulk(operations);
    metrics.deliveriesDeadLettered.inc(dead);
    announceReady(
      byAgent.map(([agent_id, [row]]) => ({ tenant_id: (row as DeliveryDoc).tenant_id, agent_id })),
    );
    return rows.length >= BATCH;
  }

  async function budgetsOf(byAgent: [string, DeliveryDoc[]][]): Promise<Map<string, number>> {
    const byTenant = Map.groupBy(byAgent, ([, [row]]) => (row as DeliveryDoc).tenant_id);
    const settings = await Promise.all(
      [...byTenant].map(([tenant_id, those]) =>
        agents.getMany(
          tenant_id,
          those.map(([agent_id]) => agent_id),
        ),
      ),
    );
    return new Map(
      settings.flatMap((map) => [...map].map(([id, { retry_budget }]) => [id, retry_budget] as const)),
    );
  }

  /**
   * Retires rows past their retention: an acknowledged one becomes a tombstone, and one without an event is deleted,
   * because no event deletes it.
   */
  async function retire(): Promise<boolean> {
    const rows = (await deliveries.system
      .find(
        { retire_at: { $lte: new Date(store.now()) } },
        { limit: BATCH, projection: { tenant_id: 1, event_id: 1 } },
      )
      .toArray()) as DeliveryDoc[];
    const gone = { retire_at: 1, timeline: 1, matched: 1, enrichment_depth: 1, size: 1 } as const;
    for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
      const unmapped = those.filter(({ event_id }) => event_id === null);
      if (unmapped.length > 0) await deliveries.deleteMany(tenant_id, byId(unmapped));
      if (unmapped.length < those.length)
        await deliveries.updateMany(tenant_id, byId(those), { $unset: gone });
    }
    return rows.length === BATCH;
  }

  return { due, ahead, retire };
}

const byId = (rows: DeliveryDoc[]) => ({ _id: { $in: rows.map(({ _id }) => _id) } });

/** Returns the writes for one agent's due rows. A lease extended or settled meanwhile is no longer due. */
function moves(rows: DeliveryDoc[], budget: number, at: Date, { due_at }: Over): Write<DeliveryDoc>[] {
  const { tenant_id, agent_id } = rows[0] as DeliveryDoc;
  const expired = rows.filter((row) => row.state === "leased" && !isSpent(row, budget));
  const waited = rows.filter(({ state }) => state === "waiting");
  const death = { tenant_id, agent_id: agent_id as string, at, reason: spent(budget, "lease expired") };
  const back = { $set: { state: "ready" as const }, $unset: { due_at: 1, lease: 1 } as const };
  return [
    ...move(
      rows.filter((row) => isSpent(row, budget)),
      due_at,
      deadUpdate(death),
    ),
    ...move(expired, due_at, { ...back, $push: noted({ at, what: "lease_expired" }) }),
    ...move(waited, due_at, back),
  ];
}

function isSpent({ state, attempt_count }: DeliveryDoc, budget: number): boolean {
  return state === "leased" && attempt_count >= budget;
}

function move(rows: DeliveryDoc[], due_at: Over["due_at"], update: object): Write<DeliveryDoc>[] {
  const [first] = rows;
  if (!first) return [];
  const { tenant_id, state } = first;
  const filter = { ...byId(rows), tenant_id, state, due_at };
  return [{ updateMany: { filter, update } }];
}
