import type { AgentCaller, Call, OfAgent } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { invalidValue, isFault } from "../../../lib/contract/faults.ts";
import { retryDelay } from "../../../lib/queue/backoff.ts";
import { redact } from "../../../lib/text/redact.ts";
import type { Loop } from "../../../mixins/loop.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Update, Write } from "../../../storage/query.ts";
import { noteChange, tally } from "../../platform/usage/tally.ts";
import type { StorageUsage } from "../../platform/usage/usage.ts";
import { type AcknowledgeDeps, acknowledge, type Logged, type Selection } from "./acknowledge.ts";
import type { AgentSettingsCache } from "./agent-settings.ts";
import type { Claims, Settling } from "./claim.ts";
import { deadUpdate, spentReason } from "./dead-letter-state.ts";
import type * as contract from "./deliveries.contract.ts";
import { type DeliveryDoc, type TimelineEntry, timelinePush, UNLEASED } from "./deliveries.model.ts";
import { isUnder, type NamedLease, namedLeases, under } from "./lease.ts";
import { HELD } from "./ordering.ts";
import type { RequestQueues } from "./receive.ts";

interface SettlementsDeps extends AcknowledgeDeps {
  store: Store;
  agents: AgentSettingsCache;
  claims: Claims;
  requestQueues: RequestQueues;
  notifyReady: (ready: OfAgent[]) => void;
  announcements: Pick<Loop, "nudge">;
  usage: Pick<StorageUsage, "require">;
}

interface Nack extends Selection {
  /** Attempts that have ended stay unchanged: their deliveries may be held by others. */
  named?: NamedLease;
  /** Seconds until it is ready again; null: by the delays of its interests, or else of the agent. 0 is at once. */
  delay: (delivery_id: string) => number | null;
  /** No retry can succeed. */
  isHopeless?: boolean;
  /** Nobody has tried: the attempt does not count. */
  isUntried?: boolean;
  /** The reason recorded on a dead letter. */
  reason: (delivery_id: string) => string | undefined;
  logged?: Logged;
}

/** Outcomes of an agent's pushes. */
export interface Outcomes {
  acknowledged: string[];
  failed: { id: string; lease: string; delay_seconds: number | null; reason: string }[];
  /** Not attempted. */
  released: { id: string; lease: string }[];
}

type Rejection = ParamsOf<typeof contract.nackDeliveries>;
type ToSettle = Pick<ParamsOf<typeof contract.receiveNextDeliveries>, "ack" | "nack">;
export type Settled = { acknowledged: number } & Awaited<ReturnType<Settlements["nack"]>>;

const GIVE_UP_BATCH = 500;
const LONGEST_SHOWN = 100;

export class Settlements {
  readonly #deps: SettlementsDeps;

  constructor(deps: SettlementsDeps) {
    this.#deps = deps;
  }

  async ack({ params, meta }: Call<ParamsOf<typeof contract.ackDeliveries>>) {
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    const { delivery_ids } = params;
    const answer = await this.#ack(meta.caller as AgentCaller, params);
    if (answer.acknowledged === delivery_ids.length) return answer;
    const filter = { _id: { $in: delivery_ids }, agent_id };
    const own = await this.#deps.deliveries.find(tenant_id, filter, { projection: { _id: 1 } });
    const known = new Set(own.map(({ _id }) => _id));
    const unknown_ids = delivery_ids.filter((id) => !known.has(id));
    return { ...answer, ...(unknown_ids.length > 0 && { unknown_ids }) };
  }

  async nack({ params, meta }: Call<ParamsOf<typeof contract.nackDeliveries>>) {
    const write = await this.#prepareRejection(meta.caller as AgentCaller, params);
    return write();
  }

