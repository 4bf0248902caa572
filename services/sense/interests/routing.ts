import type { ServiceBroker } from "moleculer";
import { Slices } from "../../../lib/queue/slices.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { AgentState } from "../../identity/agents/agents.contract.ts";
import type {
  RoutingRaised,
  RoutingState,
  RoutingSubject,
  RoutingUncounted,
} from "../../identity/tenants/routing-change.ts";
import { type InterestDoc, toSubscription, type WaitDoc, waitSubscription } from "./interests.model.ts";
import type { Subscription } from "./receiver.ts";
import { RoutingTable } from "./routing-table.ts";
import { isWait } from "./waits.ts";

/** Limit of subscriptions in memory over all tenants; above it the least recently used tenants are unloaded. */
const MAX_SUBSCRIPTIONS = 1_000_000;
/** A table this far behind catches up before the next event, while the record still lists what changed. */
const MAX_BEHIND = 50;

interface RoutingDeps {
  interests: TenantCollection<InterestDoc>;
  waits: TenantCollection<WaitDoc>;
  broker: ServiceBroker;
}

/**
 * The routing tables of the tenants that this node matches for. A table is used only if it is as new as the tenant's
 * routing version, which every change raises before it is answered: matching is never stale. A table that is behind
 * reads only what changed. Where a change may be written without a new version, the table is read again while the old one
 * is in use.
 */
export class Routing {
  readonly #deps: RoutingDeps;
  /** In order of last use. */
  readonly #tables = new Map<string, RoutingTable>();
  /** Tables that are being loaded or are catching up, one task a tenant. */
  readonly #renewing = new Map<string, Promise<void>>();
  /** Tenants whose tables will be read again, one after the other. */
  readonly #outdated = new Set<string>();
  #rereading: Promise<void> | undefined;

  constructor(deps: RoutingDeps) {
    this.#deps = deps;
  }

  /** Returns the tenant's table, at the current version or newer. */
  async current(tenant_id: string): Promise<RoutingTable> {
    const version = await this.#deps.broker.call<number, unknown>("tenants.routing_version", { tenant_id });
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

  /** Returns for how many ms an interest's filter is suspended on this node; 0 if it is not, as far as was matched. */
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
      await this.#since(tenant_id)
        .then((state) => this.#load(tenant_id, state))
        .catch(() => this.#tables.delete(tenant_id));
    }
  }

  #used(tenant_id: string, table: RoutingTable): RoutingTable {
    this.#tables.delete(tenant_id);
    this.#tables.set(tenant_id, table);
    return table;
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
    if (state.changes.length) await applyChanges(this.#deps, tenant_id, table, state.changes);
    table.version = state.version;
    metrics.routingCatchUps.inc();
  }

  #since(tenant_id: string, table?: RoutingTable): Promise<RoutingState> {
    return this.#deps.broker.call("tenants.routing_since", { tenant_id, version: table?.version ?? 0 });
  }

