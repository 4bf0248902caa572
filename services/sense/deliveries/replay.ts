import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import { type Fault, invalidValue, type Rule, ruleBroken } from "../../../lib/contract/faults.ts";
import { eachInTurn } from "../../../mixins/loop.ts";
import { othersToo } from "../../../mixins/others-too.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Where } from "../../../storage/query.ts";
import { deliveryTo, type Receiver } from "../interests/receiver.ts";
import { inParts } from "./by-bytes.ts";
import { reasonKey } from "./dead.ts";
import { findDead, loadEnvelopes, visibleAgent } from "./dead-letters.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";
import { deliveryId } from "./delivery-id.ts";
import { enqueue, type NewDelivery, type Ready } from "./enqueue.ts";
import { isUnmapped, mapAgain, publishAgain, type Unmapped } from "./map-again.ts";

interface Parts {
  broker: ServiceBroker;
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
  /** Notifies receivers. */
  announceReady: (ready: Ready[]) => void;
}

/** Limit of dead letters chosen by one bulk replay. */
const MOST_AT_ONCE = 10_000;
const PAGE = 500;
const BATCH = 50;
/** Delay before a failed replay is retried. */
const POSTPONED_MS = 60_000;

/**
 * Replays repeat the matching of interests and feeds (spec: Delivery). A request is recorded on the dead row first and
 * found there by the relay, so a crash in between only delays it.
 */
