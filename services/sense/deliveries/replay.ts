import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import { type Fault, invalidValue, type Rule, ruleBroken } from "../../../lib/contract/faults.ts";
import { eachInTurn, type Loop } from "../../../mixins/loop.ts";
import { othersToo } from "../../../mixins/other-tenants.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Where } from "../../../storage/query.ts";
import { deliveryTo, type Match } from "../interests/receiver.ts";
import { reasonKey } from "./dead.ts";
import { type DeadLetters, loadEnvelopes, visibleAgent } from "./dead-letters.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";
import { deliveryId } from "./delivery-id.ts";
import type { Enqueuer, NewDelivery } from "./enqueue.ts";
import { isUnmapped, mapAgain, publishAgain, type Unmapped } from "./map-again.ts";
import { inBatches } from "./size-limits.ts";

interface ReplaysDeps {
  broker: ServiceBroker;
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
  deadLetters: DeadLetters;
  enqueuer: Enqueuer;
  /** Runs `relay`. */
  loop: Pick<Loop, "nudge">;
}

/** Limit of dead letters chosen by one bulk replay. */
const MAX_CHOSEN = 10_000;
const PAGE = 500;
const BATCH = 50;
/** Delay before a failed replay is retried. */
const POSTPONED_MS = 60_000;

/**
 * Replays repeat the matching of interests and feeds (spec: Delivery). A request is recorded on the dead row first and
 * found there by the relay, so a crash in between only delays it.
 */
export class Replays {
  readonly #deps: ReplaysDeps;
  readonly #findRequested: (others: { tenant_id?: { $nin: string[] } }) => Promise<DeliveryDoc[]>;

  constructor(deps: ReplaysDeps) {
    this.#deps = deps;
    const options = { sort: { replay_at: 1 }, limit: BATCH, projection: { timeline: 0 } } as const;
    this.#findRequested = othersToo((others) => {
      const found = deps.deliveries.system.find({ replay_at: { $lte: this.#now() }, ...others }, options);
      return found.toArray() as Promise<DeliveryDoc[]>;
    }, BATCH);
  }

  async requestOne(caller: Caller, id: string, dry_run = false) {
    const row = await this.#deps.deadLetters.find(caller, id);
    // On a request, too: an unmapped payload that still cannot be mapped is refused.
    const mapped = row.event_id === null ? await this.#mapAgain(row) : null;
    if (dry_run) {
      const receivers = mapped
        ? (await this.#match(row.tenant_id, mapped)).map(({ agent_id }) => agent_id)
        : await this.#findReceivers(row);
      return { id, status: "dry_run", receivers };
    }
    await this.#mark(caller.tenant_id, [id]);
    return { id, status: "accepted" };
  }

  async requestMany(
    caller: Caller,
    {
      ids,
      dry_run = false,
      ...filter
    }: { ids?: string[]; reason?: string; agent_id?: string; dry_run?: boolean },
  ) {
    const { tenant_id } = caller;
    const filtered = filter.reason !== undefined || filter.agent_id !== undefined;
    if ((ids !== undefined) === filtered) {
      throw invalidValue(
        "ids",
        `The request: expected either ids or a filter, got ${ids ? "both" : "neither"}.`,
      );
    }
    const { chosen, more } = await this.#choose(
      caller,
      ids ? { _id: { $in: ids } } : filterOf(tenant_id, filter),
    );
    const chosenIds = chosen.map(({ _id }) => _id);
    if (!dry_run) await this.#mark(tenant_id, chosenIds);
    const byReason = Map.groupBy(chosen, ({ dlq_reason }) => dlq_reason as string);
    const groups = [...byReason].map(([dlq_reason, rows]) => ({ dlq_reason, count: rows.length }));
    return { status: dry_run ? "dry_run" : "accepted", count: chosen.length, groups, more };
  }

  /** Carries out the oldest requested replays. @returns whether there may be more */
  async relay(): Promise<boolean> {
    const requested = await this.#findRequested({});
    const byTenant = Map.groupBy(requested, ({ tenant_id }) => tenant_id);
    await eachInTurn([...byTenant], ([tenant_id, rows]) => this.#relayTenant(tenant_id, rows));
    return requested.length >= BATCH;
  }

  async #relayTenant(tenant_id: string, rows: DeliveryDoc[]): Promise<void> {
    const { broker, deliveries } = this.#deps;
    const withEvent = rows.filter(({ event_id }) => event_id !== null);
    for (const batch of inBatches(withEvent)) await this.#replayEvents(tenant_id, batch);
    const publish = (row: Unmapped) => publishAgain(broker, deliveries, row);
    await eachInTurn(rows.filter(isUnmapped), publish, (row) => this.#postpone(row));
  }

  async #replayEvents(tenant_id: string, rows: DeliveryDoc[]): Promise<void> {
    const { broker, deliveries, enqueuer } = this.#deps;
    const envelopes = await loadEnvelopes(broker, tenant_id, rows);
    const matched = await this.#match(tenant_id, envelopes);
    await enqueuer.replay(matched);
    // Revived rows have lost their mark; the remaining ones no longer match for their recipient.
    const left = rows.filter(
      ({ event_id, agent_id }) => !matched.some((m) => m.event_id === event_id && m.agent_id === agent_id),
    );
    if (left.length === 0) return;
    await deliveries.bulk(
      left.map((row) => ({ updateOne: notReplayed(row, envelopes.has(row.event_id as string)) })),
    );
  }

  /** Postpones a failed replay: the oldest go first, so it would block all later ones. */
  async #postpone({ tenant_id, _id }: DeliveryDoc): Promise<void> {
    const replay_at = new Date(this.#deps.store.now() + POSTPONED_MS);
    await this.#deps.deliveries.update(tenant_id, { _id, state: "dead" }, { $set: { replay_at } });
  }

  /**
   * Maps an unmapped payload again; returns the event as JSON text.
   *
   * @throws Fault business_rule_violation if it still cannot be mapped
   */
  async #mapAgain(row: DeliveryDoc): Promise<Map<string, string>> {
    if (!isUnmapped(row)) throw noEvent("no_event_to_replay", row.dlq_reason as string);
    const mapped = await mapAgain(this.#deps.broker, row);
    if ("error" in mapped) throw noEvent("still_not_mapped", mapped.error);
    return new Map([[row._id, JSON.stringify(mapped.event)]]);
  }

  /** Returns the agents that would receive the replayed event. */
  async #findReceivers(row: DeliveryDoc): Promise<string[]> {
    const { broker, deliveries } = this.#deps;
    const { tenant_id, event_id, agent_id } = row;
    const matched = await this.#match(tenant_id, await loadEnvelopes(broker, tenant_id, [row]));
    const ids = matched.map((each) => deliveryId(event_id as string, each.agent_id));
    const found = await deliveries.find(tenant_id, { _id: { $in: ids } }, { projection: { agent_id: 1 } });
    const known = new Set(found.map((each) => each.agent_id));
    return matched
      .map((each) => each.agent_id)
      .filter((receiver) => receiver === agent_id || !known.has(receiver));
  }

