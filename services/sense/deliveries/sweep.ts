import type { OfAgent } from "../../../lib/access/caller.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { Due, inTurns } from "../../../mixins/due.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Write } from "../../../storage/query.ts";
import { noteChange, tally } from "../../platform/usage/tally.ts";
import type { AgentSettingsCache } from "./agent-settings.ts";
import { deadUpdate, spentReason } from "./dead-letter-state.ts";
import { type DeliveryDoc, type DeliveryState, timelinePush, UNLEASED } from "./deliveries.model.ts";
import type { Progress } from "./health/progress.ts";
import type { Ordering } from "./ordering.ts";

interface SweepDeps {
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
  agents: AgentSettingsCache;
  progress: Progress;
  ordering: Pick<Ordering, "release">;
  notifyReady: (ready: OfAgent[]) => void;
}

/** Rows per write: more would delay the writes of others. */
const BATCH = 500;
const ENDED = {
  tenant_id: 1,
  agent_id: 1,
  state: 1,
  attempt_count: 1,
  type: 1,
  active_key: 1,
  due_at: 1,
} as const;
/** Longest possible lease and wait, by the contracts of agents, extend and return. */
const LONGEST_MS = { leased: DAY_MS / 2, waiting: DAY_MS };

/** Time-driven transitions. Each task returns whether there may be more. */
export class Sweep {
  readonly #deps: SweepDeps;
  readonly #due: Due<DeliveryDoc>;
  readonly #retiring: Due<DeliveryDoc>;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
    const asking = { rows: deps.deliveries, now: () => deps.store.now(), batch: BATCH };
    this.#due = new Due({ ...asking, by: "due_at", projection: ENDED });
    this.#retiring = new Due({ ...asking, by: "retire_at", projection: { event_id: 1, log_at: 1 } });
  }

  /** Ends leases and waits: the row becomes ready again, or dead if the budget is spent. */
  endDue(): Promise<boolean> {
    const at = new Date(this.#deps.store.now());
    return this.#due.work((_, rows) => this.#end(rows, at));
  }

  /** Returns by how many seconds the sweep is late with the oldest ended lease or wait; null without one. */
  async lateSeconds(): Promise<number | null> {
    const now = this.#deps.store.now();
    const options = { sort: { due_at: 1 }, projection: { due_at: 1 } } as const;
    const row = await this.#deps.deliveries.system.findOne({ due_at: { $lte: new Date(now) } }, options);
    return row?.due_at ? (now - row.due_at.getTime()) / 1000 : null;
  }

  /** Makes leases and waits due that end later than any can: they were created while the clock was ahead. */
  async endAhead(): Promise<boolean> {
    const { deliveries, store } = this.#deps;
    const due_at = new Date(store.now());
    let more = false;
    for (const [state, ms] of Object.entries(LONGEST_MS) as [DeliveryState, number][]) {
      const ahead = { state, due_at: { $gt: new Date(due_at.getTime() + ms) } };
      const options = { sort: { due_at: 1 }, limit: BATCH, projection: { tenant_id: 1 } } as const;
      const rows = (await deliveries.system.find(ahead, options).toArray()) as DeliveryDoc[];
      await inTurns("deliveries", rows, ({ tenant_id, _id }) =>
        deliveries.update(tenant_id, { _id, ...ahead }, { $set: { due_at } }),
      );
      more ||= rows.length === BATCH;
    }
    return more;
  }

  /** Reduces acknowledged rows past their retention to tombstones, and deletes those without an event: no event does. */
  retire(): Promise<boolean> {
    const { deliveries } = this.#deps;
    const gone = {
      ...{ retire_at: 1, timeline: 1, matched: 1, enrichment_depth: 1, retry_delays_seconds: 1 },
      ...{ type: 1, size: 1, replay_id: 1 },
    } as const;
    return this.#retiring.work(async (tenant_id, own) => {
      const logged = own.filter(({ log_at }) => log_at);
      if (logged.length > 0) await deliveries.updateMany(tenant_id, byId(logged), { $unset: LOG });
      const unmapped = own.filter(({ event_id }) => event_id === null);
      if (unmapped.length > 0) await deliveries.deleteMany(tenant_id, byId(unmapped));
      if (unmapped.length < own.length) await deliveries.updateMany(tenant_id, byId(own), { $unset: gone });
    });
  }

  async #end(rows: DeliveryDoc[], at: Date): Promise<void> {
    const [{ tenant_id }] = rows as [DeliveryDoc];
    const byAgent = [...Map.groupBy(rows, ({ agent_id }) => agent_id as string)];
    const agent_ids = byAgent.map(([agent_id]) => agent_id);
    const settings = await this.#deps.agents.getMany(tenant_id, agent_ids);
    const budgetOf = (agent_id: string | null) => settings.get(agent_id as string)?.retry_budget as number;
    await this.#deps.deliveries.bulk(
      byAgent.flatMap(([agent_id, own]) => endWrites(own, budgetOf(agent_id), at)),
    );
    const dead = rows.filter((row) => isSpent(row, budgetOf(row.agent_id)));
    metrics.deliveriesDeadLettered.inc(dead.length);
    for (const row of rows) {
      if (row.state !== "leased") continue;
      tally(row, "failed", 1);
      this.#deps.progress.failed({ tenant_id, agent_id: row.agent_id as string }, at, "lease expired");
    }
    for (const row of dead) {
      tally(row, "dead_lettered", 1);
      this.#deps.ordering.release(row.tenant_id, [row.active_key]);
    }
    noteChange(tenant_id);
    this.#deps.notifyReady(agent_ids.map((agent_id) => ({ tenant_id, agent_id })));
  }
}

/** Removed by a separate write: one that changes a text kept out of line is slower, and few rows have one. */
const LOG = { log: 1, log_at: 1 } as const;

const byId = (rows: DeliveryDoc[]) => ({ _id: { $in: rows.map(({ _id }) => _id) } });

/** Returns the writes for one agent's ended rows. A lease extended or settled meanwhile is no longer due. */
function endWrites(rows: DeliveryDoc[], budget: number, at: Date): Write<DeliveryDoc>[] {
  const { tenant_id, agent_id } = rows[0] as DeliveryDoc;
  const dead = rows.filter((row) => isSpent(row, budget));
  const expired = rows.filter((row) => row.state === "leased" && !isSpent(row, budget));
  const waited = rows.filter(({ state }) => state === "waiting");
  const death = { tenant_id, agent_id: agent_id as string, at, reason: spentReason(budget, "lease expired") };
  const ready = { $set: { state: "ready" as const }, $unset: UNLEASED };
  return [
    ...updateAll(dead, at, deadUpdate(death)),
    ...updateAll(expired, at, { ...ready, $push: timelinePush({ at, what: "lease_expired" }) }),
    ...updateAll(waited, at, ready),
  ];
}

function isSpent({ state, attempt_count }: DeliveryDoc, budget: number): boolean {
  return state === "leased" && attempt_count >= budget;
}

function updateAll(rows: DeliveryDoc[], at: Date, update: object): Write<DeliveryDoc>[] {
  const [first] = rows;
  if (!first) return [];
  const { tenant_id, state } = first;
  const filter = { ...byId(rows), tenant_id, state, due_at: { $lte: at } };
  return [{ updateMany: { filter, update } }];
}
