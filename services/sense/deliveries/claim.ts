import { randomBytes } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { audienceIn, isIn } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { metrics } from "../../../observability/metrics.ts";
import { tally } from "../../../observability/tally.ts";
import type { Tracing } from "../../../observability/tracing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { AgentSettingsCache } from "./agent-settings.ts";
import { upToBytes } from "./by-bytes.ts";
import { type DeliveryDoc, type Matched, TIMELINE_ENTRIES } from "./deliveries.model.ts";
import { enrich } from "./enrich.ts";
import { release } from "./settle.ts";

/** A request for deliveries: the receiver, the limit and the lease. */
export interface ClaimRequest {
  tenant_id: string;
  agent_id: string;
  limit: number;
  /** Token for the leases; a fresh one if absent. */
  lease?: string;
  /** Duration of the leases; the agent's visibility timeout if absent. */
  lease_seconds?: number;
  /** False if its token does not allow reading memories. */
  reads_memories?: boolean;
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
  envelope: string;
  /** Trace context of the delivery if this node traces, else that of its publish, if any. */
  traceparent?: string;
}

interface LoadedEvent {
  event_id: string;
  envelope: string;
  /** Trace context of its publish, if traced. */
  traceparent?: string;
}

/** The lease of a row: stored in the database, and held by the client that has the token. */
export interface Lease {
  lease: string;
  due_at: Date;
}

/** Claims ready deliveries under leases. */
export interface Claims {
  /** Claims up to `limit` ready rows of an agent; `drained` is true if no more were left. */
  claim(request: ClaimRequest): Promise<{ deliveries: Claimed[]; drained: boolean }>;
  /** Returns the lease for rows that are delivered to this request now. */
  leaseFor(request: ClaimRequest): Promise<Lease>;
  /**
   * Delivers rows that are being leased, loading their events meanwhile. `taken` resolves to the leased ones. If the
   * events cannot be loaded, the leases are released.
   */
  handOut(
    request: ClaimRequest,
    lease: Lease,
    chosen: DeliveryDoc[],
    taken: Promise<DeliveryDoc[]>,
  ): Promise<Claimed[]>;
}

interface Parts {
  broker: ServiceBroker;
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
  agents: AgentSettingsCache;
  tracing: Tracing | null;
}

/** Appears in every envelope with an audience and in few others: most need not be parsed. */
const BOUND = '"audience":"';

/**
 * Claims in three round trips whatever the backlog: a find, then one guarded update concurrently with loading the
 * events.
 */
