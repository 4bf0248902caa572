import { randomBytes } from "node:crypto";
import type { OfAgent } from "../../../lib/access/caller.ts";
import { isFor } from "../../../lib/cloudevents/audience.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { Tracing } from "../../../observability/tracing.ts";
import { tally } from "../../platform/usage/tally.ts";
import type { Loaded } from "../interests/explain.ts";
import { DeliveryLimits, isLimited, type Limits } from "./agent-limits.ts";
import type { AgentSettingsCache } from "./agent-settings.ts";
import type { Matched } from "./deliveries.contract.ts";
import {
  type DeliveryDeps,
  type DeliveryDoc,
  SHORTEST,
  timelinePush,
  UNLEASED,
  upToBytes,
} from "./deliveries.model.ts";
import { enrich } from "./enrich.ts";
import { type Lease, leaseUpdate } from "./lease.ts";
import type { ReadyDeliveries } from "./ready.ts";
import { AcknowledgementCounts } from "./stats.ts";

/** A request for deliveries: the receiver, the limit and the lease. */
export interface ClaimRequest extends OfAgent {
  limit: number;
  /** Limit of the events' bytes, also for a single one. Default: that of an answer, which a single one may exceed. */
  max_bytes?: number;
  /** Token for the leases; a fresh one if absent. */
  lease?: string;
  /** Duration of the leases; the agent's visibility timeout if absent. */
  lease_seconds?: number;
  /** False if its token does not allow reading memories. */
  reads_memories?: boolean;
  /** Given with `lease_seconds`: whether the agent has limits of its deliveries. */
  is_limited?: boolean;
  /** Deliveries to settle at once, in the same commit as its leases if the store can. */
  settling?: Settling;
}

/** Deliveries settled by a request that also gets the next ones. */
export interface Settling<Settled = unknown> {
  /** Deliveries that are not settled yet. */
  readonly ids: ReadonlySet<string>;
  /** Settles them with the first call. Sends its writes in the same event loop tick. */
  write(): Promise<Settled>;
}

/** A claimed delivery. `envelope` is the CloudEvent as JSON text: nothing here needs to parse it. */
export interface Claimed {
  id: string;
  event_id: string;
  attempt_count: number;
  created_at: string;
  lease: string;
  lease_expires_at: string;
  matched: Matched;
  /** The replay of history that it belongs to. */
  replay_id?: string;
  envelope: string;
  /** Trace context of the delivery if this node traces, else that of its publish, if any. */
  traceparent?: string;
}

export interface ClaimResult {
  deliveries: Claimed[];
  /** Whether no more were left; absent if the agent's limits leave none. */
  drained?: boolean;
  /** The agent's limits allow no more: when to ask again, in ms. */
  limited_ms?: number;
  /** Nothing was claimed: the next event has so many bytes, more than `max_bytes`. */
  larger?: number;
}

interface ClaimsDeps extends DeliveryDeps {
  /** Null on a store with several nodes. */
  ready: ReadyDeliveries | null;
  agents: AgentSettingsCache;
  tracing: Tracing | undefined;
}

/** After a claim that got nothing of what was ready. */
const LOST_MS = 50;
/** Appears in every envelope with an audience and in few others: most need not be parsed. */
const AUDIENCE = '"audience":"';

/**
 * Claims ready deliveries under leases: from memory on a store with one node. With several it takes three round trips
 * whatever the backlog: a find, then one guarded update concurrently with loading the events.
 */
export class Claims {
  readonly #deps: ClaimsDeps;
  readonly acknowledgements = new AcknowledgementCounts();
  readonly limits: DeliveryLimits;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
    this.limits = new DeliveryLimits(deps.deliveries);
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { tenant_id, agent_id, limit, max_bytes, settling } = request;
    const limits = await this.#limitsOf(request);
    // Deliveries of an agent with limits hold slots, which are kept in the store.
    const memory = limits ? null : this.#deps.ready;
    const first = memory && (await memory.first(tenant_id, agent_id, limit));
    const { rows: ready, more } = first ?? (await this.#find(tenant_id, agent_id, limit));
    if (ready.length === 0) return { deliveries: [], drained: true };
    // A delivery whose lease has ended is ready while it is being acknowledged.
    if (ready.some(({ _id }) => settling?.ids.has(_id))) {
      await settling?.write();
      return this.claim(request);
    }
    const [{ size }] = ready as [DeliveryDoc];
    if (max_bytes !== undefined && size > max_bytes) return { deliveries: [], drained: false, larger: size };
    const chosen = upToBytes(ready, max_bytes);
    if (limits) return this.#claimLimited(request, limits, chosen);
    const drained = !more && chosen.length === ready.length;
    const lease = await this.newLease(request);
    if (first && !memory?.isReady(agent_id, first.mark)) return this.claim(request);
    // Sent in one event loop tick, in this order: one commit of the embedded store.
    void settling?.write();
    memory?.handOut(tenant_id, agent_id, chosen, lease);
    const leasing = memory ? Promise.resolve(chosen) : this.#leaseRows(tenant_id, chosen, lease);
    const deliveries = await this.deliver(request, lease, chosen, leasing);
    // All claimed rows were withdrawn: claim again, so that the rows behind them need not wait for another call.
    return deliveries.length || drained ? { deliveries, drained } : this.claim(request);
  }

