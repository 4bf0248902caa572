import { randomBytes } from "node:crypto";
import type { Context, ServiceBroker, ServiceSchema } from "moleculer";
import type { OfTenant } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { keyedBy } from "../../../mixins/affinity.ts";
import { ServiceLoop, working } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { observeValue } from "../../../observability/metrics.ts";
import type { RoutingRaised } from "../../identity/tenants/routing-change.ts";
import { recentOf } from "../../platform/usage/tally.ts";
import { action, idempotent, internal, type Runtime, unchecked } from "../../runtime.ts";
import type { LatestParams } from "../interests/explain.ts";
import type { HistoryParams } from "../interests/match-agent.ts";
import { Arrivals } from "./arrivals.ts";
import { getEventType, listEventTypes } from "./event-types.contract.ts";
import { EventTypes } from "./event-types.ts";
import * as contract from "./events.contract.ts";
import { EventModel } from "./events.model.ts";
import { Events } from "./events.ts";
import { FanOut } from "./fan-out.ts";
import { fanOutHorizon, oldestDueSeconds } from "./fan-out-sweep.ts";
import { findEvents, listEvents, loadEvents } from "./list.ts";
import { type Emission, Publisher, type PublishParams } from "./publish.ts";
import { RecentEvents } from "./recent-events.ts";
import { Retention } from "./retention.ts";
import { WaitingEvents } from "./waiting.ts";

/** Waiting receivers take an event within milliseconds: this holds a quarter of a second at full load. */
const RECENT_LENGTH = 4 * 1_048_576;
const RETENTION_MS = 60_000;
/** How late the list of types may be. */
const TYPES_MS = 5_000;
/** Nodes are notified of events that are due sooner. */
const WAITING_MS = 5_000;

interface IngestParams extends OfTenant {
  events: unknown[];
  publisher_id: string | null;
}

