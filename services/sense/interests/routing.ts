import type { ServiceBroker } from "moleculer";
import { Slices } from "../../../lib/queue/slices.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type InterestDoc, toSubscription } from "./interests.model.ts";
import type { RoutingChange, Subscription } from "./routing-change.ts";
import { RoutingTable } from "./routing-table.ts";

/** A row of `channels.members_page`. */
interface Membership {
  id: string;
  channel_id: string;
  agent_id: string;
}

const PAGE = 2_000;
/** How long loading a table may block the event loop. */
const SLICE_MS = 2;
/** Limit of subscriptions in memory over all tenants; above it the least recently used tenants are unloaded. */
const MAX_SUBSCRIPTIONS = 1_000_000;

/**
 * The routing tables of the tenants that this node matches for. A table is used only if it is as new as the tenant's
 * routing version, which every change raises before it is answered: matching is never stale.
 */
export class Routing {
  readonly #interests: TenantCollection<InterestDoc>;
  readonly #broker: ServiceBroker;
  /** In order of last use. */
  readonly #tables = new Map<string, RoutingTable>();
  readonly #loading = new Map<string, Promise<void>>();
  /** Changes that arrived while a table was being loaded. */
  readonly #meanwhile = new Map<string, [number, RoutingChange][]>();

  constructor(interests: TenantCollection<InterestDoc>, broker: ServiceBroker) {
    this.#interests = interests;
    this.#broker = broker;
  }

  /** Returns the tenant's table, at the current version or newer. */
  async current(tenant_id: string): Promise<RoutingTable> {
    const version = await this.#version(tenant_id);
    for (;;) {
      const table = this.#tables.get(tenant_id);
      if (table && table.version >= version) return this.#used(tenant_id, table);
      await this.#load(tenant_id);
    }
  }

  /** Returns the tenant's table if it is in memory and current; null if it must be loaded. */
  async inMemory(tenant_id: string): Promise<RoutingTable | null> {
    const version = await this.#version(tenant_id);
    const table = this.#tables.get(tenant_id);
    return table && table.version >= version ? this.#used(tenant_id, table) : null;
  }

  /** Applies a remote change if it is the next one, which saves a reload. */
  changed(tenant_id: string, version: number, change: RoutingChange): void {
    this.#tables.get(tenant_id)?.follow(version, change);
    this.#meanwhile.get(tenant_id)?.push([version, change]);
  }

  /**
   * Returns for how many ms an interest's filter is suspended on this node; 0 if it is not, or if nothing was matched.
   */
  suspendedFor(tenant_id: string, interest_id: string): number {
    return this.#tables.get(tenant_id)?.suspendedFor(interest_id) ?? 0;
  }

  /** Includes a table that is being loaded: its rows may be old already. */
  forget(tenant_id: string): void {
    this.#tables.delete(tenant_id);
    this.#loading.delete(tenant_id);
    this.#meanwhile.delete(tenant_id);
  }

  forgetAll(): void {
    this.#tables.clear();
    this.#loading.clear();
    this.#meanwhile.clear();
  }

  #used(tenant_id: string, table: RoutingTable): RoutingTable {
    this.#tables.delete(tenant_id);
    this.#tables.set(tenant_id, table);
    return table;
  }

  #version(tenant_id: string): Promise<number> {
    return this.#broker.call("tenants.routing_version", { tenant_id });
  }

  #load(tenant_id: string): Promise<void> {
    let loading = this.#loading.get(tenant_id);
    if (!loading) {
      const meanwhile: [number, RoutingChange][] = [];
      this.#meanwhile.set(tenant_id, meanwhile);
      loading = this.#read(tenant_id, meanwhile).finally(() => {
        if (this.#meanwhile.get(tenant_id) !== meanwhile) return;
        this.#loading.delete(tenant_id);
        this.#meanwhile.delete(tenant_id);
      });
      this.#loading.set(tenant_id, loading);
    }
    return loading;
  }

  /** Loads the table and keeps it unless it was invalidated meanwhile. */
  async #read(tenant_id: string, meanwhile: [number, RoutingChange][]): Promise<void> {
    // Load the version first: rows read later are as new or newer.
    const table = new RoutingTable(await this.#version(tenant_id));
    const agents = new Set<string>();
    const slices = new Slices(SLICE_MS);
    const readInterests = (after: string) => {
      const options = { sort: { conflict_key: 1 }, limit: PAGE } as const;
      return this.#interests.find(tenant_id, { conflict_key: { $gt: after } }, options);
    };
    const read = <Row>(action: string) => {
      return (after: string) => this.#broker.call<Row[], unknown>(action, { tenant_id, after, limit: PAGE });
    };
    for await (const row of allPages(readInterests, (each) => each.conflict_key)) {
      if (slices.over) await slices.next();
      const { enrichment_depth: depth } = row;
      table.apply({ kind: "subscribe", subscription: toSubscription(row), depth });
      agents.add(row.agent_id);
    }
    for await (const subscription of allPages(read<Subscription>("channels.feeds_page"), ({ id }) => id)) {
      if (slices.over) await slices.next();
      table.apply({ kind: "subscribe", subscription });
    }
    const members = allPages(read<Membership>("channels.members_page"), ({ id }) => id);
    for await (const { channel_id, agent_id } of members) {
      if (slices.over) await slices.next();
      table.join(channel_id, agent_id);
      agents.add(agent_id);
    }
    await this.#markInactive(tenant_id, table, [...agents]);
    if (this.#meanwhile.get(tenant_id) !== meanwhile) return;
    for (const [version, change] of meanwhile) table.follow(version, change);
    this.#keep(tenant_id, table);
  }

  async #markInactive(tenant_id: string, table: RoutingTable, agents: string[]): Promise<void> {
    for (let at = 0; at < agents.length; at += PAGE) {
      const agent_ids = agents.slice(at, at + PAGE);
      const params = { tenant_id, agent_ids };
      const states: { id: string; status: string }[] = await this.#broker.call("agents.get_many", params);
      const active = new Set(states.filter(({ status }) => status === "active").map(({ id }) => id));
      for (const id of agent_ids) if (!active.has(id)) table.setActive(id, false);
    }
  }

  #keep(tenant_id: string, table: RoutingTable): void {
    this.#tables.delete(tenant_id);
    this.#tables.set(tenant_id, table);
    let total = 0;
    for (const { size } of this.#tables.values()) total += size;
    for (const [oldest, { size }] of this.#tables) {
      if (total <= MAX_SUBSCRIPTIONS || this.#tables.size === 1) return;
      this.#tables.delete(oldest);
      total -= size;
    }
  }
}

/** Yields the rows of all pages, each read after the key of the last row before. */
async function* allPages<Row>(
  read: (after: string) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): AsyncGenerator<Row> {
  for (let after = ""; ; ) {
    const rows = await read(after);
    yield* rows;
    if (rows.length < PAGE) return;
    after = keyOf(rows.at(-1) as Row);
  }
}
