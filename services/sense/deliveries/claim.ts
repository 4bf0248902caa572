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

/** Who wants deliveries, how many, and under what lease. */
export interface ClaimRequest {
  tenant_id: string;
  agent_id: string;
  limit: number;
  /** Token the leases get; a fresh one when absent. */
  lease?: string;
  /** How long they hold; the agent's visibility timeout when absent. */
  lease_seconds?: number;
  /** False: its token does not allow it to read memories. */
  reads_memories?: boolean;
}

/** A delivery that was handed out. `envelope` is the CloudEvent as JSON text: nobody here needs to take it apart. */
export interface Claimed {
  id: string;
  event_id: string;
  attempt_count: number;
  created_at: string;
  lease: string;
  lease_expires_at: string;
  matched: Matched;
  envelope: string;
  /** Trace context of the delivery where this node traces, else that of its publish; absent if that had none. */
  traceparent?: string;
}

interface LoadedEvent {
  event_id: string;
  envelope: string;
  /** Of its publish, when that was traced. */
  traceparent?: string;
}

/** What makes a row leased: in the database, and in the hands of whoever has the token. */
export interface Lease {
  lease: string;
  due_at: Date;
}

/** Hands out ready deliveries under leases. */
export interface Claims {
  /** Takes up to `limit` ready rows of an agent; `drained` tells that there were no more. */
  claim(request: ClaimRequest): Promise<{ deliveries: Claimed[]; drained: boolean }>;
  /** The lease that rows get which are handed out to this request now. */
  leaseFor(request: ClaimRequest): Promise<Lease>;
  /**
   * Hands out rows that are being leased: their events are loaded meanwhile. `taken` gives those that were. When the
   * events cannot be had, the leases are given back.
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

/** Stands in the envelope of what is for some agents alone, and hardly in another: most need not be taken apart. */
const BOUND = '"audience":"';

/** Claims in three round trips whatever the backlog: find, one guarded update beside the load of the events. */
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
    // Nothing is left of what was taken: what stands behind it is not to wait for another call.
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
    // Waited for below; until then its failure must not count as unhandled.
    loading.catch(() => {});
    const taken = await taking;
    try {
      const events = await loading;
      // Deliveries that were written with their events were promised before either was there.
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

  /** With their receiver's memories in those events that are to carry them. */
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

  /** The rows that were still ready, as they are now. */
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
    // All of them: nobody came between, so what was found is what is there but for the attempt just counted.
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

  /** Takes away what the agent may not read any more: it left the team whose memory or document an event is about. */
  async function withhold({ tenant_id, agent_id }: ClaimRequest, events: Map<string, LoadedEvent>) {
    const bound = [...events.values()].filter(({ envelope }) => envelope.includes(BOUND));
    if (bound.length === 0) return;
    const { team_id } = await agents.get(tenant_id, agent_id);
    for (const { event_id, envelope } of bound) {
      const audience = audienceIn(JSON.parse(envelope) as CloudEvent);
      if (audience && !isIn(audience, { id: agent_id, team_id })) events.delete(event_id);
    }
  }

  /** Its event went between its making and now, or is not for its receiver any more: nothing is left to deliver. */
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