export function newReplays({ broker, store, deliveries, announceReady }: Parts) {
  const now = () => new Date(store.now());

  async function requestOne(caller: Caller, id: string, dry_run = false) {
    const doc = await findDead(deliveries, caller, id);
    const wanted = doc.event_id === null ? await receiversOfUnmapped(doc) : () => receiversOf(doc);
    if (dry_run) return { id, status: "dry_run", receivers: await wanted() };
    const guard = { _id: id, agent_id: doc.agent_id, state: "dead" } as const;
    await deliveries.update(caller.tenant_id, guard, { $set: { replay_at: now() } });
    return { id, status: "accepted" };
  }

  /** Maps an unmapped payload again. @throws Fault business_rule_violation if it still cannot be mapped */
  async function receiversOfUnmapped(doc: DeliveryDoc): Promise<() => Promise<string[]>> {
    if (!isUnmapped(doc)) throw noEvent("no_event_to_replay", doc.dlq_reason as string);
    const mapped = await mapAgain(broker, doc);
    if ("error" in mapped) throw noEvent("still_not_mapped", mapped.error);
    const event = new Map([[doc._id, JSON.stringify(mapped.event)]]);
    return async () => (await match(doc.tenant_id, event)).map(({ agent_id }) => agent_id);
  }

  /** Returns the agents that would receive the replayed event. */
  async function receiversOf(doc: DeliveryDoc): Promise<string[]> {
    const { tenant_id, event_id, agent_id } = doc;
    const wanted = (await match(tenant_id, await loadEnvelopes(broker, tenant_id, [doc]))).map(
      (each) => each.agent_id,
    );
    const ids = wanted.map((each) => deliveryId(event_id as string, each));
    const there = await deliveries.find(tenant_id, { _id: { $in: ids } }, { projection: { agent_id: 1 } });
    const have = new Set(there.map((each) => each.agent_id));
    return wanted.filter((each) => each === agent_id || !have.has(each));
  }

  async function requestMany(
    caller: Caller,
    { ids, reason, dry_run = false }: { ids?: string[]; reason?: string; dry_run?: boolean },
  ) {
    if ((ids === undefined) === (reason === undefined)) {
      throw invalidValue("ids", "Expected exactly one of ids and reason.");
    }
    const choice = ids
      ? { _id: { $in: ids } }
      : { dlq_reason_key: reasonKey(caller.tenant_id, reason as string) };
    const { chosen, more } = await choose(caller, choice);
    if (!dry_run)
      await mark(
        caller.tenant_id,
        chosen.map(({ _id }) => _id),
      );
    const byReason = Map.groupBy(chosen, ({ dlq_reason }) => dlq_reason as string);
    const groups = [...byReason].map(([dlq_reason, those]) => ({ dlq_reason, count: those.length }));
    return { status: dry_run ? "dry_run" : "accepted", count: chosen.length, groups, more };
  }

  async function choose(caller: Caller, filter: Where<DeliveryDoc>) {
    const agent_id = visibleAgent(caller);
    const eligible = {
      state: "dead" as const,
      replay_at: { $exists: false },
      $or: [{ event_id: { $ne: null } }, { origin: { $exists: true } }],
      ...(agent_id && { agent_id }),
    };
    const found = await deliveries.find(
      caller.tenant_id,
      { ...filter, ...eligible },
      {
        limit: MOST_AT_ONCE + 1,
        projection: { dlq_reason: 1 },
      },
    );
    return { chosen: found.slice(0, MOST_AT_ONCE), more: found.length > MOST_AT_ONCE };
  }

  async function mark(tenant_id: string, ids: string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += PAGE) {
      const some = ids.slice(from, from + PAGE);
      await deliveries.updateMany(
        tenant_id,
        { _id: { $in: some }, state: "dead" },
        { $set: { replay_at: now() } },
      );
    }
  }

  const findAsked = othersToo<DeliveryDoc>(
    (others) =>
      deliveries.system
        .find(
          { replay_at: { $lte: now() }, ...others },
          { sort: { replay_at: 1 }, limit: BATCH, projection: { timeline: 0 } },
        )
        .toArray() as Promise<DeliveryDoc[]>,
    BATCH,
  );

  /** Carries out the oldest requested replays. @returns whether there may be more */
  async function relay(): Promise<boolean> {
    const asked = await findAsked({});
    const byTenant = Map.groupBy(asked, ({ tenant_id }) => tenant_id);
    await eachInTurn([...byTenant], ([tenant_id, docs]) => relayFor(tenant_id, docs));
    return asked.length >= BATCH;
  }

  async function relayFor(tenant_id: string, asked: DeliveryDoc[]): Promise<void> {
    const others = asked.filter(({ event_id }) => event_id !== null);
    for (const part of inParts(others)) await relayPart(tenant_id, part);
    const publish = (doc: Unmapped) => publishAgain(broker, deliveries, doc);
    await eachInTurn(asked.filter(isUnmapped), publish, postpone);
  }

  /** Postpones a failed replay: the oldest go first, so it would block all later ones. */
  async function postpone({ tenant_id, _id }: DeliveryDoc): Promise<void> {
    const again = new Date(store.now() + POSTPONED_MS);
    await deliveries.update(tenant_id, { _id, state: "dead" }, { $set: { replay_at: again } });
  }

  async function relayPart(tenant_id: string, docs: DeliveryDoc[]): Promise<void> {
    const envelopes = await loadEnvelopes(broker, tenant_id, docs);
    const wanted = await match(tenant_id, envelopes);
    const { ready } = await enqueue(deliveries, wanted, now());
    announceReady(ready);
    // Revived rows have lost their mark; the remaining ones no longer match for their recipient.
    const still = docs.filter(
      ({ event_id, agent_id }) => !wanted.some((w) => w.event_id === event_id && w.agent_id === agent_id),
    );
    if (still.length === 0) return;
    await deliveries.bulk(
      still.map((doc) => ({ updateOne: notReplayed(doc, envelopes.has(doc.event_id as string)) })),
    );
  }

  async function match(tenant_id: string, envelopes: Map<string, string>): Promise<NewDelivery[]> {
    if (envelopes.size === 0) return [];
    const events = [...envelopes].map(([event_id, envelope]) => ({
      event_id,
      envelope: JSON.parse(envelope),
    }));
    const matches = await broker.call<{ event_id: string; receivers: Receiver[] }[], unknown>(
      "interests.match",
      {
        tenant_id,
        events,
      },
    );
    return matches.flatMap(({ event_id, receivers }) => {
      const size = Buffer.byteLength(envelopes.get(event_id) as string);
      return receivers.map((each) => ({ ...deliveryTo(each, tenant_id, event_id, size), replay: true }));
    });
  }

  return { requestOne, requestMany, relay };
}

function noEvent(rule: Rule, message: string): Fault {
  return ruleBroken(rule, `It is no event that could be replayed: ${message}`, { message });
}

const NOTE = "; replay: ";

function notReplayed({ _id, tenant_id, agent_id, dlq_reason }: DeliveryDoc, kept: boolean) {
  const why = kept ? "its recipient no longer matches" : "the event is no longer kept";
  const reason = (dlq_reason as string).split(NOTE)[0] + NOTE + why;
  return {
    filter: { _id, tenant_id, agent_id, state: "dead" as const },
    update: {
      $set: { dlq_reason: reason, dlq_reason_key: reasonKey(tenant_id, reason) },
      $unset: { replay_at: 1 } as const,
    },
  };
}