  /** Reads what the settling needs, so that its writes can be sent together with a claim's. @throws Fault */
  async prepare(caller: AgentCaller, { ack, nack }: ToSettle): Promise<Settling<Settled>> {
    requireDistinct(ack?.delivery_ids, nack?.delivery_ids);
    const reject = nack && (await this.#prepareRejection(caller, nack, "nack.lease"));
    const delivery_ids = ack?.delivery_ids ?? [];
    return settleOnce([...delivery_ids, ...(nack?.delivery_ids ?? [])], async () => {
      const [acknowledged, rejected] = await Promise.all([
        delivery_ids.length ? this.#ack(caller, { delivery_ids }) : { acknowledged: 0 },
        reject?.() ?? { nacked: 0, dead_lettered: 0 },
      ]);
      return { ...acknowledged, ...rejected };
    });
  }

  async prepareOutcomes(
    of: Pick<Selection, "tenant_id" | "agent_id">,
    { acknowledged, failed, released }: Outcomes,
  ): Promise<Settling<unknown>> {
    const failures = new Map(failed.map((each) => [each.id, each]));
    const reject =
      failures.size === 0
        ? undefined
        : await this.#prepareNack({
            ...{ ...of, delivery_ids: [...failures.keys()] },
            delay: (id) => failures.get(id)?.delay_seconds ?? null,
            reason: (id) => failures.get(id)?.reason,
            named: (id) => failures.get(id)?.lease,
          });
    const leases = [...Map.groupBy(released, ({ lease }) => lease)];
    const ids = [...acknowledged, ...failures.keys(), ...released.map(({ id }) => id)];
    return settleOnce(ids, () =>
      Promise.all([
        acknowledged.length && this.#acknowledge({ ...of, delivery_ids: acknowledged }),
        reject?.(),
        ...leases.map(([lease, held]) =>
          this.release({ ...of, lease, delivery_ids: held.map(({ id }) => id) }),
        ),
      ]),
    );
  }

  async #ack(
    { tenant_id, agent_id }: AgentCaller,
    { delivery_ids, log }: Pick<ParamsOf<typeof contract.ackDeliveries>, "delivery_ids" | "log">,
  ) {
    // Without one nothing is awaited: the write is sent before the lease of the next (`Claims.claim`).
    const logged = log === undefined ? {} : await this.#toLogged(tenant_id, delivery_ids, log);
    const acknowledged = await this.#acknowledge({ tenant_id, agent_id, delivery_ids }, logged);
    this.#deps.requestQueues.removeInFlight(agent_id, delivery_ids);
    return { acknowledged };
  }

  async #acknowledge(selection: Selection, logged?: Logged): Promise<number> {
    const acknowledged = await acknowledge(this.#deps, selection, logged);
    this.#notifyLimited(selection);
    return acknowledged;
  }

  async #prepareRejection(
    { tenant_id, agent_id }: AgentCaller,
    { delivery_ids, lease, delay_seconds, dead_letter = false, attempted = true, reason, log }: Rejection,
    field?: string,
  ) {
    const named = namedLeases(delivery_ids, lease, field);
    const write = await this.#prepareNack({
      ...{ tenant_id, agent_id, delivery_ids, named, isHopeless: dead_letter },
      isUntried: !attempted && !dead_letter,
      delay: () => delay_seconds ?? null,
      reason: () => reason,
      logged: await this.#toLogged(tenant_id, delivery_ids, log),
    });
    return async () => {
      const { ready, ...counts } = await write();
      this.#deps.requestQueues.removeInFlight(agent_id, delivery_ids, named);
      if (ready) this.#deps.notifyReady([{ tenant_id, agent_id }]);
      return counts;
    };
  }

  /** Returns the fields of a log, and counts it; none over the quota: settling is never refused. @throws Fault */
  async #toLogged(tenant_id: string, delivery_ids: string[], log: string | undefined): Promise<Logged> {
    if (log === undefined) return {};
    if (delivery_ids.length !== 1)
      throw invalidValue("log", `log: expected one id in delivery_ids with it, got ${delivery_ids.length}.`);
    const { usage, store } = this.#deps;
    try {
      await usage.require(tenant_id, log.length);
    } catch (error) {
      if (!isFault(error)) throw error;
      return {};
    }
    store.growth.add(tenant_id, log.length);
    return { log: redact(log), log_at: new Date(store.now()) };
  }

  async extend({ params, meta }: Call<ParamsOf<typeof contract.extendDeliveries>>) {
    const { requestQueues, store, deliveries } = this.#deps;
    const { delivery_ids, lease, seconds } = params;
    const { tenant_id, agent_id } = meta.caller as AgentCaller;
    const named = namedLeases(delivery_ids, lease);
    const until = store.now() + seconds * 1000;
    const byLease = [...Map.groupBy(new Set(delivery_ids), named)];
    const extended = await Promise.all(
      byLease.map(([each, ids]) => {
        const held = { _id: { $in: ids }, agent_id, state: "leased" as const, ...under(each) };
        return deliveries.updateMany(tenant_id, held, { $set: { due_at: new Date(until) } });
      }),
    );
    requestQueues.extendInFlight(agent_id, delivery_ids, until, named);
    return { extended: extended.reduce((sum, count) => sum + count, 0) };
  }

  /** Releases deliveries that a lease still holds, without counting an attempt. */
  async release(held: Selection & { lease: string }) {
    const released = await this.#deps.claims.release(held);
    if (released) this.#deps.notifyReady([{ tenant_id: held.tenant_id, agent_id: held.agent_id }]);
    return { released };
  }

  async closeStream(stream: OfAgent & { lease: string }): Promise<void> {
    const { tenant_id, agent_id, lease } = stream;
    const delivery_ids = await this.#deps.requestQueues.closeStream(agent_id, lease);
    if (delivery_ids.length) await this.release({ tenant_id, agent_id, lease, delivery_ids });
  }

  /** Dead-letters an agent's ready and held deliveries created before a time, in ms: no receiver can be reached. */
  async giveUp(params: OfAgent & { before: number; reason: string }) {
    const { deliveries, store, announcements, progress, ordering } = this.#deps;
    const { tenant_id, agent_id, before, reason } = params;
    let dead_lettered = 0;
    // Those that are held behind others of their key first: none of them is released meanwhile.
    for (const state of [HELD, { state: "ready" as const }])
      for (let count = GIVE_UP_BATCH; count === GIVE_UP_BATCH; ) {
        const options = { limit: GIVE_UP_BATCH, projection: { type: 1, active_key: 1 } } as const;
        const parked = { ...state, agent_id, created_at: { $lt: new Date(before) } };
        const old = await deliveries.find(tenant_id, parked, options);
        count = old.length;
        const guard = { _id: { $in: old.map(({ _id }) => _id) }, ...state };
        // A time for each batch: rows with equal times are read together.
        const death = { tenant_id, agent_id, at: new Date(store.now()), reason };
        if (count) dead_lettered += await deliveries.updateMany(tenant_id, guard, deadUpdate(death));
        for (const { type } of old) tally({ tenant_id, agent_id, type }, "dead_lettered", 1);
        const groups = old.map(({ active_key }) => active_key);
        ordering.release(tenant_id, groups);
      }
    metrics.deliveriesDeadLettered.inc(dead_lettered);
    if (dead_lettered) {
      progress.failed(params, new Date(store.now()), reason);
      announcements.nudge();
    }
    return { dead_lettered };
  }

  /** Wakes requests that wait for the end of a delivery in flight. */
  #notifyLimited(agent: OfAgent): void {
    const { claims, notifyReady } = this.#deps;
    if (claims.limits.settled(agent.agent_id)) notifyReady([agent]);
  }

  /**
   * Reads what a rejection changes. The returned function returns leased deliveries to the queue after a delay, or
   * dead-letters them if their budget is spent. Deliveries without a lease stay unchanged.
   */
  async #prepareNack(nack: Nack) {
    const { tenant_id, agent_id, delivery_ids, delay, isHopeless, isUntried, reason, named, logged } = nack;
    const { deliveries, store, agents, announcements, progress } = this.#deps;
    const { retry_budget, ...settings } = await agents.get(tenant_id, agent_id);
    const at = new Date(store.now());
    const fields = { attempt_count: 1, lease: 1, type: 1, retry_delays_seconds: 1, active_key: 1 } as const;
    const leased = { _id: { $in: delivery_ids }, agent_id, state: "leased" as const };
    const held = await deliveries.find(tenant_id, leased, { projection: fields });
    let ready = false;
    const toDead: Write<DeliveryDoc>[] = [];
    const settled: (string | undefined)[] = [];
    const toRetry: Write<DeliveryDoc>[] = [];
    for (const { _id, attempt_count, lease = "", type, retry_delays_seconds, active_key } of held) {
      if (!isUnder({ lease, attempt_count }, named?.(_id))) continue;
      const text = reason(_id);
      const why = text && redact(text);
      // Only this attempt: the row may be settled and leased again before this write, on a stream under the same token.
      const filter = { _id, tenant_id, agent_id, state: "leased" as const, lease, attempt_count };
      if (isUntried) {
        const seconds = delay(_id) ?? 0;
        ready ||= seconds <= 0;
        if (why) progress.failed({ tenant_id, agent_id }, at, why);
        const update = { ...retryUpdate(at, seconds, why, logged), $inc: { attempt_count: -1 } };
        toRetry.push({ updateOne: { filter, update } });
        continue;
      }
      tally({ tenant_id, agent_id, type }, "failed", 1);
      progress.failed({ tenant_id, agent_id }, at, why ?? "returned by the agent");
      if (isHopeless || attempt_count >= retry_budget) {
        tally({ tenant_id, agent_id, type }, "dead_lettered", 1);
        const cause = why ?? "handed back";
        const last = isHopeless ? cause : spentReason(retry_budget, cause);
        const death = { tenant_id, agent_id, at, reason: last };
        toDead.push({ updateOne: { filter, update: deadUpdate(death, logged) } });
        settled.push(active_key);
        continue;
      }
      const delays = retry_delays_seconds ?? settings.retry_delays_seconds;
      const seconds = delay(_id) ?? retryDelay(attempt_count, delays);
      ready ||= seconds <= 0;
      toRetry.push({ updateOne: { filter, update: retryUpdate(at, seconds, why, logged) } });
    }
    return async () => {
      const [dead_lettered, retried] = await Promise.all([this.#write(toDead), this.#write(toRetry)]);
      metrics.deliveriesNacked.inc(dead_lettered + retried);
      metrics.deliveriesDeadLettered.inc(dead_lettered);
      noteChange(tenant_id);
      if (dead_lettered) announcements.nudge();
      this.#deps.ordering.release(tenant_id, settled);
      this.#notifyLimited({ tenant_id, agent_id });
      return { nacked: dead_lettered + retried, dead_lettered, ready };
    };
  }

  async #write(operations: Write<DeliveryDoc>[]): Promise<number> {
    return operations.length ? (await this.#deps.deliveries.bulk(operations)).modifiedCount : 0;
  }
}

