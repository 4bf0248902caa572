import type { ServiceBroker } from "moleculer";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { RoutingRaised, RoutingState, RoutingUncounted } from "../../identity/tenants/routing-change.ts";
import type { InterestDoc } from "./interests.model.ts";
import { RoutingRows } from "./routing-rows.ts";
import { RoutingTable } from "./routing-table.ts";
import type { WaitDoc } from "./waits.model.ts";

/** Limit of subscriptions in memory over all tenants; above it the least recently used tenants are unloaded. */
const MAX_SUBSCRIPTIONS = 1_000_000;
/** A table this far behind catches up before the next event, while the record still lists what changed. */
const MAX_BEHIND = 50;

/**
 * The routing tables of the tenants that this node matches for. A table is used only if it is as new as the tenant's
 * routing version, which every change raises before it is answered: matching is never stale. A table that is behind
 * reads only what changed. Where a change may be written without a new version, the table is read anew while the old one
 * is in use.
 */
export class Routing {
  readonly #broker: ServiceBroker;
  readonly #rows: RoutingRows;
  /** In order of last use. */
  readonly #tables = new Map<string, RoutingTable>();
  /** Tables that are being loaded or are catching up, one task a tenant. */
  readonly #renewing = new Map<string, Promise<void>>();
  /** Tenants whose tables are to be read anew, one after the other. */
  readonly #outdated = new Set<string>();
  #rereading: Promise<void> | undefined;

  constructor(
    interests: TenantCollection<InterestDoc>,
    waits: TenantCollection<WaitDoc>,
    broker: ServiceBroker,
  ) {
    this.#broker = broker;
    this.#rows = new RoutingRows(interests, waits, broker);
  }

  /** Returns the tenant's table, at the current version or newer. */
  async current(tenant_id: string): Promise<RoutingTable> {
    const version = await this.#version(tenant_id);
    for (;;) {
      const table = this.#tables.get(tenant_id);
      if (table && table.version >= version) return this.#used(tenant_id, table);
      await this.#renew(tenant_id);
    }
  }

  /** Another change was counted: catches up with many, so that no event waits for more. */
  raised({ tenant_id, version }: RoutingRaised): void {
    const table = this.#tables.get(tenant_id);
    if (!table || version - table.version < MAX_BEHIND || this.#renewing.has(tenant_id)) return;
    // The next event tries again.
    this.#renew(tenant_id).catch(() => {});
  }

  /** A change may be written without a new version. */
  uncounted({ tenant_id }: RoutingUncounted): void {
    this.#readAnew([tenant_id]);
  }

  /** A node failed: changes that it had begun may be written without a new version. */
  nodeFailed(): void {
    this.#readAnew([...this.#tables.keys(), ...this.#renewing.keys()]);
  }

  /**
   * Returns for how many ms an interest's filter is suspended on this node; 0 if it is not, or if nothing was matched.
   */
  suspendedFor(tenant_id: string, interest_id: string): number {
    return this.#tables.get(tenant_id)?.suspendedFor(interest_id) ?? 0;
  }

  forget(tenant_id: string): void {
    this.#tables.delete(tenant_id);
    this.#outdated.delete(tenant_id);
  }

  #readAnew(tenant_ids: string[]): void {
    for (const id of tenant_ids) if (this.#tables.has(id) || this.#renewing.has(id)) this.#outdated.add(id);
    this.#rereading ??= this.#readOutdated().finally(() => {
      this.#rereading = undefined;
    });
  }

  async #readOutdated(): Promise<void> {
    // Includes those that are added meanwhile.
    for (const tenant_id of this.#outdated) {
      this.#outdated.delete(tenant_id);
      await this.#renewing.get(tenant_id)?.catch(() => {});
      // Without the record, the next event reads the table.
      await this.#read(tenant_id).catch(() => this.#tables.delete(tenant_id));
    }
  }

  async #read(tenant_id: string): Promise<void> {
    await this.#load(tenant_id, await this.#since(tenant_id));
  }

  #used(tenant_id: string, table: RoutingTable): RoutingTable {
    this.#tables.delete(tenant_id);
    this.#tables.set(tenant_id, table);
    return table;
  }

  #version(tenant_id: string): Promise<number> {
    return this.#broker.call("tenants.routing_version", { tenant_id });
  }

  #renew(tenant_id: string): Promise<void> {
    let renewing = this.#renewing.get(tenant_id);
    if (!renewing) {
      renewing = this.#renewNow(tenant_id).finally(() => this.#renewing.delete(tenant_id));
      this.#renewing.set(tenant_id, renewing);
    }
    return renewing;
  }

  async #renewNow(tenant_id: string): Promise<void> {
    const table = this.#tables.get(tenant_id);
    // Read before the rows, which are then as new or newer.
    const state = await this.#since(tenant_id, table);
    if (!table || !state.changes) return this.#load(tenant_id, state);
    if (state.changes.length) await this.#rows.apply(tenant_id, table, state.changes);
    table.version = state.version;
    metrics.routingCatchUps.inc();
  }

  #since(tenant_id: string, table?: RoutingTable): Promise<RoutingState> {
    return this.#broker.call("tenants.routing_since", { tenant_id, version: table?.version ?? 0 });
  }

  async #load(tenant_id: string, { version }: RoutingState): Promise<void> {
    const table = new RoutingTable(version);
    await this.#rows.addAll(tenant_id, table);
    metrics.routingLoads.inc();
    this.#used(tenant_id, table);
    let total = 0;
    for (const { size } of this.#tables.values()) total += size;
    for (const [oldest, { size }] of this.#tables) {
      if (total <= MAX_SUBSCRIPTIONS || this.#tables.size === 1) return;
      this.#tables.delete(oldest);
      total -= size;
    }
  }
}
