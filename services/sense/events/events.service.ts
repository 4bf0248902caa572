import { randomBytes } from "node:crypto";
import type { ServiceBroker, ServiceSchema } from "moleculer";
import { type Call, callerId, isAdmin } from "../../../lib/access/caller.ts";
import { upToSize } from "../../../lib/broker/message-size.ts";
import { audienceIn } from "../../../lib/cloudevents/audience.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { ServiceLoop, working } from "../../../mixins/loop.ts";
import { tallyOf } from "../../../observability/tally.ts";
import { action, idempotent, internal, type Runtime } from "../../runtime.ts";
import { type Emission, emitted } from "./emission.ts";
import { type Loaded, RecentEvents, toLoaded } from "./envelopes.ts";
import { getEvent, listEvents, retryEvent } from "./events.contract.ts";
import { EventModel } from "./events.model.ts";
import { FanOut } from "./fan-out.ts";
import { listEvents as list, maySee } from "./list.ts";
import { fanoutKey } from "./position.ts";
import { present, timelineOf } from "./present.ts";
import { checkClientEvent, type Origin, Publisher } from "./publish.ts";
import { toAnswers } from "./publish-answers.ts";
import { Retention } from "./retention.ts";

/** Waiting receivers take an event within milliseconds: this holds a quarter of a second at full load. */
const RECENT_LENGTH = 4 * 1_048_576;
const RETENTION_MS = 60_000;

/** One event or a batch, as the gateway reads the body. */
type PublishParams = { event: unknown } | { events: unknown[] };