export function newClaims({ broker, store, deliveries, agents, tracing }: Parts): Claims {
  async function claim(request: ClaimRequest): ReturnType<Claims["claim"]> {
    const { tenant_id, agent_id, limit } = request;
    const ready = await deliveries.find(
      tenant_id,
      { state: "ready", agent_id },
      { sort: { priority: -1, created_at: 1 }, limit, projection: { timeline: 0 } },
    );
    if (ready.length === 0) return { deliveries: [], drained: true };
    const chosen = upToBytes(ready);
    const drained = ready.length < limit && chosen.length === ready.length;
    const lease = await leaseFor(request);
    const taken = take(tenant_id, chosen, lease);
    const given = await handOut(request, lease, chosen, taken);
    // All claimed rows were withdrawn: claim again, so that the rows behind them need not wait for another call.
    return given.length || drained ? { deliveries: given, drained } : claim(request);
  }

  async function leaseFor({ tenant_id, agent_id, lease, lease_seconds }: ClaimRequest): Promise<Lease> {
    const seconds = lease_seconds ?? (await agents.get(tenant_id, agent_id)).visibility_timeout_seconds;
    return {
      lease: lease ?? randomBytes(9).toString("base64url"),
      due_at: new Date(store.now() + seconds * 1000),
    };
  }

  const handOut: Claims["handOut"] = async (request, { lease, due_at }, chosen, taking) => {
    const { tenant_id, agent_id } = request;
    const loading = load(tenant_id, chosen);
    // Awaited below; until then its failure must not count as unhandled.
    loading.catch(() => {});
    const taken = await taking;
    try {
      const events = await loading;
      // Deliveries written together with their events were promised before either existed.
      const missing = taken.filter(({ event_id }) => !events.has(event_id as string));
      if (missing.length) for (const [id, event] of await load(tenant_id, missing)) events.set(id, event);
      await withhold(request, events);
      await forgetEventless(tenant_id, taken, events);
      metrics.deliveriesHandedOut.inc(taken.length);
      tally(tenant_id, "delivered", taken.length);
      const claimed = taken.flatMap((doc) => {
        const event = events.get(doc.event_id as string);
        return event ? toClaimed(doc, { lease, due_at }, event, tracing) : [];
      });
      return await withMemories(request, taken, claimed);
    } catch (err) {
      const delivery_ids = taken.map(({ _id }) => _id);
      await release(deliveries, { tenant_id, agent_id, lease, delivery_ids, at: new Date(store.now()) });
      throw err;
    }
  };

  /** Adds their receiver's memories to events that should carry them. */
  async function withMemories(request: ClaimRequest, docs: DeliveryDoc[], claimed: Claimed[]) {
    const depths = new Map(docs.map(({ _id, enrichment_depth }) => [_id, enrichment_depth]));
    const wanting = claimed.flatMap(({ id, envelope }) => {
      const depth = depths.get(id) ?? "none";
      return depth === "none" ? [] : [{ id, depth, envelope }];
    });
    if (wanting.length === 0) return claimed;
    const enriched = await enrich(broker, request, wanting);
    return claimed.map((each) => ({ ...each, envelope: enriched.get(each.id) ?? each.envelope }));
  }

  /** Leases the rows that are still ready, and returns their current state. */
  async function take(tenant_id: string, chosen: DeliveryDoc[], { lease, due_at }: Lease) {
    const handed = { at: new Date(store.now()), what: "handed_out" as const };
    const ids = chosen.map(({ _id }) => _id);
    const changed = await deliveries.updateMany(
      tenant_id,
      { _id: { $in: ids }, state: "ready" },
      {
        $set: { state: "leased", lease, due_at },
        $inc: { attempt_count: 1 },
        $push: { timeline: { $each: [handed], $slice: -TIMELINE_ENTRIES } },
      },
    );
    // All were leased, so the rows found are current but for the attempt just counted.
    if (changed === chosen.length) {
      for (const doc of chosen) doc.attempt_count++;
      return chosen;
    }
    if (changed === 0) return [];
    return deliveries.find(
      tenant_id,
      { _id: { $in: ids }, lease, state: "leased" },
      { projection: { timeline: 0 } },
    );
  }

  async function load(tenant_id: string, docs: DeliveryDoc[]): Promise<Map<string, LoadedEvent>> {
    const event_ids = [...new Set(docs.map(({ event_id }) => event_id as string))];
    const events = await broker.call<LoadedEvent[], unknown>("events.load", { tenant_id, event_ids });
    return new Map(events.map((event) => [event.event_id, event]));
  }

  /** Removes events that the agent may no longer read: it left the team of the memory or document. */
  async function withhold({ tenant_id, agent_id }: ClaimRequest, events: Map<string, LoadedEvent>) {
    const bound = [...events.values()].filter(({ envelope }) => envelope.includes(BOUND));
    if (bound.length === 0) return;
    const { team_id } = await agents.get(tenant_id, agent_id);
    for (const { event_id, envelope } of bound) {
      const audience = audienceIn(JSON.parse(envelope) as CloudEvent);
      if (audience && !isIn(audience, { id: agent_id, team_id })) events.delete(event_id);
    }
  }

  /** Deletes deliveries whose event was deleted meanwhile or is no longer for their receiver. */
  async function forgetEventless(tenant_id: string, docs: DeliveryDoc[], events: Map<string, LoadedEvent>) {
    const orphans = docs.filter(({ event_id }) => !events.has(event_id as string)).map(({ _id }) => _id);
    if (orphans.length) await deliveries.deleteMany(tenant_id, { _id: { $in: orphans } });
  }

  return { claim, leaseFor, handOut };
}

function toClaimed(doc: DeliveryDoc, lease: Lease, event: LoadedEvent, tracing: Tracing | null): Claimed {
  const claimed: Claimed = {
    id: doc._id,
    event_id: doc.event_id as string,
    attempt_count: doc.attempt_count,
    created_at: doc.created_at.toISOString(),
    lease: lease.lease,
    lease_expires_at: lease.due_at.toISOString(),
    matched: doc.matched,
    envelope: event.envelope,
  };
  const traceparent = event.traceparent && contextOf(doc, event.traceparent, tracing);
  if (traceparent) claimed.traceparent = traceparent;
  return claimed;
}

function contextOf(doc: DeliveryDoc, traceparent: string, tracing: Tracing | null): string | undefined {
  if (!tracing) return traceparent;
  const { _id: delivery_id, attempt_count, created_at } = doc;
  const [event_id, agent_id] = [doc.event_id as string, doc.agent_id as string];
  return tracing.handedOut({ delivery_id, event_id, agent_id, attempt_count, created_at, traceparent });
}