/** Returns what settles some deliveries with the first call of `write`. */
function settleOnce<T>(delivery_ids: string[], settle: () => Promise<T>): Settling<T> {
  const ids = new Set(delivery_ids);
  let first: (() => Promise<T>) | undefined = settle;
  let written: Promise<T>;
  const write = () => {
    if (!first) return written;
    written = first().finally(() => ids.clear());
    // Callers that do not await it go on; the request itself does.
    written.catch(() => {});
    // The request may wait for long, and needs what it named no more.
    first = undefined;
    return written;
  };
  return { ids, write };
}

/** Their writes have no order: a delivery in both could be dead-lettered although it is acknowledged. @throws Fault */
function requireDistinct(acknowledged: readonly string[] = [], rejected: readonly string[] = []): void {
  const first = new Set(acknowledged);
  const value = rejected.find((id) => first.has(id))?.slice(0, LONGEST_SHOWN);
  if (value === undefined) return;
  const field = "nack.delivery_ids";
  throw invalidValue(field, `${field}: expected none of ack.delivery_ids, got ${value}.`, { value });
}

function retryUpdate(at: Date, seconds: number, why?: string, logged?: Logged): Update<DeliveryDoc> {
  const entry: TimelineEntry = { at, what: "nacked", ...(why !== undefined && { reason: why }) };
  const $push = timelinePush(entry);
  if (seconds <= 0) return { $set: { ...logged, state: "ready" }, $unset: UNLEASED, $push };
  const due_at = new Date(at.getTime() + seconds * 1000);
  return { $set: { ...logged, state: "waiting", due_at }, $unset: { lease: 1, slot_key: 1 }, $push };
}
