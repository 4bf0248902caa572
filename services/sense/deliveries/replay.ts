import type { ServiceBroker } from "moleculer";
import type { Call, Caller } from "../../../lib/access/caller.ts";
import { MESSAGE_BYTES } from "../../../lib/broker/between-nodes.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { BatchAnswer } from "../../../lib/cloudevents/publish-answers.ts";
import { type Fault, type Rule, ruleBroken } from "../../../lib/contract/faults.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { Due } from "../../../mixins/due.ts";
import type { Loop } from "../../../mixins/loop.ts";
import { noteChange } from "../../platform/usage/tally.ts";
import { deliveryTo, type Matches, type NewDelivery } from "../interests/receiver.ts";
import type { ManyParams } from "./dead-letter-find.ts";
import { keptReason, mappingError } from "./dead-letter-state.ts";
import { answerMany, byRows, chooseDead, type DeadLetters, loadEnvelopes } from "./dead-letters.ts";
import {
  type Again,
  type DeliveryDeps,
  type DeliveryDoc,
  deliveryId,
  inBatches,
  reasonKey,
} from "./deliveries.model.ts";
import type { Enqueuer } from "./enqueue.ts";

interface ReplaysDeps extends DeliveryDeps {
  deadLetters: DeadLetters;
  enqueuer: Enqueuer;
  loop: Pick<Loop, "nudge">;
}

const BATCH = 50;

/**
 * Replays repeat the matching of interests and feeds (spec: Delivery). A request is recorded on the dead row first and
 * found there by the relay, so a crash in between only delays it.
 */
export class Replays {
  readonly #deps: ReplaysDeps;
  readonly #requested: Due<DeliveryDoc>;

  constructor(deps: ReplaysDeps) {
    this.#deps = deps;
    const projection = { timeline: 0, log: 0 };
    const asking = { by: "replay_at", batch: BATCH, projection, bytes: MESSAGE_BYTES } as const;
    this.#requested = new Due({ rows: deps.deliveries, now: () => deps.store.now(), ...asking });
  }

  async requestOne(caller: Caller, ref: string, dry_run = false) {
    const row = await this.#deps.deadLetters.find(caller, ref);
    const { _id: id } = row;
    // On a request, too: an unmapped payload that still cannot be mapped is refused.
    const mapped = row.event_id === null ? await this.#mapAgain(row) : null;
    if (dry_run) {
      const receivers = mapped
        ? (await this.#match(row.tenant_id, mapped)).map(({ agent_id }) => agent_id)
        : await this.#findReceivers(row);
      return { id, status: "dry_run", receivers };
    }
    await this.#mark(caller.tenant_id, [{ _id: id }]);
    return { id, status: "accepted" };
  }

  async requestMany(ctx: Call<ManyParams>) {
    const { chosen, more } = await chooseDead(this.#deps, ctx, isReplayable);
    if (!ctx.params.dry_run) await this.#mark(ctx.meta.caller.tenant_id, chosen);
    return answerMany(ctx, chosen, more);
  }

  /** Carries out the oldest requested replays. @returns whether there may be more */
  relay(): Promise<boolean> {
    return this.#requested.work(async (tenant_id, rows) => {
      const withEvent = rows.filter(({ event_id }) => event_id !== null);
      for (const batch of inBatches(withEvent)) await this.#replayEvents(tenant_id, batch);
      for (const row of rows.filter(isUnmapped)) await publishAgain(this.#deps, row);
    });
  }

  async #replayEvents(tenant_id: string, rows: DeliveryDoc[]): Promise<void> {
    const { broker, deliveries, enqueuer } = this.#deps;
    const envelopes = await loadEnvelopes(broker, tenant_id, rows);
    const matched = await this.#match(tenant_id, envelopes);
    await enqueuer.replay(matched);
    noteChange(tenant_id);
    // Revived rows have lost their mark; the remaining ones no longer match for their recipient.
    const left = rows.filter(
      ({ event_id, agent_id }) => !matched.some((m) => m.event_id === event_id && m.agent_id === agent_id),
    );
    if (left.length === 0) return;
    await deliveries.bulk(
      left.map((row) => ({ updateOne: notReplayed(row, envelopes.has(row.event_id as string)) })),
    );
  }

  /** Maps an unmapped payload again, to JSON text. @throws Fault business_rule_violation if it still cannot be mapped */
  async #mapAgain(row: DeliveryDoc): Promise<Map<string, string>> {
    if (!isUnmapped(row)) throw noEvent("no_event_to_replay", row.dlq_reason as string);
    const mapped = await mapAgain(this.#deps.broker, row);
    if ("error" in mapped) throw noEvent("still_not_mapped", mapped.error);
    return new Map([[row._id, JSON.stringify(mapped.event)]]);
  }

