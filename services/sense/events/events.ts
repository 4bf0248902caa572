import { type Call, type Caller, isAdmin } from "../../../lib/access/caller.ts";
import { upToSize } from "../../../lib/broker/between-nodes.ts";
import { audienceIn } from "../../../lib/cloudevents/audience.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { conflict, notFound } from "../../../lib/contract/faults.ts";
import type { EventHeader } from "../deliveries/dead-letter-find.ts";
import type { EventReceiver, OfEvent } from "../deliveries/event-deliveries.ts";
import type { LatestParams, Loaded } from "../interests/explain.ts";
import type { HistoryParams, PastEvent } from "../interests/match-agent.ts";
import type * as contract from "./events.contract.ts";
import type { EventState } from "./events.contract.ts";
import type { EventDeps, EventDoc } from "./events.model.ts";
import { WITHOUT_SERVICE } from "./list.ts";
import { countDeliveries, outcomeOf } from "./outcome.ts";
import { fanoutKey, positionFrom } from "./position.ts";
import { buildTimeline, eventState, present } from "./present.ts";
import { type RecentEvents, toLoaded } from "./recent-events.ts";
import { maySee } from "./visibility.ts";

interface EventsDeps extends EventDeps {
  recent: RecentEvents;
}

/** `events.read` (internal): an event that the caller may see, its envelope as JSON text. */
export type ReadEvent = Pick<EventDoc, "type" | "envelope">;

const SIZED = "sizes were added up";

export class Events {
  readonly #deps: EventsDeps;

  constructor(deps: EventsDeps) {
    this.#deps = deps;
  }

  async get({ params: { event_id }, meta: { caller } }: Call<ParamsOf<typeof contract.getEvent>>) {
    const { broker } = this.#deps;
    const { tenant_id } = caller;
    const row = await this.#visible(caller, event_id);
    const [countsOf, receivers] = await Promise.all([
      countDeliveries(broker, tenant_id, [row]),
      isAdmin(caller)
        ? broker.call<EventReceiver[], OfEvent>("deliveries.of_event", { tenant_id, event_id })
        : undefined,
    ]);
    const park_reason = row.park_reason ?? null;
    const timeline = buildTimeline(row, firstMatched(receivers));
    const deliveries = countsOf(event_id);
    const outcome = outcomeOf(row, deliveries);
    const page = { ...present(row), outcome, deliveries, park_reason, timeline };
    return receivers === undefined ? page : { ...page, receivers };
  }

  async read({ params: { event_id }, meta: { caller } }: Call<{ event_id: string }>): Promise<ReadEvent> {
    const { type, envelope } = await this.#visible(caller, event_id);
    return { type, envelope };
  }

  async #visible(caller: Caller, event_id: string): Promise<EventDoc> {
    const { events, broker } = this.#deps;
    const row = await events.findOne(caller.tenant_id, { _id: event_id });
    if (!row || !(await maySee(broker, caller, row))) throw notFound("event", event_id);
    return row;
  }

  async retry({ params: { event_id }, meta }: Call<ParamsOf<typeof contract.retryEvent>>) {
    const { events, store } = this.#deps;
    const { tenant_id } = meta.caller;
    // Not `update`, which needs more than the id on a sharded collection.
    const $set = { fanout_key: fanoutKey(tenant_id, store.now()) };
    const update = { $set, $unset: { parked_at: 1, park_reason: 1, fanout_attempts: 1 } } as const;
    const parked = { _id: event_id, parked_at: { $exists: true } };
    const retried = await events.updateMany(tenant_id, parked, update);
    if (!retried && !(await events.findOne(tenant_id, { _id: event_id }))) throw notFound("event", event_id);
    if (!retried)
      throw conflict("The event is not parked: only parked events can be retried.", {
        existing_resource_id: event_id,
      });
    return { event_id, status: "accepted" };
  }

  /** Returns the existing ones of the requested events, in no particular order. */
  async load({ tenant_id, event_ids }: { tenant_id: string; event_ids: string[] }): Promise<Loaded[]> {
    const { events, recent } = this.#deps;
    const known = event_ids.map((id) => recent.get(tenant_id, id));
    const missing = event_ids.filter((_, i) => known[i] === null);
    if (missing.length === 0) return known as Loaded[];
    const projection = { envelope: 1, accepted_at: 1, traceparent: 1 } as const;
    const rows = await events.find(tenant_id, { _id: { $in: missing } }, { projection, bounded: SIZED });
    return [...known.filter((each) => each !== null), ...rows.map(toLoaded)];
  }

  /** Returns the events of a range in their order, without content. */
  async history({ tenant_id, from, until, limit }: HistoryParams): Promise<PastEvent[]> {
    const projection = { position: 1, type: 1, size: 1, accepted_at: 1, due_at: 1 } as const;
    const options = { sort: { position: 1 }, limit, projection } as const;
    const begin = typeof from === "number" ? positionFrom(from) : from;
    const position = { $gte: begin, $lt: positionFrom(until + 1) };
    const rows = await this.#deps.events.find(tenant_id, { position }, options);
    return rows.map(({ _id: event_id, position, type, size, accepted_at, due_at }) => {
      return { event_id, position, type, size, accepted_at: accepted_at.toISOString(), waits: !!due_at };
    });
  }

  async stateOf({ tenant_id, event_id }: OfEvent): Promise<EventState | null> {
    const projection = { parked_at: 1, fanned_out_at: 1, due_at: 1 };
    const row = await this.#deps.events.findOne(tenant_id, { _id: event_id }, { projection });
    return row && eventState(row);
  }

  /** Returns the headers of the existing ones of the requested events. */
  loadHeaders({ tenant_id, event_ids }: { tenant_id: string; event_ids: string[] }): Promise<EventHeader[]> {
    const projection = { type: 1, source: 1, subject: 1 } as const;
    return this.#deps.events.find(tenant_id, { _id: { $in: event_ids } }, { projection });
  }

  /** Returns the subject of an event by its id or its producer's; null if it has none or does not exist. */
  async readSubject({ tenant_id, id }: { tenant_id: string; id: string }): Promise<string | null> {
    const { events } = this.#deps;
    const projection = { subject: 1 } as const;
    const row =
      (await events.findOne(tenant_id, { _id: id }, { projection })) ??
      (await events.findOne(tenant_id, { ce_id: id }, { projection }));
    return row?.subject ?? null;
  }

  /** Returns a tenant's latest events without an audience, latest first, to test an interest on: at most one message. */
  async loadLatest({ tenant_id, limit, include_service }: LatestParams): Promise<Loaded[]> {
    const { events } = this.#deps;
    const sort = { position: -1 } as const;
    const filter = include_service ? {} : WITHOUT_SERVICE;
    const sizes = await events.find(tenant_id, filter, { sort, limit, projection: { size: 1 } as const });
    const _id = { $in: upToSize(sizes, ({ size }) => size).map((row) => row._id) };
    const projection = { envelope: 1, accepted_at: 1 } as const;
    const rows = await events.find(tenant_id, { _id }, { sort, projection, bounded: SIZED });
    return rows.filter(({ envelope }) => audienceIn(JSON.parse(envelope)) === null).map(toLoaded);
  }
}

function firstMatched(receivers: EventReceiver[] = []): string | undefined {
  return receivers.flatMap(({ timeline: [first] }) => first?.at ?? []).sort()[0];
}
