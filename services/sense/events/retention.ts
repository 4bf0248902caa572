import type { ServiceBroker } from "moleculer";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { EventDoc } from "./events.model.ts";
import { positionFrom } from "./position.ts";

interface RetentionDeps {
  events: TenantCollection<EventDoc>;
  store: Store;
  broker: ServiceBroker;
  /** Called with deleted events. */
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
  #after = "";

  /** @param days retention of events. */
  constructor(deps: RetentionDeps, days: number) {
    this.#deps = deps;
    this.#keptMs = days * DAY_MS;
  }

  /** Deletes one batch of one tenant; returns whether there may be more. */
  async run(): Promise<boolean> {
    const { events } = this.#deps;
    const options = { sort: { tenant_id: 1 } as const, projection: { tenant_id: 1 } };
    const next = (await events.system.findOne(
      { tenant_id: { $gt: this.#after } },
      options,
    )) as EventDoc | null;
    if (!next) {
      this.#after = "";
      return false;
    }
    const deleted = await this.#deleteSome(next.tenant_id);
    if (deleted < BATCH) this.#after = next.tenant_id;
    return true;
  }

  async #deleteSome(tenant_id: string): Promise<number> {
    const { events, store, broker, onDeleted } = this.#deps;
    const old = { position: { $lt: positionFrom(store.now() - this.#keptMs) } };
    const rows = await events.find(
      tenant_id,
      { ...old, fanout_key: { $exists: false } },
      {
        sort: { position: 1 },
        limit: BATCH,
        projection: { _id: 1 },
      },
    );
    if (rows.length === 0) return 0;
    const event_ids = rows.map((row) => row._id);
    await broker.call("deliveries.forget_events", { tenant_id, event_ids });
    await events.deleteMany(tenant_id, { _id: { $in: event_ids } });
    onDeleted(event_ids);
    return rows.length;
  }
}