  async #load(tenant_id: string, { version }: RoutingState): Promise<void> {
    const table = new RoutingTable(version);
    await addAll(this.#deps, tenant_id, table);
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

interface Membership {
  id: string;
  channel_id: string;
  agent_id: string;
}

interface ChannelRows {
  feeds: Subscription[];
  members: Membership[];
}

type Kind = RoutingSubject extends `${infer K} ${string}` ? K : never;

const PAGE = 2_000;
/** How long adding rows to a table may block the event loop. */
const SLICE_MS = 2;

async function addAll(
  { interests, waits, broker }: RoutingDeps,
  tenant_id: string,
  table: RoutingTable,
): Promise<void> {
  const agents = new Set<string>();
  const slices = new Slices(SLICE_MS);
  const readInterests = (after: string) => {
    const options = { sort: { conflict_key: 1 }, limit: PAGE } as const;
    return interests.find(tenant_id, { conflict_key: { $gt: after } }, options);
  };
  const readWaits = (after: string) =>
    waits.find(tenant_id, { _id: { $gt: after } }, { sort: { _id: 1 }, limit: PAGE });
  const read = <Row>(action: string) => {
    return (after: string) => broker.call<Row[], unknown>(action, { tenant_id, after, limit: PAGE });
  };
  for await (const row of allPages(slices, readInterests, (each) => each.conflict_key)) {
    table.subscribe(toSubscription(row), row);
    agents.add(row.agent_id);
  }
  for await (const row of allPages(slices, readWaits, ({ _id }) => _id))
    table.subscribe(waitSubscription(row));
  const feeds = allPages(slices, read<Subscription>("channels.feeds_page"), ({ id }) => id);
  for await (const feed of feeds) table.subscribe(feed);
  const members = allPages(slices, read<Membership>("channels.members_page"), ({ id }) => id);
  for await (const { channel_id, agent_id } of members) {
    table.join(channel_id, agent_id);
    agents.add(agent_id);
  }
  const active = await findActive(broker, tenant_id, agents);
  for (const id of agents) table.setActive(id, active.has(id));
}

/** Reads the current state of some subjects and applies it to a table, in one step. */
async function applyChanges(
  deps: RoutingDeps,
  tenant_id: string,
  table: RoutingTable,
  subjects: RoutingSubject[],
): Promise<void> {
  const ids = idsByKind(subjects);
  const inChannels = ids.feed.length + ids.member.length + ids.channel.length > 0;
  const params = { tenant_id, feed_ids: ids.feed, member_ids: ids.member, channel_ids: ids.channel };
  const [interests, waits, { feeds, members }] = await Promise.all([
    ids.interest.length ? deps.interests.find(tenant_id, { _id: { $in: ids.interest } }) : [],
    ids.interest.some(isWait) ? deps.waits.find(tenant_id, { _id: { $in: ids.interest } }) : [],
    inChannels ? deps.broker.call<ChannelRows, object>("channels.routed", params) : NO_ROWS,
  ]);
  const agents = new Set([...ids.agent, ...[...interests, ...members].map(({ agent_id }) => agent_id)]);
  const active = await findActive(deps.broker, tenant_id, agents);

  const existing = new Set([
    ...[...interests, ...waits].map(({ _id }) => _id),
    ...[...feeds, ...members].map(({ id }) => id),
  ]);
  for (const channel_id of ids.channel) table.empty(channel_id);
  for (const id of [...ids.interest, ...ids.feed]) if (!existing.has(id)) table.unsubscribe(id);
  for (const id of ids.member) if (!existing.has(id)) table.leave(...(id.split(" ") as [string, string]));
  for (const row of interests) table.subscribe(toSubscription(row), row);
  for (const row of waits) table.subscribe(waitSubscription(row));
  for (const feed of feeds) table.subscribe(feed);
  for (const { channel_id, agent_id } of members) table.join(channel_id, agent_id);
  for (const id of agents) table.setActive(id, active.has(id));
}

async function findActive(
  broker: ServiceBroker,
  tenant_id: string,
  agents: Iterable<string>,
): Promise<Set<string>> {
  const all = [...agents];
  const active = new Set<string>();
  for (let at = 0; at < all.length; at += PAGE) {
    const params = { tenant_id, agent_ids: all.slice(at, at + PAGE) };
    for (const { id, status } of await broker.call<AgentState[], unknown>("agents.get_many", params))
      if (status === "active") active.add(id);
  }
  return active;
}

const NO_ROWS: ChannelRows = { feeds: [], members: [] };

/** Returns the ids of each kind, without duplicates. */
function idsByKind(subjects: RoutingSubject[]) {
  const ids = { interest: [], feed: [], member: [], channel: [], agent: [] } as Record<Kind, string[]>;
  for (const subject of new Set(subjects)) {
    const [kind] = subject.split(" ", 1) as [Kind];
    ids[kind].push(subject.slice(kind.length + 1));
  }
  return ids;
}

/** Yields the rows of all pages, each read after the key of the last row before, with pauses for the event loop. */
async function* allPages<Row>(
  slices: Slices,
  read: (after: string) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): AsyncGenerator<Row> {
  for (let after = ""; ; ) {
    const rows = await read(after);
    for (const row of rows) {
      if (slices.over) await slices.next();
      yield row;
    }
    if (rows.length < PAGE) return;
    after = keyOf(rows.at(-1) as Row);
  }
}
