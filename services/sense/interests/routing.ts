import type { ServiceBroker } from "moleculer";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { InterestDoc } from "./interests.model.ts";
import type { RoutingDoubted, RoutingRaised, RoutingState, RoutingSubject } from "./routing-change.ts";
import { RoutingRows } from "./routing-rows.ts";
import { RoutingTable } from "./routing-table.ts";

/** Limit of subscriptions in memory over all tenants; above it the least recently used tenants are unloaded. */
const MAX_SUBSCRIPTIONS = 1_000_000;
/** A table this far behind catches up before the next event, while the record still lists what changed. */
const MAX_BEHIND = 50;

/** What a table must be checked for before its next use, because it may be written under the table's version. */
interface Doubts {
  subjects: Set<RoutingSubject>;
  /** All open changes, and those above. */
  open: boolean;
}

/**
 * The routing tables of the tenants that this node matches for. A table is used only if it is as new as the tenant's
 * routing version, which every change raises before it is answered: matching is never stale. A table that is behind
 * reads only what changed.
 */
export class Routing {
  readonly #broker: ServiceBroker;
  readonly #rows: RoutingRows;
  /** In order of last use. */
  readonly #tables = new Map<string, RoutingTable>();
  /** Tables that are being loaded or are catching up, one task a tenant. */
  readonly #renewing = new Map<string, Promise<void>>();
  readonly #doubts = new Map<string, Doubts>();

  constructor(interests: TenantCollection<InterestDoc>, broker: ServiceBroker) {
    this.#broker = broker;
    this.#rows = new RoutingRows(interests, broker);
  }

  /** Returns the tenant's table, at the current version or newer. */
  async current(tenant_id: string): Promise<RoutingTable> {
    const version = await this.#version(tenant_id);
    for (;;) {
      const table = this.#tables.get(tenant_id);
      if (table && table.version >= version && !this.#doubts.has(tenant_id))
        return this.#used(tenant_id, table);
      await this.#renew(tenant_id);
    }
  }

  /** As `current`, if the table is in memory; null if it must be loaded. */
  async inMemory(tenant_id: string): Promise<RoutingTable | null> {
    return this.#tables.has(tenant_id) ? this.current(tenant_id) : null;
  }

  /** Another change was counted: catches up with many, so that no event waits for more. */
  raised({ tenant_id, version }: RoutingRaised): void {
    const table = this.#tables.get(tenant_id);
    if (!table || version - table.version < MAX_BEHIND || this.#renewing.has(tenant_id)) return;
    // The next event tries again.
    this.#renew(tenant_id).catch(() => {});
  }

  /** A change may be written without a new version. */
  doubted({ tenant_id, subject }: RoutingDoubted): void {
    if (this.#isHere(tenant_id)) this.#doubt(tenant_id).subjects.add(subject);
  }

  /** A node failed: a change that it had begun may be written without a new version. */
  nodeFailed(): void {
    for (const tenant_id of [...this.#tables.keys(), ...this.#renewing.keys()])
      this.#doubt(tenant_id).open = true;
  }

  /**
   * Returns for how many ms an interest's filter is suspended on this node; 0 if it is not, or if nothing was matched.
   */
  suspendedFor(tenant_id: string, interest_id: string): number {
    return this.#tables.get(tenant_id)?.suspendedFor(interest_id) ?? 0;
  }

  forget(tenant_id: string): void {
    this.#tables.delete(tenant_id);
    this.#doubts.delete(tenant_id);
  }

  #isHere(tenant_id: string): boolean {
    return this.#tables.has(tenant_id) || this.#renewing.has(tenant_id);
  }

  #doubt(tenant_id: string): Doubts {
    const doubts = this.#doubts.get(tenant_id) ?? { subjects: new Set(), open: false };
    this.#doubts.set(tenant_id, doubts);
    return doubts;
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
    // Those that arise meanwhile are for the next time.
    const doubts = this.#doubts.get(tenant_id);
    this.#doubts.delete(tenant_id);
    try {
      // Read before the rows, which are then as new or newer.
      const known = { version: table?.version ?? 0, unrecorded: table?.unrecorded ?? 0 };
      const params = { tenant_id, ...known };
      const state = await this.#broker.call<RoutingState, object>("tenants.routing_since", params);
      if (!table || !state.changes) return await this.#load(tenant_id, state);
      const open = doubts?.open ? state.open : [];
      const subjects = [...state.changes, ...(doubts?.subjects ?? []), ...open];
      if (subjects.length) await this.#rows.apply(tenant_id, table, subjects);
      table.version = state.version;
      metrics.routingCatchUps.inc();
    } catch (err) {
      if (doubts) this.#restore(tenant_id, doubts);
      throw err;
    }
  }

  #restore(tenant_id: string, { subjects, open }: Doubts): void {
    const doubts = this.#doubt(tenant_id);
    for (const subject of subjects) doubts.subjects.add(subject);
    doubts.open ||= open;
  }

  async #load(tenant_id: string, state: RoutingState): Promise<void> {
    const table = new RoutingTable(state);
    await this.#rows.addAll(tenant_id, table);
    metrics.routingLoads.inc();
    this.#used(tenant_id, table);
    let total = 0;
    for (const { size } of this.#tables.values()) total += size;
    for (const [oldest, { size }] of this.#tables) {
      if (total <= MAX_SUBSCRIPTIONS || this.#tables.size === 1) return;
      this.#tables.delete(oldest);
      this.#doubts.delete(oldest);
      total -= size;
    }
  }
}