export function eventsService(runtime: Runtime): ServiceSchema {
  const { store, config } = runtime;
  const events = store.collection(EventModel);
  const recent = new RecentEvents(RECENT_LENGTH);
  let broker: ServiceBroker;
  let fanOut: FanOut;
  let publisher: Publisher;
  let sweep: Retention;
  const retention = new ServiceLoop(
    () => sweep.run(),
    RETENTION_MS,
    "events: retention failed and will be repeated",
  );

  async function publish(ctx: Call<PublishParams>) {
    const { params, meta } = ctx;
    const origin: Origin = {
      tenant_id: meta.caller.tenant_id,
      publisher_id: callerId(meta.caller),
      traceparent: meta.traceparent,
      seed: meta.idempotency_seed,
    };
    if ("events" in params) {
      const candidates = params.events.map((each) => () => checkClientEvent(each));
      return toAnswers(await publisher.publishEach(candidates, origin));
    }
    const published = await publisher.publish(checkClientEvent(params.event), origin);
    if (published.status === "duplicate") meta.$statusCode = 200;
    return published;
  }

  async function load(tenant_id: string, event_ids: string[]): Promise<Loaded[]> {
    const known = event_ids.map((id) => recent.get(tenant_id, id));
    const missing = event_ids.filter((_, i) => known[i] === null);
    if (missing.length === 0) return known as Loaded[];
    const projection = { envelope: 1, accepted_at: 1, traceparent: 1 };
    const rows = await events.find(tenant_id, { _id: { $in: missing } }, { projection });
    return [...known.filter((each) => each !== null), ...rows.map(toLoaded)];
  }

  return {
    name: "events",
    mixins: [working(() => [fanOut]), retention.mixin],
    actions: {
      // No `params`: lib/cloudevents/cloudevents.ts validates events and reports `invalid_event`.
      publish: { visibility: "published", handler: publish },

      list: action(listEvents, ({ params, meta }) => list({ events, broker }, meta.caller, params)),

      get: action(getEvent, async ({ params: { event_id }, meta: { caller } }) => {
        const { tenant_id } = caller;
        const row = await events.findOne(tenant_id, { _id: event_id });
        if (!row || !(await maySee({ events, broker }, caller, row))) throw notFound("event", event_id);
        const [deliveries, receivers] = await Promise.all([
          broker.call("deliveries.counts", { tenant_id, event_id }),
          isAdmin(caller) ? broker.call("deliveries.of_event", { tenant_id, event_id }) : undefined,
        ]);
        const park_reason = row.park_reason ?? null;
        const page = { ...present(row), park_reason, timeline: timelineOf(row), deliveries };
        return receivers === undefined ? page : { ...page, receivers };
      }),

      retry: action(retryEvent, async ({ params: { event_id }, meta: { caller } }) => {
        const { tenant_id } = caller;
        // Not `update`, which needs more than the id on a sharded collection.
        const retried = await events.updateMany(
          tenant_id,
          { _id: event_id, parked_at: { $exists: true } },
          {
            $set: { fanout_key: fanoutKey(tenant_id, store.now()) },
            $unset: { parked_at: 1, park_reason: 1, fanout_attempts: 1 },
          },
        );
        if (!retried && !(await events.findOne(tenant_id, { _id: event_id })))
          throw notFound("event", event_id);
        if (!retried)
          throw new Fault("conflict", "The event is not parked.", { existing_resource_id: event_id });
        fanOut.nudge();
        return { event_id, status: "accepted" };
      }),

      /** Returns this node's recent work for a tenant (observability/tally.ts). */
      tally: internal<{ tenant_id: string }>(({ params }) => tallyOf(params.tenant_id)),

      /** Whether anyone but the service itself has published for the tenant. */
      any_published: idempotent<{ tenant_id: string }>(({ params }) =>
        events.exists(params.tenant_id, { publisher_id: { $ne: null } }),
      ),

      /** Returns the existing ones of the requested events, in no particular order. */
      load: idempotent<{ tenant_id: string; event_ids: string[] }>(({ params }) =>
        load(params.tenant_id, params.event_ids),
      ),

      /** Returns the subject of an event by its id or its producer's; null if it has none or does not exist. */
      subject_of: idempotent<{ tenant_id: string; id: string }>(async ({ params: { tenant_id, id } }) => {
        const projection = { subject: 1 };
        const row =
          (await events.findOne(tenant_id, { _id: id }, { projection })) ??
          (await events.findOne(tenant_id, { ce_id: id }, { projection }));
        return row?.subject ?? null;
      }),

      emit: internal<{ tenant_id: string } & Emission>(({ params: { tenant_id, ...emission } }) =>
        publisher.publish(emitted(emission, new Date(store.now())), { tenant_id, publisher_id: null }),
      ),

      /** Publishes the emissions that the tenant subscribes to, each once (docs/decisions/0024-platform-events.md). */
      emit_taken: internal<{ tenant_id: string; emissions: Emission[] }>(async ({ params }) => {
        const { tenant_id, emissions } = params;
        const types = [...new Set(emissions.map(({ type }) => type))];
        const taken = new Set<string>(await broker.call("interests.taken", { tenant_id, types }));
        const at = new Date(store.now());
        const wanted = emissions.filter(({ type }) => taken.has(type)).map((each) => () => emitted(each, at));
        if (wanted.length === 0) return;
        const published = await publisher.publishEach(wanted, { tenant_id, publisher_id: null });
        const failed = published.find((each) => each instanceof Error);
        if (failed) throw failed;
      }),

      /** Publishes events from an inlet; each succeeds or fails on its own, with answers as for a batch. */
      ingest: internal<{ tenant_id: string; events: unknown[]; publisher_id: string | null }>(
        async ({ params: { tenant_id, events: given, publisher_id }, meta: { traceparent } }) => {
          const candidates = given.map((each) => () => checkClientEvent(each));
          return toAnswers(await publisher.publishEach(candidates, { tenant_id, publisher_id, traceparent }));
        },
      ),

      /** Returns when an event with this producer's id was accepted, in ms; null if none was. */
      accepted_at: internal<{ tenant_id: string; ce_id: string }>(
        async ({ params: { tenant_id, ce_id } }) => {
          const row = await events.findOne(tenant_id, { ce_id }, { projection: { accepted_at: 1 } });
          return row?.accepted_at.getTime() ?? null;
        },
      ),

      /**
       * Returns a tenant's latest events without an audience, latest first, to test an interest on. Limited to the size
       * of one message.
       */
      latest: internal<{ tenant_id: string; limit: number }>(async ({ params: { tenant_id, limit } }) => {
        const sort = { position: -1 } as const;
        const sizes = await events.find(tenant_id, {}, { sort, limit, projection: { size: 1 } });
        const _id = { $in: upToSize(sizes, ({ size }) => size).map((row) => row._id) };
        const projection = { envelope: 1, accepted_at: 1 };
        const rows = await events.find(tenant_id, { _id }, { sort, projection });
        return rows.filter(({ envelope }) => audienceIn(JSON.parse(envelope)) === null).map(toLoaded);
      }),
    },

    created() {
      broker = this.broker as ServiceBroker;
      const instance = randomBytes(6).toString("hex");
      fanOut = new FanOut({ events, store, broker, instance });
      runtime.health.add("fan_out", () => fanOut.trouble);
      publisher = new Publisher({ events, store, broker, fanOut, recent, maxBytes: config.EVENT_MAX_BYTES });
      const onGone = (ids: string[]) => recent.forget(ids);
      const days = Math.max(config.EVENT_RETENTION_DAYS, config.DEDUPE_DAYS);
      sweep = new Retention({ events, store, broker, onGone }, days);
    },
  };
}
