import type { ServiceBroker } from "moleculer";
import { Slices } from "../../../lib/queue/slices.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { RoutingSubject } from "../../identity/tenants/routing-change.ts";
import { isWait } from "./awaited.ts";
import { type InterestDoc, toSubscription } from "./interests.model.ts";
import type { RoutingTable } from "./routing-table.ts";
import type { Subscription } from "./subscription.ts";
import { type WaitDoc, waitSubscription } from "./waits.model.ts";

/** A row of `channels.members_page`. */
interface Membership {
  id: string;
  channel_id: string;
  agent_id: string;
}

/** The answer of `channels.routed`. */
interface ChannelRows {
  feeds: Subscription[];
  members: Membership[];
}

type Kind = RoutingSubject extends `${infer K} ${string}` ? K : never;

const PAGE = 2_000;
/** How long adding rows to a table may block the event loop. */
const SLICE_MS = 2;

/** Adds rows of the record to routing tables: all of a tenant, or those of some subjects. */
export class RoutingRows {
  readonly #interests: TenantCollection<InterestDoc>;
  readonly #waits: TenantCollection<WaitDoc>;
  readonly #broker: ServiceBroker;

  constructor(
    interests: TenantCollection<InterestDoc>,
    waits: TenantCollection<WaitDoc>,
    broker: ServiceBroker,
  ) {
    this.#interests = interests;
    this.#waits = waits;
    this.#broker = broker;
  }

  /** Adds all rows of a tenant to an empty table. */
  async addAll(tenant_id: string, table: RoutingTable): Promise<void> {
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
      table.subscribe(toSubscription(row), row.enrichment_depth, row.retry_delays_seconds, row.ordering_key);
      agents.add(row.agent_id);
    }
    const readWaits = (after: string) =>
      this.#waits.find(tenant_id, { _id: { $gt: after } }, { sort: { _id: 1 }, limit: PAGE });
    for await (const row of allPages(readWaits, ({ _id }) => _id)) {
      if (slices.over) await slices.next();
      table.subscribe(waitSubscription(row));
    }
    for await (const subscription of allPages(read<Subscription>("channels.feeds_page"), ({ id }) => id)) {
      if (slices.over) await slices.next();
      table.subscribe(subscription);
    }
    const members = allPages(read<Membership>("channels.members_page"), ({ id }) => id);
    for await (const { channel_id, agent_id } of members) {
      if (slices.over) await slices.next();
      table.join(channel_id, agent_id);
      agents.add(agent_id);
    }
    const active = await this.#activeOf(tenant_id, agents);
    for (const id of agents) table.setActive(id, active.has(id));
  }

  /** Reads the current state of some subjects and applies it to a table, in one step. */
  async apply(tenant_id: string, table: RoutingTable, subjects: RoutingSubject[]): Promise<void> {
    const ids = idsByKind(subjects);
    const inChannels = ids.feed.length + ids.member.length + ids.channel.length > 0;
    const params = { tenant_id, feed_ids: ids.feed, member_ids: ids.member, channel_ids: ids.channel };
    const [interests, waits, { feeds, members }] = await Promise.all([
      ids.interest.length ? this.#interests.find(tenant_id, { _id: { $in: ids.interest } }) : [],
      ids.interest.some(isWait) ? this.#waits.find(tenant_id, { _id: { $in: ids.interest } }) : [],
      inChannels ? this.#broker.call<ChannelRows, object>("channels.routed", params) : NO_ROWS,
    ]);
    const agents = new Set([...ids.agent, ...[...interests, ...members].map(({ agent_id }) => agent_id)]);
    const active = await this.#activeOf(tenant_id, agents);

    const existing = new Set([
      ...[...interests, ...waits].map(({ _id }) => _id),
      ...[...feeds, ...members].map(({ id }) => id),
    ]);
    for (const channel_id of ids.channel) table.empty(channel_id);
    for (const id of [...ids.interest, ...ids.feed]) if (!existing.has(id)) table.unsubscribe(id);
    for (const id of ids.member) if (!existing.has(id)) table.leave(...(id.split(" ") as [string, string]));
    for (const row of interests)
      table.subscribe(toSubscription(row), row.enrichment_depth, row.retry_delays_seconds, row.ordering_key);
    for (const row of waits) table.subscribe(waitSubscription(row));
    for (const feed of feeds) table.subscribe(feed);
    for (const { channel_id, agent_id } of members) table.join(channel_id, agent_id);
    for (const id of agents) table.setActive(id, active.has(id));
  }

  /** Returns which of some agents are active. */
  async #activeOf(tenant_id: string, agents: Iterable<string>): Promise<Set<string>> {
    const all = [...agents];
    const active = new Set<string>();
    for (let at = 0; at < all.length; at += PAGE) {
      const params = { tenant_id, agent_ids: all.slice(at, at + PAGE) };
      const states: { id: string; status: string }[] = await this.#broker.call("agents.get_many", params);
      for (const { id, status } of states) if (status === "active") active.add(id);
    }
    return active;
  }
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
