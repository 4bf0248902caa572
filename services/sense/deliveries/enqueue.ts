import { refusedRows, type TenantCollection } from "../../../storage/collection.ts";
import { NOT_DEAD } from "./dead.ts";
import type { DeliveryDoc, EnrichmentDepth, Matched } from "./deliveries.model.ts";
import { deliveryId } from "./delivery-id.ts";
import type { Promised, Receivers } from "./receive.ts";
import { noted } from "./settle.ts";

/** A delivery requested by fan-out. */
export interface NewDelivery {
  tenant_id: string;
  event_id: string;
  agent_id: string;
  priority: number;
  matched: Matched;
  enrichment_depth: EnrichmentDepth;
  /** Bytes of the event as JSON, so that a poll can stop at its size limit without reading it. */
  size?: number;
  /** From a replay: a dead letter with a requested replay is moved back. */
  replay?: boolean;
}

/** An agent with deliveries to receive. */
export interface Ready {
  tenant_id: string;
  agent_id: string;
}

interface Enqueued {
  enqueued: number;
  /** Number of deliveries that existed already. */
  known: number;
  /** Without duplicates. */
  ready: Ready[];
}

/** Rows per write: more would delay the writes of others. */
const CHUNK = 1000;

const DUPLICATE_KEY = 11000;

/**
 * Adds missing deliveries. However often it is repeated, an agent has one row per event. Waiting `receivers` get them
 * at once; other rows are `ready`.
 */
export async function enqueue(
  deliveries: TenantCollection<DeliveryDoc>,
  wanted: NewDelivery[],
  at: Date,
  receivers?: Receivers,
): Promise<Enqueued> {
  const result = { enqueued: 0, known: 0 };
  const ready = new Map<string, Ready>();
  for (let from = 0; from < wanted.length; from += CHUNK) {
    const chunk = wanted.slice(from, from + CHUNK);
    const docs = chunk.map((each) => toDoc(each, at));
    const promises = receivers ? await promiseTo(receivers, docs, at) : [];
    const known = await insertPromised(deliveries, docs, promises);
    const revived = await revive(
      deliveries,
      chunk.filter((each, i) => known.has(i) && each.replay),
      at,
    );
    result.enqueued += docs.length - known.size + revived.length;
    result.known += known.size - revived.length;
    const added = chunk.filter((_, i) => !known.has(i) && docs[i]?.state === "ready");
    for (const { tenant_id, agent_id } of [...added, ...revived])
      ready.set(agent_id, { tenant_id, agent_id });
  }
  return { ...result, ready: [...ready.values()] };
}

/** Prepares rows for writing and promises them to waiting receivers. */
export async function prepare(wanted: NewDelivery[], at: Date, receivers: Receivers) {
  const docs = wanted.map((each) => toDoc(each, at));
  const promises = await promiseTo(receivers, docs, at);
  const written = (isWritten: (index: number) => boolean) => {
    const kept = docs.filter((_, i) => isWritten(i));
    const those = promises.length ? new Set(kept) : null;
    for (const { rows, keep } of promises) keep(rows.filter((row) => those?.has(row)));
    const ready = new Map<string, Ready>();
    for (const { tenant_id, agent_id, state } of kept) {
      if (state === "ready") ready.set(agent_id as string, { tenant_id, agent_id: agent_id as string });
    }
    return { enqueued: kept.length, ready: [...ready.values()] };
  };
  return { docs, written };
}

function toDoc(wanted: NewDelivery, at: Date): DeliveryDoc {
  const { tenant_id, event_id, agent_id, priority, matched, enrichment_depth, size = 0 } = wanted;
  return {
    _id: deliveryId(event_id, agent_id),
    tenant_id,
    agent_id,
    event_id,
    state: "ready",
    priority,
    created_at: at,
    attempt_count: 0,
    size,
    matched,
    enrichment_depth,
    timeline: [],
  };
}

/** Leases rows to waiting receivers before they are written. */
async function promiseTo(receivers: Receivers, docs: DeliveryDoc[], at: Date): Promise<Promised[]> {
  const byAgent = [...Map.groupBy(docs, ({ agent_id }) => agent_id as string)];
  const waited = byAgent.filter(([agent_id]) => receivers.waits(agent_id));
  const promises = await Promise.all(waited.map(([agent_id, rows]) => receivers.promise(agent_id, rows)));
  const made = promises.filter((promised) => promised !== null);
  for (const { rows, lease } of made) {
    const leased = { state: "leased", ...lease, attempt_count: 1 } as const;
    for (const row of rows) Object.assign(row, leased, { timeline: [{ at, what: "handed_out" }] });
  }
  return made;
}

async function insertPromised(
  deliveries: TenantCollection<DeliveryDoc>,
  docs: DeliveryDoc[],
  promises: Promised[],
): Promise<Set<number>> {
  try {
    const known = await insert(deliveries, docs);
    const old = new Set([...known].map((i) => docs[i]));
    for (const { rows, keep } of promises) keep(rows.filter((row) => !old.has(row)));
    return known;
  } catch (err) {
    // Any rows that were written become ready when their lease ends.
    for (const { keep } of promises) keep([]);
    throw err;
  }
}

/** @returns positions of rows whose id exists */
async function insert(deliveries: TenantCollection<DeliveryDoc>, docs: DeliveryDoc[]): Promise<Set<number>> {
  try {
    await deliveries.insertMany(docs);
    return new Set();
  } catch (err) {
    const failures = refusedRows(err, docs.length);
    // Any other failure: fan-out retries all of them.
    if (failures.some(({ code }) => code !== DUPLICATE_KEY)) throw err;
    return new Set(failures.map(({ index }) => index));
  }
}

/** Moves dead letters with a requested replay back, with a fresh budget. @returns those that were moved */
async function revive(
  deliveries: TenantCollection<DeliveryDoc>,
  wanted: NewDelivery[],
  at: Date,
): Promise<NewDelivery[]> {
  if (wanted.length === 0) return [];
  const asked = await askedFor(deliveries, wanted);
  const chosen = wanted.filter((each) => asked.has(deliveryId(each.event_id, each.agent_id)));
  if (chosen.length === 0) return [];
  await deliveries.bulk(
    chosen.map(({ tenant_id, event_id, agent_id, priority, matched, enrichment_depth }) => ({
      updateOne: {
        filter: {
          _id: deliveryId(event_id, agent_id),
          tenant_id,
          agent_id,
          state: "dead",
          replay_at: { $exists: true },
        },
        update: {
          $set: { state: "ready", attempt_count: 0, priority, matched, enrichment_depth },
          $unset: NOT_DEAD,
          $push: noted({ at, what: "replayed" }),
        },
      },
    })),
  );
  return chosen;
}

async function askedFor(
  deliveries: TenantCollection<DeliveryDoc>,
  wanted: NewDelivery[],
): Promise<Set<string>> {
  const byTenant = Map.groupBy(wanted, ({ tenant_id }) => tenant_id);
  const found = await Promise.all(
    [...byTenant].map(([tenant_id, those]) =>
      deliveries.find(
        tenant_id,
        {
          _id: { $in: those.map(({ event_id, agent_id }) => deliveryId(event_id, agent_id)) },
          state: "dead",
          replay_at: { $exists: true },
        },
        { projection: { _id: 1 } },
      ),
    ),
  );
  return new Set(found.flat().map(({ _id }) => _id));
}