  async #findReceivers(row: DeliveryDoc): Promise<string[]> {
    const { broker, deliveries } = this.#deps;
    const { tenant_id, event_id, agent_id } = row;
    const matched = await this.#match(tenant_id, await loadEnvelopes(broker, tenant_id, [row]));
    const ids = matched.map((each) => deliveryId(event_id as string, each.agent_id));
    const rows = await deliveries.find(tenant_id, { _id: { $in: ids } }, { projection: { agent_id: 1 } });
    const known = new Set(rows.map((each) => each.agent_id));
    return matched
      .map((each) => each.agent_id)
      .filter((receiver) => receiver === agent_id || !known.has(receiver));
  }

  async #mark(tenant_id: string, ids: Pick<DeliveryDoc, "_id">[]): Promise<void> {
    const { deliveries, loop, store } = this.#deps;
    const $set = { replay_at: new Date(store.now()) };
    for (const filter of byRows(ids)) await deliveries.updateMany(tenant_id, filter, { $set });
    loop.nudge();
  }

  /** Returns the deliveries of events, given as JSON text by id. */
  async #match(tenant_id: string, envelopes: Map<string, string>): Promise<NewDelivery[]> {
    if (envelopes.size === 0) return [];
    const events = [...envelopes].map(([event_id, text]) => ({ event_id, envelope: parseExact(text) }));
    const params = { tenant_id, events };
    const { matches } = await this.#deps.broker.call<Matches, unknown>("interests.match", params);
    const types = new Map<string, string>(events.map(({ event_id, envelope }) => [event_id, envelope.type]));
    return matches.flatMap(({ event_id, receivers }) => {
      const type = types.get(event_id) as string;
      const size = Buffer.byteLength(envelopes.get(event_id) as string);
      return receivers.map((each) => deliveryTo(each, { tenant_id, event_id, type, size }));
    });
  }
}

/** Whether a replay is possible and not requested yet. */
function isReplayable({ replay_at, event_id, origin }: DeliveryDoc): boolean {
  return replay_at === undefined && (event_id !== null || origin !== undefined);
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

/** The result of mapping a dead letter again; the error is a complete reason. */
type MappedAgain = { event: CloudEvent } | { error: string };

/** A dead letter that its inlet can map again. */
type Unmapped = DeliveryDoc & Required<Pick<DeliveryDoc, "origin">>;

function isUnmapped(doc: DeliveryDoc): doc is Unmapped {
  return doc.event_id === null && doc.origin !== undefined;
}

function mapAgain(broker: ServiceBroker, doc: Unmapped): Promise<MappedAgain> {
  const { inlet, ...origin } = doc.origin;
  const { tenant_id, created_at, payload_json } = doc;
  const payload = payload_json === undefined ? undefined : parseExact(payload_json);
  const received_at = created_at.getTime();
  const params: Again = { ...origin, tenant_id, payload, received_at };
  return broker.call(`${inlet}.map_again`, params);
}

/**
 * Replays an unmapped payload: publishes it and removes the dead letter, or records why it still fails. Repeated after
 * a crash it publishes the same event, which adds nothing.
 *
 * @throws Error if the outcome cannot be determined now
 */
async function publishAgain({ broker, deliveries }: DeliveryDeps, doc: Unmapped): Promise<unknown> {
  const { _id, tenant_id, agent_id } = doc;
  const guard = { _id, agent_id, state: "dead" as const };
  const error = await publish(broker, doc);
  if (error === null) return deliveries.delete(tenant_id, guard);
  const dlq_reason = keptReason(error);
  return deliveries.update(tenant_id, guard, {
    $set: { dlq_reason, dlq_reason_key: reasonKey(tenant_id, dlq_reason) },
    $unset: { replay_at: 1 },
  });
}

/** Returns why it still cannot be mapped; null if it was published. */
async function publish(broker: ServiceBroker, doc: Unmapped): Promise<string | null> {
  const mapped = await mapAgain(broker, doc);
  if ("error" in mapped) return mapped.error;
  const { tenant_id } = doc;
  const params = { tenant_id, publisher_id: null, events: [mapped.event] };
  const [answer] = await broker.call<[BatchAnswer], unknown>("events.ingest", params);
  if (answer.status !== "rejected") return null;
  if (answer.error.code === "internal_error") throw new Error(answer.error.message);
  return mappingError(answer.error);
}
