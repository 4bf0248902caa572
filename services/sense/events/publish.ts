import { isDeepStrictEqual } from "node:util";
import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { Scoped } from "../../../lib/access/visibility.ts";
import { audienceOf } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { isPlatformType, PLATFORM_SOURCE } from "../../../lib/cloudevents/platform-types.ts";
import { type BatchAnswer, type Published, toAnswers } from "../../../lib/cloudevents/publish-answers.ts";
import { unavailable } from "../../../lib/contract/faults.ts";
import { noteLongIntegers } from "../../../lib/filter/filter.ts";
import { malformed } from "../../../lib/filter/names.ts";
import { derivedId } from "../../../lib/ids.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { metrics } from "../../../observability/metrics.ts";
import { parseTraceparent } from "../../../observability/tracing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { RoutingRaised } from "../../identity/tenants/routing-change.ts";
import { noteChange, tally } from "../../platform/usage/tally.ts";
import type { Arrivals } from "./arrivals.ts";
import { checkClientEvent, requireSize } from "./client-event.ts";
import type { EventTypes } from "./event-types.ts";
import type { EventDeps, EventDoc, Publication } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";
import { EventInserter, type Inserted } from "./insert.ts";
import { positionMaker } from "./position.ts";
import type { RecentEvents } from "./recent-events.ts";
import { delay } from "./waiting.ts";

/** One event or a batch, as the gateway reads the body. */
export type PublishParams = { event: unknown } | { events: unknown[] };

interface Origin {
  tenant_id: string;
  publisher_id: string | null;
  traceparent?: string | undefined;
  seed?: string | undefined;
}

interface PublisherDeps extends EventDeps {
  fanOut: FanOut;
  types: EventTypes;
  recent: RecentEvents;
  arrivals: Arrivals;
  /** Called with the time at which an event that was written is due. */
  onWaiting(due: number): void;
  maxBytes: number;
}