export function eventsService({ store, config, health }: Runtime): ServiceSchema {
  const collection = store.collection(EventModel);
  let arrivals: Arrivals;
  let events: Events;
  let types: EventTypes;
  let fanOut: FanOut;
  const recent = new RecentEvents(RECENT_LENGTH);
  let publisher: Publisher;
  let retention: Retention;
  let waiting: WaitingEvents;
  const retentionLoop = new SharedLoop("retention", () => retention.run(), RETENTION_MS);
  const typesLoop = new ServiceLoop("types", () => types.flush().then(() => false), TYPES_MS);
  const waitingLoop = new SharedLoop("waiting", () => waiting.release(), WAITING_MS);
  return {
    name: "events",
    mixins: [working(() => [fanOut]), typesLoop.mixin, retentionLoop.mixin, waitingLoop.mixin],
    events: {
      /** A gateway streams the tenant's events. */
      "events.watched": ({ params }: Context<OfTenant>) => arrivals.watch(params),
      "routing.raised": ({ params }: Context<RoutingRaised>) => publisher.raised(params),
      /** An event waits that is due soon. */
      "events.waiting": ({ params: { due } }: Context<{ due: number }>) => {
        if (waitingLoop.isOwn) waitingLoop.within(due - store.now());
      },
    },
    actions: {
      // No `params`: lib/cloudevents/cloudevents.ts validates events and reports `invalid_event`.
      publish: unchecked<PublishParams>((ctx) => publisher.publishBody(ctx)),
      list: action(contract.listEvents, ({ broker, meta, params }) =>
        listEvents(collection, broker, meta.caller, params),
      ),
      get: action(contract.getEvent, (ctx) => events.get(ctx)),
      retry: action(contract.retryEvent, async (ctx) => {
        const retried = await events.retry(ctx);
        fanOut.nudge();
        return retried;
      }),
      types: action(listEventTypes, (ctx) => types.list(ctx)),
      type: action(getEventType, (ctx) => types.get(ctx)),
      cancel: action(contract.cancelEvent, (ctx) => waiting.cancel(ctx)),

      read: internal<{ event_id: string }>((ctx) => events.read(ctx)),

      /** Publishes events from an inlet, with answers as for a batch. */
      ingest: internal<IngestParams>(({ params: { events: given, ...origin }, meta: { traceparent } }) =>
        publisher.publishBatch(given, { ...origin, traceparent }),
      ),
      emit: internal<OfTenant & Emission>(({ params: { tenant_id, ...emission } }) =>
        publisher.emit(tenant_id, emission),
      ),
      emit_taken: internal<OfTenant & { emissions: Emission[] }>(({ params: { tenant_id, emissions } }) =>
        publisher.emitTaken(tenant_id, emissions),
      ),

      /** As `list`, in two steps: what there is, then the content of as much as the caller has memory for. */
      find: idempotent<ParamsOf<typeof contract.listEvents>>(({ broker, meta, params }) =>
        findEvents(collection, broker, meta.caller, params),
      ),
      load_found: idempotent<OfTenant & { event_ids: string[] }>(({ params: { tenant_id, event_ids } }) =>
        loadEvents(collection, tenant_id, event_ids),
      ),

      load: idempotent<OfTenant & { event_ids: string[] }>(({ params }) => events.load(params)),
      /** Returns the age in seconds of the oldest event that is due for fan-out; null without one. */
      overdue: idempotent<object>(() => oldestDueSeconds(collection, store)),
      fan_out_horizon: idempotent<OfTenant>(({ params: { tenant_id } }) =>
        fanOutHorizon(collection, store, tenant_id),
      ),
      state_of: idempotent<OfTenant & { event_id: string }>(({ params }) => events.stateOf(params)),
      history: idempotent<HistoryParams>(({ params }) => events.history(params)),
      latest: internal<LatestParams>(({ params }) => events.loadLatest(params)),
      headers: idempotent<OfTenant & { event_ids: string[] }>(({ params }) => events.loadHeaders(params)),
      subject_of: idempotent<OfTenant & { id: string }>(({ params }) => events.readSubject(params)),
      /** Whether anyone but the service itself has published for the tenant. */
      any_published: idempotent<OfTenant>(({ params: { tenant_id } }) =>
        collection.exists(tenant_id, { publisher_id: { $ne: null } }),
      ),
      // On the tenant's owner.
      ...keyedBy("params.tenant_id", { delete_old: internal<OfTenant>((ctx) => retention.deleteSome(ctx)) }),
      /** Forgets the events that this node has in memory, once texts of stored ones were erased. */
      forget_recent: internal<object>(() => recent.clear()),
      /** Returns this node's recent work for a tenant (services/platform/usage/tally.ts). */
      tally: internal<OfTenant>(({ params }) => recentOf(params.tenant_id)),
    },

    async stopped() {
      await types.flush().catch(() => {});
    },
    created() {
      arrivals = new Arrivals(this.broker as ServiceBroker);
      const deps = { events: collection, store, broker: this.broker as ServiceBroker, arrivals, recent };
      fanOut = new FanOut({ ...deps, instance: randomBytes(6).toString("hex") });
      health.add("fan_out", () => fanOut.trouble);
      observeFanOut(fanOut);
      const onWaiting = (due: number) => {
        if (due - store.now() < WAITING_MS) void deps.broker.broadcast("events.waiting", { due });
      };
      types = new EventTypes(deps);
      publisher = new Publisher({ ...deps, fanOut, types, onWaiting, maxBytes: config.EVENT_MAX_BYTES });
      waiting = new WaitingEvents({ ...deps, onReleased: () => fanOut.nudge() });
      events = new Events(deps);
      const days = Math.max(config.EVENT_RETENTION_DAYS, config.DEDUPE_DAYS);
      retention = new Retention({ ...deps, onDeleted: (ids) => recent.forget(ids) }, days);
    },
  };
}

function observeFanOut(fanOut: FanOut): void {
  observeValue("fan_out_queue_events", () => fanOut.load.events);
  observeValue("fan_out_queue_bytes", () => fanOut.load.bytes);
  observeValue("fan_out_batches", () => fanOut.load.batches);
  observeValue("fan_out_spilled_tenants", () => fanOut.load.spilled);
}
