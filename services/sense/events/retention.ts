import { DAY_MS } from "../../../lib/time.ts";
import { Actor, Actors } from "../../../mixins/actor.ts";
import { nodesWith } from "../../../mixins/affinity.ts";
import { inTurns, tenantsIn } from "../../../mixins/due.ts";
import type { EventDeps } from "./events.model.ts";
import { positionFrom } from "./position.ts";

interface RetentionDeps extends EventDeps {
  onDeleted(event_ids: string[]): void;
}

const BATCH = 200;

/**
 * Deletes events past their retention, deliveries first: after a crash in between there may be an event without
 * deliveries, but never a delivery without its event.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #keptMs: number;
  readonly #tenants = new Actors(() => new Actor());

  constructor(deps: RetentionDeps, days: number) {
    this.#deps = deps;
    this.#keptMs = days * DAY_MS;
  }

  /** Has each tenant's old events deleted by its owner, a batch at a turn, for as many tenants at once as there are nodes. */
  async run(): Promise<false> {
    const { broker, events } = this.#deps;
    const deleteSome = async ({ tenant_id }: { tenant_id: string }) =>
      (await broker.call<number, unknown>("events.delete_old", { tenant_id })) === BATCH;
    const lanes = Math.max(nodesWith(broker, "events").length, 1);
    await inTurns("events", await tenantsIn(events), deleteSome, lanes);
    return false;
  }

  /** Deletes a batch of a tenant's old events; returns how many, fewer than a batch if no more are left. */
  deleteSome({ params: { tenant_id } }: { params: { tenant_id: string } }): Promise<number> {
    // One batch at a time: another node may believe for a moment that it is to ask, too.
    return this.#tenants.with(tenant_id, (tenant) => tenant.run(() => this.#deleteBatch(tenant_id)));
  }

  async #deleteBatch(tenant_id: string): Promise<number> {
    const { events, store, broker, onDeleted } = this.#deps;
    const before = store.now() - this.#keptMs;
    const old = { position: { $lt: positionFrom(before) } };
    // A delayed event is kept as long as others, counted from when it was due.
    const due = [{ not_before: { $exists: false } }, { not_before: { $lt: new Date(before) } }];
    const rows = await events.find(
      tenant_id,
      { ...old, $or: due, due_at: { $exists: false }, fanout_key: { $exists: false } },
      { sort: { position: 1 }, limit: BATCH, projection: { _id: 1 } },
    );
    if (rows.length === 0) return 0;
    const event_ids = rows.map((row) => row._id);
    await broker.call("deliveries.forget_events", { tenant_id, event_ids });
    await events.deleteMany(tenant_id, { _id: { $in: event_ids } });
    onDeleted(event_ids);
    return rows.length;
  }
}