/** Stores events durably, once per tenant and id, and passes them to fan-out. */
export class Publisher {
  readonly #deps: PublisherDeps;
  readonly #inserter: EventInserter;
  readonly #nextPosition = positionMaker();

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#inserter = new EventInserter(deps);
  }

  raised(raised: RoutingRaised): void {
    this.#inserter.raised(raised);
  }

  async publishBody({ params, meta }: Call<PublishParams>): Promise<Published | BatchAnswer[]> {
    const { caller, traceparent, idempotency_seed: seed } = meta;
    const origin = { tenant_id: caller.tenant_id, publisher_id: callerId(caller), traceparent, seed };
    if ("events" in params) return this.publishBatch(params.events, origin);
    const published = await this.publish(checkClientEvent(params.event, this.#deps.store.now()), origin);
    if (published.status === "duplicate") meta.$statusCode = 200;
    return published;
  }

  /** Publishes external events; each succeeds or fails on its own. */
  async publishBatch(events: unknown[], origin: Origin): Promise<BatchAnswer[]> {
    const now = this.#deps.store.now();
    const candidates = events.map((each) => () => checkClientEvent(each, now));
    return toAnswers(await this.publishEach(candidates, origin));
  }

  emit(tenant_id: string, emission: Emission): Promise<Published> {
    const event = emitted(emission, new Date(this.#deps.store.now()));
    return this.publish(event, { tenant_id, publisher_id: null });
  }

  /** Publishes the emissions that the tenant subscribes to, each once (docs/decisions/0024-platform-events.md). */
  async emitTaken(tenant_id: string, emissions: Emission[]): Promise<void> {
    const { broker, store } = this.#deps;
    const types = [...new Set(emissions.map(({ type }) => type))];
    const taken = new Set<string>(await broker.call("interests.taken", { tenant_id, types }));
    const at = new Date(store.now());
    const candidates = emissions
      .filter(({ type }) => taken.has(type))
      .map((emission) => () => emitted(emission, at));
    const published = await this.publishEach(candidates, { tenant_id, publisher_id: null });
    const failed = published.find((each) => each instanceof Error);
    if (failed) throw failed;
  }

  /** Resolves when the event is durable. @throws Fault payload_too_large, service_unavailable. */
  async publish(event: CloudEvent, origin: Origin): Promise<Published> {
    const [result] = await this.#insert([this.#prepare(event, origin)]);
    if (result instanceof Error) throw result;
    return result as Published;
  }

  /** Publishes each event on its own, and returns their results in order: an error for each rejected one. */
  async publishEach(candidates: (() => CloudEvent)[], origin: Origin): Promise<(Published | Error)[]> {
    const prepared = candidates.map((candidate, i) =>
      attempt(() => this.#prepare(candidate(), { ...origin, seed: origin.seed && `${origin.seed} ${i}` })),
    );
    const good = prepared.filter((each): each is Publication => !(each instanceof Error));
    const published = good.length ? await this.#insert(good) : [];
    let at = 0;
    return prepared.map((each) => (each instanceof Error ? each : (published[at++] as Published | Error)));
  }

  #prepare(event: CloudEvent, { tenant_id, publisher_id, traceparent, seed }: Origin): Publication {
    const from = traceparent ?? event.traceparent;
    const context = from !== undefined && parseTraceparent(from) ? (from as string) : null;
    const added = context === null ? 0 : addTraceparent(event, context);
    const envelope = JSON.stringify(event);
    noteLongIntegers(event, envelope);
    const size = Buffer.byteLength(envelope);
    const { store, maxBytes } = this.#deps;
    requireSize(size - added, maxBytes);
    const now = store.now();
    const position = this.#nextPosition(now);
    const row: EventDoc = {
      _id: `evt_${position}`,
      tenant_id,
      envelope,
      size,
      ce_id: event.id,
      type: event.type,
      source: event.source,
      subject: event.subject ?? null,
      publisher_id,
      accepted_at: new Date(now),
      position,
    };
    delay(row, event);
    if (context !== null) row.traceparent = context;
    if (seed) row.seed = seed;
    return { event, row };
  }

  async #insert(publications: Publication[]): Promise<(Published | Error)[]> {
    const { events, fanOut, recent, onWaiting } = this.#deps;
    const inserted = await this.#inserter.insert(publications);
    const fresh = publications.filter((_, i) => inserted[i] === "inserted");
    for (const { row } of fresh) this.#deps.arrivals.tell(row.tenant_id);
    metrics.eventsAccepted.inc(fresh.length);
    for (const { row } of fresh) {
      countPublished(row);
      this.#deps.types.note(row);
      if (row.due_at) onWaiting(row.due_at.getTime());
      else if (!row.fanned_out_at) recent.add(row);
    }
    fanOut.offer(fresh);
    const duplicates = publications.filter((_, i) => inserted[i] === "duplicate").map(({ row }) => row);
    const originals = duplicates.length ? await countDuplicates(events, duplicates) : null;
    return publications.map(({ row }, i) => toResult(row, inserted[i] as Inserted, originals));
  }
}

/** Counts an event, unless it is the service's own: these say nothing about the tenant's traffic. */
function countPublished({ tenant_id, publisher_id, type }: EventDoc): void {
  if (isPlatformType(type)) {
    noteChange(tenant_id);
    return;
  }
  const agent_id = publisher_id?.startsWith("ag_") ? publisher_id : null;
  tally({ tenant_id, agent_id, type }, "published", 1);
}

/**
 * Adds the publish's trace context, as the attribute of the CloudEvents extension "Distributed Tracing", unless the
 * producer set one. Returns the bytes added, which do not count against the producer's limit.
 */
function addTraceparent(event: CloudEvent, context: string): number {
  if (event.traceparent !== undefined) return 0;
  event.traceparent = context;
  return `,"traceparent":"${context}"`.length;
}

function toResult(
  row: EventDoc,
  inserted: Inserted,
  originals: Map<EventDoc, Original> | null,
): Published | Error {
  if (inserted instanceof Error) return inserted;
  const slip = malformed(row.type);
  const warned = slip === null ? {} : { warnings: [slip] };
  if (inserted === "inserted") return { event_id: row._id, status: "accepted", ...warned };
  const original = originals?.get(row);
  // Retention has deleted it since: the event can be sent again.
  if (!original)
    return unavailable("The first event with this id was deleted in the meantime. Retry in 1 s.");
  const status = isRetry(row, original) ? "accepted" : "duplicate";
  return { event_id: original._id, status, ...(original.differs && { differs: true }), ...warned };
}

function attempt<T>(make: () => T): T | Error {
  try {
    return make();
  } catch (err) {
    return err as Error;
  }
}

type StoredEvent = Pick<EventDoc, "_id" | "ce_id" | "source" | "type" | "subject" | "size" | "seed">;

interface Original extends StoredEvent {
  /** Whether a later one had another source or content. */
  differs: boolean;
}

const FIELDS = { ce_id: 1, source: 1, type: 1, subject: 1, size: 1, seed: 1 } as const;
/** Envelopes of equal events differ by their time and trace context, which are not content. */
const SAME_BYTES = 300;

/** Counts duplicates of one tenant; returns the originals of each. */
async function countDuplicates(
  events: TenantCollection<EventDoc>,
  rows: EventDoc[],
): Promise<Map<EventDoc, Original>> {
  const { tenant_id } = rows[0] as EventDoc;
  const ids = { ce_id: { $in: rows.map((row) => row.ce_id) } };
  const stored = new Map(
    (await events.find(tenant_id, ids, { projection: FIELDS })).map((each) => [each.ce_id, each]),
  );
  const originals = new Map<EventDoc, Original>();
  for (const row of rows) {
    const original = stored.get(row.ce_id);
    if (!original) continue;
    // One envelope at a time: together they may be large.
    const differs = !isRetry(row, original) && (await isDifferent(events, row, original));
    originals.set(row, { ...original, differs });
  }
  const elsewhere = rows.filter((row) => (stored.get(row.ce_id)?.source ?? row.source) !== row.source);
  metrics.eventsDuplicate.inc(rows.filter((row) => !isRetry(row, stored.get(row.ce_id))).length);
  metrics.eventsDuplicateSource.inc(elsewhere.length);
  metrics.eventsDuplicateDiffers.inc([...originals.values()].filter(({ differs }) => differs).length);
  if (elsewhere.length) {
    await events.bulk(
      elsewhere.map(({ ce_id }) => ({
        updateOne: { filter: { tenant_id, ce_id }, update: { $inc: { duplicate_sources: 1 } } },
      })),
    );
  }
  return originals;
}

async function isDifferent(
  events: TenantCollection<EventDoc>,
  row: EventDoc,
  original: StoredEvent,
): Promise<boolean> {
  const isOther = (["source", "type", "subject"] as const).some((name) => row[name] !== original[name]);
  if (isOther || Math.abs(row.size - original.size) > SAME_BYTES) return true;
  const options = { projection: { envelope: 1 } };
  const first = await events.findOne(row.tenant_id, { _id: original._id }, options);
  return first !== null && !isDeepStrictEqual(readContent(row.envelope), readContent(first.envelope));
}

function readContent(envelope: string): unknown {
  const { time: _, traceparent: __, ...content } = parseExact(envelope);
  return content;
}

/** Whether the same request was repeated: it gets the first one's answer. */
function isRetry(row: EventDoc, original: Pick<EventDoc, "seed"> | undefined): boolean {
  return row.seed !== undefined && original?.seed === row.seed;
}

/** An event that the service itself publishes. */
export interface Emission {
  type: string;
  subject?: string;
  /** Ids and states, never content. */
  data: unknown;
  /** Identifies the event: publishing the same text again adds nothing. */
  dedupe: string;
  /** The row that it is about: only its readers receive the event. Absent for everyone in the tenant. */
  audience?: Scoped;
}

export function emitted({ type, subject, data, dedupe, audience: about }: Emission, at: Date): CloudEvent {
  const audience = about && audienceOf(about);
  return {
    specversion: "1.0",
    id: derivedId("evt", "emitted", dedupe),
    source: PLATFORM_SOURCE,
    type,
    ...(subject && { subject }),
    ...(audience && { audience }),
    time: at.toISOString(),
    datacontenttype: "application/json",
    data,
  };
}