  async #choose(caller: Caller, filter: Where<DeliveryDoc>) {
    const agent_id = visibleAgent(caller);
    const eligible = {
      state: "dead" as const,
      replay_at: { $exists: false },
      $or: [{ event_id: { $ne: null } }, { origin: { $exists: true } }],
      ...(agent_id && { agent_id }),
    };
    const options = { limit: MAX_CHOSEN + 1, projection: { dlq_reason: 1 } };
    const found = await this.#deps.deliveries.find(caller.tenant_id, { ...filter, ...eligible }, options);
    return { chosen: found.slice(0, MAX_CHOSEN), more: found.length > MAX_CHOSEN };
  }

  /** Requests the replay of dead letters. */
  async #mark(tenant_id: string, ids: string[]): Promise<void> {
    const { deliveries, loop } = this.#deps;
    for (let from = 0; from < ids.length; from += PAGE) {
      const filter = { _id: { $in: ids.slice(from, from + PAGE) }, state: "dead" as const };
      await deliveries.updateMany(tenant_id, filter, { $set: { replay_at: this.#now() } });
    }
    loop.nudge();
  }

  /** Returns the deliveries of events, given as JSON text by id. */
  async #match(tenant_id: string, envelopes: Map<string, string>): Promise<NewDelivery[]> {
    if (envelopes.size === 0) return [];
    const events = [...envelopes].map(([event_id, envelope]) => ({
      event_id,
      envelope: JSON.parse(envelope),
    }));
    const params = { tenant_id, events };
    const matches = await this.#deps.broker.call<Match[], unknown>("interests.match", params);
    const types = new Map<string, string>(events.map(({ event_id, envelope }) => [event_id, envelope.type]));
    return matches.flatMap(({ event_id, receivers }) => {
      const type = types.get(event_id) as string;
      const size = Buffer.byteLength(envelopes.get(event_id) as string);
      return receivers.map((each) => deliveryTo(each, { tenant_id, event_id, type, size }));
    });
  }

  #now(): Date {
    return new Date(this.#deps.store.now());
  }
}

/** An agent's rows are found by their key; the reason then restricts these. */
function filterOf(
  tenant_id: string,
  { reason, agent_id }: { reason?: string; agent_id?: string },
): Where<DeliveryDoc> {
  if (agent_id === undefined) return { dlq_reason_key: reasonKey(tenant_id, reason as string) };
  const ofAgent = { dlq_agent_key: { $gt: `${agent_id} `, $lt: `${agent_id} ~` } };
  return reason === undefined ? ofAgent : { ...ofAgent, dlq_reason: reason };
}

function noEvent(rule: Rule, message: string): Fault {
  return ruleBroken(rule, `The dead letter cannot be replayed: ${message}`, { message });
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