  async #find(tenant_id: string, agent_id: string, limit: number) {
    const options = { sort: { priority: -1, created_at: 1 }, limit, projection: SHORTEST } as const;
    const rows = await this.#deps.deliveries.find(tenant_id, { state: "ready", agent_id }, options);
    return { rows, more: rows.length === limit };
  }

  /** Returns the agent's limits, if it has any. Its settings are read anyway, or the request says that it has none. */
  async #limitsOf({ tenant_id, agent_id, lease_seconds, is_limited }: ClaimRequest): Promise<Limits | null> {
    if (lease_seconds !== undefined && !is_limited) return null;
    const settings = await this.#deps.agents.get(tenant_id, agent_id);
    return isLimited(settings) ? settings : null;
  }

  async #claimLimited(request: ClaimRequest, limits: Limits, rows: DeliveryDoc[]): Promise<ClaimResult> {
    const { tenant_id, agent_id, settling } = request;
    // Settled deliveries are not in flight any more.
    await settling?.write();
    const { count, limited_ms, slots } = await this.limits.allowance(request, limits, rows.length);
    if (count === 0) return { deliveries: [], limited_ms };
    const chosen = rows.slice(0, count);
    const lease = await this.newLease(request);
    const leasing = slots
      ? this.limits.lease(tenant_id, chosen, slots, lease, new Date(this.#deps.store.now()))
      : this.#leaseRows(tenant_id, chosen, lease);
    const deliveries = await this.deliver(request, lease, chosen, leasing);
    if (limits.max_per_minute !== null) this.limits.count(agent_id, deliveries.length);
    // Rows that another node leased, or whose event is gone, may have others behind them.
    return { deliveries, ...(deliveries.length > 0 ? { drained: false } : { limited_ms: LOST_MS }) };
  }

  /** Returns a lease for rows about to be written for a waiting request. @throws Error if the agent has limits */
  async reservingLease(request: ClaimRequest): Promise<Lease> {
    if (await this.#limitsOf(request)) throw new Error("deliveries of an agent with limits are not reserved");
    return this.newLease(request);
  }

  /** Returns a lease for rows that are delivered to this request now. */
  async newLease({ tenant_id, agent_id, lease, lease_seconds }: ClaimRequest): Promise<Lease> {
    const { agents, store } = this.#deps;
    const seconds = lease_seconds ?? (await agents.get(tenant_id, agent_id)).visibility_timeout_seconds;
    return {
      lease: lease ?? randomBytes(9).toString("base64url"),
      due_at: new Date(store.now() + seconds * 1000),
    };
  }

  /** Delivers rows that are being leased (`leasing`), loading their events meanwhile; releases them if that fails. */
  async deliver(
    request: ClaimRequest,
    lease: Lease,
    rows: DeliveryDoc[],
    leasing: Promise<DeliveryDoc[]>,
  ): Promise<Claimed[]> {
    const { tenant_id } = request;
    // With leases in memory there is nothing to wait for meanwhile, and events are durable only then.
    const loading = this.#deps.ready
      ? leasing.then((leased) => this.#loadEvents(tenant_id, leased))
      : this.#loadEvents(tenant_id, rows);
    // Awaited below; until then its failure must not count as unhandled.
    loading.catch(() => {});
    const leased = await leasing;
    try {
      const events = await loading;
      // Rows written together with their events were reserved before either existed.
      const missing = leased.filter(({ event_id }) => !events.has(event_id as string));
      if (missing.length)
        for (const [id, event] of await this.#loadEvents(tenant_id, missing)) events.set(id, event);
      await this.#removeUnreadable(request, events);
      const { delivered = [], orphans = [] } = Object.groupBy(leased, ({ event_id }) =>
        events.has(event_id as string) ? "delivered" : "orphans",
      );
      await this.#deleteOrphans(tenant_id, orphans);
      metrics.deliveriesHandedOut.inc(delivered.length);
      for (const row of delivered) tally(row, "delivered", 1);
      this.acknowledgements.add(delivered);
      const held = { lease: lease.lease, lease_expires_at: lease.due_at.toISOString() };
      const claimed = delivered.map((row) =>
        this.#toClaimed(row, held, events.get(row.event_id as string) as Loaded),
      );
      return await this.#addMemories(request, delivered, claimed);
    } catch (err) {
      const delivery_ids = leased.map(({ _id }) => _id);
      await this.release({ tenant_id, agent_id: request.agent_id, lease: lease.lease, delivery_ids });
      throw err;
    }
  }

  /** Releases what a lease still holds, at once and without counting an attempt. @returns how many */
  release(held: OfAgent & { lease: string; delivery_ids: string[] }): Promise<number> {
    const { deliveries, store } = this.#deps;
    const { tenant_id, agent_id, lease, delivery_ids } = held;
    return deliveries.updateMany(
      tenant_id,
      { _id: { $in: delivery_ids }, agent_id, state: "leased", lease },
      {
        $set: { state: "ready" },
        $unset: UNLEASED,
        $inc: { attempt_count: -1 },
        $push: timelinePush({ at: new Date(store.now()), what: "returned" }),
      },
    );
  }

  /** Leases the rows that are still ready, and returns their current state. */
  async #leaseRows(tenant_id: string, rows: DeliveryDoc[], lease: Lease): Promise<DeliveryDoc[]> {
    const { deliveries, store } = this.#deps;
    const _id = { $in: rows.map((row) => row._id) };
    const update = leaseUpdate(lease, new Date(store.now()));
    const changed = await deliveries.updateMany(tenant_id, { _id, state: "ready" }, update);
    // All were leased, so the rows found are current but for the attempt just counted.
    if (changed === rows.length) {
      for (const row of rows) row.attempt_count++;
      return rows;
    }
    if (changed === 0) return [];
    const leased = { _id, lease: lease.lease, state: "leased" as const };
    return deliveries.find(tenant_id, leased, { projection: SHORTEST });
  }

  async #loadEvents(tenant_id: string, rows: DeliveryDoc[]): Promise<Map<string, Loaded>> {
    const event_ids = [...new Set(rows.map(({ event_id }) => event_id as string))];
    const params = { tenant_id, event_ids };
    const loaded = await this.#deps.broker.call<Loaded[], unknown>("events.load", params);
    return new Map(loaded.map((event) => [event.event_id, event]));
  }

  /** Removes events that the agent may no longer read: it left the team of the memory or document. */
  async #removeUnreadable({ tenant_id, agent_id }: ClaimRequest, events: Map<string, Loaded>): Promise<void> {
    const restricted = [...events.values()].filter(({ envelope }) => envelope.includes(AUDIENCE));
    if (restricted.length === 0) return;
    const { team_id } = await this.#deps.agents.get(tenant_id, agent_id);
    for (const { event_id, envelope } of restricted) {
      if (!isFor(JSON.parse(envelope), [{ id: agent_id, team_id }])) events.delete(event_id);
    }
  }

  /** Deletes deliveries whose event was refused, was deleted meanwhile or is no longer for their receiver. */
  async #deleteOrphans(tenant_id: string, rows: DeliveryDoc[]): Promise<void> {
    const _id = { $in: rows.map((row) => row._id) };
    if (rows.length) await this.#deps.deliveries.deleteMany(tenant_id, { _id });
  }

  #toClaimed(
    row: DeliveryDoc,
    held: Pick<Claimed, "lease" | "lease_expires_at">,
    { envelope, traceparent }: Loaded,
  ): Claimed {
    const { _id: id, attempt_count, created_at, matched, replay_id } = row;
    const [event_id, agent_id] = [row.event_id as string, row.agent_id as string];
    const at = created_at.toISOString();
    const claimed: Claimed = { id, event_id, attempt_count, created_at: at, ...held, matched, envelope };
    if (replay_id !== undefined) claimed.replay_id = replay_id;
    if (!traceparent) return claimed;
    const { tracing } = this.#deps;
    const context = tracing
      ? tracing.handedOut({ delivery_id: id, event_id, agent_id, attempt_count, created_at, traceparent })
      : traceparent;
    if (context) claimed.traceparent = context;
    return claimed;
  }

  /** Adds their receiver's memories to events that should carry them. */
  async #addMemories(request: ClaimRequest, rows: DeliveryDoc[], claimed: Claimed[]): Promise<Claimed[]> {
    const depths = new Map(rows.map(({ _id, enrichment_depth }) => [_id, enrichment_depth]));
    const requested = claimed.flatMap(({ id, envelope }) => {
      const depth = depths.get(id) ?? "none";
      return depth === "none" ? [] : [{ id, depth, envelope }];
    });
    if (requested.length === 0) return claimed;
    const enriched = await enrich(this.#deps.broker, request, requested);
    return claimed.map((each) => ({ ...each, envelope: enriched.get(each.id) ?? each.envelope }));
  }
}

/** Formats a DeliveryEvent as JSON text: ids, leases and times need no escaping. @param lease as its holder names it */
export function deliveryJson(claimed: Claimed, lease = claimed.lease): string {
  const { id, event_id, envelope, attempt_count, created_at, lease_expires_at, matched } = claimed;
  const replay = claimed.replay_id === undefined ? "" : `,"replay_id":"${claimed.replay_id}"`;
  return `{"id":"${id}","event_id":"${event_id}","payload":${envelope},"attempt_count":${attempt_count},"created_at":"${created_at}","lease":"${lease}","lease_expires_at":"${lease_expires_at}","matched":${JSON.stringify(matched)}${replay}}`;
}
