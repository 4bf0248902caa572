import type { ServiceBroker } from "moleculer";
import { type CloudEvent, checkCloudEvent, invalidEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { isPlatformType } from "../../../lib/cloudevents/platform-types.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { metrics } from "../../../observability/metrics.ts";
import { tally } from "../../../observability/tally.ts";
import { parseTraceparent } from "../../../observability/traceparent.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { RecentEvents } from "./envelopes.ts";
import type { EventDoc, Publication } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";
import { EventInserter, type Inserted } from "./insert.ts";
import { positionMaker } from "./position.ts";

/** The answer to one event (spec: Event, publish result). */
export interface Published {
  event_id: string;
  status: "accepted" | "duplicate";
}

/** The context of a publish. */
export interface Origin {
  tenant_id: string;
  publisher_id: string | null;
  traceparent?: string | undefined;
  seed?: string | undefined;
}

/** Validates an external event. @throws Fault invalid_event. */
export function checkClientEvent(value: unknown): CloudEvent {
  const event = checkCloudEvent(value);
  if (isPlatformType(event.type)) {
    throw invalidEvent(
      "type",
      event.type,
      "a type that is not the service's own: service.* and memory.cited are",
    );
  }
  return event;
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

interface PublisherParts {
  events: TenantCollection<EventDoc>;
  store: Store;
  broker: ServiceBroker;
  fanOut: FanOut;
  recent: RecentEvents;
  maxBytes: number;
}

/** Stores events durably, once per tenant and id, and passes them to fan-out. */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #inserter: EventInserter;
  readonly #nextPosition = positionMaker();

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    this.#inserter = new EventInserter(parts);
  }

  /** Resolves when the event is durable. @throws Fault payload_too_large, service_unavailable. */
  async publish(event: CloudEvent, origin: Origin): Promise<Published> {
    const [result] = await this.#publishAll([this.#prepare(event, origin)]);
    if (result instanceof Error) throw result;
    return result as Published;
  }

  /**
   * Publishes each event on its own: one failure does not affect the others. Returns the results in order, with an
   * error for each rejected event.
   */
  async publishEach(candidates: (() => CloudEvent)[], origin: Origin): Promise<(Published | Error)[]> {
    const prepared = candidates.map((candidate, i) =>
      attempt(() => this.#prepare(candidate(), { ...origin, seed: origin.seed && `${origin.seed} ${i}` })),
    );
    const good = prepared.filter((each): each is Publication => !(each instanceof Error));
    const published = good.length ? await this.#publishAll(good) : [];
    let at = 0;
    return prepared.map((each) => (each instanceof Error ? each : (published[at++] as Published | Error)));
  }

  #prepare(event: CloudEvent, { tenant_id, publisher_id, traceparent, seed }: Origin): Publication {
    const from = traceparent ?? event.traceparent;
    const context = from !== undefined && parseTraceparent(from) ? (from as string) : null;
    const added = context === null ? 0 : addTraceparent(event, context);
    const envelope = JSON.stringify(event);
    const size = Buffer.byteLength(envelope);
    const { store, maxBytes } = this.#parts;
    if (size - added > maxBytes) throw tooLarge(size - added, maxBytes);
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
    if (context !== null) row.traceparent = context;
    if (seed) row.seed = seed;
    return { event, row };
  }

  async #publishAll(publications: Publication[]): Promise<(Published | Error)[]> {
    const { fanOut } = this.#parts;
    const inserted = await this.#inserter.insert(publications);
    const fresh = publications.filter((_, i) => inserted[i] === "inserted");
    metrics.eventsAccepted.inc(fresh.length);
    for (const { row } of fresh) tally(row.tenant_id, "published", 1);
    fanOut.offer(fresh);
    const known = publications.filter((_, i) => inserted[i] === "duplicate");
    const originals = known.length ? await this.#recognise(known.map(({ row }) => row)) : null;
    return publications.map(({ row }, i) => toResult(row, inserted[i] as Inserted, originals));
  }

  /** Counts duplicates; returns the originals by their producers' ids. */
  async #recognise(rows: EventDoc[]): Promise<Map<string, Original>> {
    const { events } = this.#parts;
    const tenant_id = (rows[0] as EventDoc).tenant_id;
    const fields = { projection: { ce_id: 1, source: 1, seed: 1 } };
    const found = await events.find(tenant_id, { ce_id: { $in: rows.map((row) => row.ce_id) } }, fields);
    const originals = new Map(found.map((original) => [original.ce_id, original]));
    const elsewhere = rows.filter((row) => (originals.get(row.ce_id)?.source ?? row.source) !== row.source);
    metrics.eventsDuplicate.inc(rows.filter((row) => !isRetry(row, originals.get(row.ce_id))).length);
    metrics.eventsDuplicateSource.inc(elsewhere.length);
    if (elsewhere.length) {
      await events.bulk(
        elsewhere.map(({ ce_id }) => ({
          updateOne: { filter: { tenant_id, ce_id }, update: { $inc: { duplicate_sources: 1 } } },
        })),
      );
    }
    return originals;
  }
}

/** The fields read of the first event with the id. */
type Original = Pick<EventDoc, "_id" | "ce_id" | "source" | "seed">;

/** Whether the same request was repeated: it gets the first one's answer. */
function isRetry(row: EventDoc, original: Original | undefined): boolean {
  return row.seed !== undefined && original?.seed === row.seed;
}

function toResult(
  row: EventDoc,
  inserted: Inserted,
  originals: Map<string, Original> | null,
): Published | Error {
  if (inserted instanceof Error) return inserted;
  if (inserted === "inserted") return { event_id: row._id, status: "accepted" };
  const original = originals?.get(row.ce_id);
  // Retention has deleted it since: the event can be sent again.
  if (!original) return new Fault("service_unavailable", "Try again.", { retry_after_seconds: 1 });
  return { event_id: original._id, status: isRetry(row, original) ? "accepted" : "duplicate" };
}

function attempt<T>(make: () => T): T | Error {
  try {
    return make();
  } catch (err) {
    return err as Error;
  }
}

function tooLarge(actual_size: number, max_size: number): Fault {
  return new Fault(
    "payload_too_large",
    `The event has ${actual_size} bytes as JSON; at most ${max_size} are kept.`,
    {
      actual_size,
      max_size,
    },
  );
}
