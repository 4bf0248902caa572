import type { ServiceBroker } from "moleculer";
import { MESSAGE_BYTES } from "../../../lib/broker/between-nodes.ts";
import { type CloudEvent, invalidEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { BatchAnswer } from "../../../lib/cloudevents/publish-answers.ts";
import { FAULTS, Fault, type FaultCode, isFault, isRetryable } from "../../../lib/contract/faults.ts";
import { derivedId } from "../../../lib/ids.ts";
import { backOff } from "../../../lib/queue/backoff.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { Due } from "../../../mixins/due.ts";
import type { More } from "../../../mixins/loop.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { StorageUsage } from "../../platform/usage/usage.ts";
import { checkClientEvent, requireSize } from "../events/client-event.ts";
import type { ScheduledEvent } from "./schedules.contract.ts";
import type { ScheduleDoc } from "./schedules.model.ts";
import { type Plan, planTicks, type Timing } from "./timing.ts";

interface TickerDeps {
  rows: TenantCollection<ScheduleDoc>;
  store: Pick<Store, "now" | "past">;
  broker: ServiceBroker;
  usage: Pick<StorageUsage, "isFull">;
}

/** Schedules that are looked at together. */
const BATCH = 100;
/** A held schedule is looked at again after this. */
const HOLD_MS = 300_000;
const LONGEST_RETRY_S = 60;
/** Nodes are notified of a tick that is due sooner. */
export const TICK_MS = 5_000;

/**
 * Publishes the ticks of schedules that are due, each exactly once (docs/decisions/0053-schedules.md): first the event,
 * whose id derives from schedule and tick, so that a repetition after a crash is a duplicate; then one write that
 * settles the tick, guarded by it.
 */
export class Ticker {
  readonly #deps: TickerDeps;
  readonly #due: Due<ScheduleDoc>;

  constructor(deps: TickerDeps) {
    const { rows, store } = deps;
    this.#deps = deps;
    this.#due = new Due({ rows, by: "due_at", now: () => store.past(), batch: BATCH, bytes: MESSAGE_BYTES });
  }

  /** Settles the ticks that are due. Returns when the next one is, if there is one. */
  async run(): Promise<More> {
    const settleAll = (_: string, rows: ScheduleDoc[]) => Promise.all(rows.map((row) => this.#settle(row)));
    return (await this.#due.work(settleAll)) || this.#due.untilNext();
  }

  /** Tells the nodes of a schedule that is due soon; later ones they find by themselves. */
  expect(due_at: Date | undefined): void {
    const { broker, store } = this.#deps;
    const due = due_at?.getTime();
    if (due !== undefined && due - store.now() < TICK_MS) void broker.broadcast("schedules.due", { due });
  }

  /** Publishes an event of a schedule. @throws Fault */
  async publish({ tenant_id, owner_id }: ScheduleDoc, event: CloudEvent): Promise<string> {
    const params = { tenant_id, publisher_id: owner_id, events: [event] };
    const [answer] = await this.#deps.broker.call<BatchAnswer[], unknown>("events.ingest", params);
    if (!answer) throw new Fault("internal_error", "The event was not answered.");
    if (answer.status !== "rejected") return answer.event_id;
    const { code, message, details } = answer.error;
    throw new Fault(code as FaultCode, message, details);
  }

  async #settle(row: ScheduleDoc): Promise<void> {
    const { store, broker } = this.#deps;
    try {
      const held = await reasonToHold(this.#deps, row);
      if (held) return await this.#putOff(row, held, HOLD_MS);
      const { next_at, on_missed } = row as { next_at: Date } & ScheduleDoc;
      const plan = planTicks(timingOf(row), next_at, store.now(), on_missed);
      const { last, error } = await this.#publishAll(row, plan.publish);
      if (await this.#advance(row, plan, last, error)) count(plan, error, store.now());
    } catch (err) {
      const seconds = Math.min(backOff(row.failures + 1), LONGEST_RETRY_S);
      broker.logger.warn({ err, schedule: row._id }, "schedules: a tick failed and will be retried");
      // Without the record there is nothing to put off: the tick stays due.
      await this.#putOff(row, reasonOf(err), seconds * 1000);
    }
    reportChange(broker, row.tenant_id, "schedule");
  }

  /** Publishes ticks in order. An event that can never be published is given up, with the reason. */
  async #publishAll(row: ScheduleDoc, ticks: Date[]) {
    let last: string | null = null;
    let error: string | null = null;
    for (const tick of ticks) {
      try {
        last = await this.publish(row, eventOf(row, tickId(row, tick), tick));
        error = null;
      } catch (err) {
        const code = (err as { type?: string }).type as FaultCode;
        if (!FAULTS[code] || isRetryable(code)) throw err;
        error = (err as Error).message;
      }
    }
    return { last, error };
  }

  /** Records that the ticks of a plan are settled. Returns whether this was the first to do so. */
  async #advance(
    row: ScheduleDoc,
    { publish, missed, next }: Plan,
    last: string | null,
    error: string | null,
  ) {
    const { rows, store } = this.#deps;
    const now = new Date(store.now());
    const failed = error === null ? {} : { last_error: error, last_error_at: now };
    const $set = {
      ...{ next_at: next, failures: 0, last_error: null, last_error_at: null, ...failed },
      ...(last !== null && { last_run_at: publish.at(-1) as Date, last_event_id: last }),
      ...(missed && { last_missed_at: missed }),
    };
    const $inc = { run_count: last === null ? 0 : publish.length };
    const update = next
      ? { $set: { ...$set, due_at: next }, $inc }
      : { $set: { ...$set, ended_at: now }, $inc, $unset: { due_at: 1 as const } };
    return rows.update(row.tenant_id, stillDue(row), update);
  }

  async #putOff(row: ScheduleDoc, last_error: string, ms: number): Promise<void> {
    const { rows, store } = this.#deps;
    const now = store.now();
    const $set = { last_error, last_error_at: new Date(now), due_at: new Date(now + ms) };
    await rows.update(row.tenant_id, stillDue(row), { $set, $inc: { failures: 1 } });
  }
}

/** The state that a tick was read in: nobody has settled it, put it off or changed the schedule since. */
function stillDue({ _id, revision, next_at, due_at }: ScheduleDoc) {
  return { _id, revision, next_at, ...(due_at && { due_at }) };
}

function timingOf({ cron, time_zone, at }: ScheduleDoc): Timing {
  return cron === null ? { at: at as Date } : { cron, time_zone };
}

function reasonOf(err: unknown): string {
  return ((err as Error).message || "The event could not be published.").slice(0, 500);
}

function count({ publish, missed }: Plan, error: string | null, now: number): void {
  const latest = publish.at(-1);
  if (latest) metrics.scheduleTicks.inc({ outcome: error === null ? "published" : "failed" }, publish.length);
  if (missed) metrics.scheduleTicks.inc({ outcome: "missed" });
  if (latest) metrics.scheduleLag.observe((now - latest.getTime()) / 1000);
}

/** Returns why a schedule may not publish now, as its owner could not by a request; else null. */
async function reasonToHold(
  { broker, usage }: TickerDeps,
  { tenant_id, owner_id }: Pick<ScheduleDoc, "tenant_id" | "owner_id">,
): Promise<string | null> {
  const [tenants, isActive] = await Promise.all([
    broker.call<TenantState[], unknown>("tenants.get_many", { tenant_ids: [tenant_id] }),
    isActiveOwner(broker, tenant_id, owner_id),
  ]);
  if (tenants[0]?.status !== "active") return "The organisation is suspended.";
  if (!isActive) return `Its owner, ${owner_id}, is not active.`;
  return usage.isFull(tenant_id) ? "The organisation has reached its storage quota." : null;
}

async function isActiveOwner(broker: ServiceBroker, tenant_id: string, owner_id: string): Promise<boolean> {
  if (owner_id.startsWith("usr_")) {
    const users = await broker.call<unknown[], unknown>("users.of_tokens", { user_ids: [owner_id] });
    return users.length > 0;
  }
  const params = { tenant_id, agent_ids: [owner_id] };
  const [agent] = await broker.call<{ status: string }[], unknown>("agents.get_many", params);
  return agent?.status === "active";
}

/** The attributes that each tick gives. */
const GIVEN = ["id", "time", "specversion", "notbefore"];

type Stored = Pick<ScheduleDoc, "event" | "content">;

export function givenEvent({ event, content = "{}" }: Stored): ScheduledEvent {
  return { ...JSON.parse(event), ...JSON.parse(content) };
}

function toStored({ data, data_base64, ...attributes }: Record<string, unknown>): Stored {
  return { event: JSON.stringify(attributes), content: JSON.stringify({ data, data_base64 }) };
}

/** Builds the event of a schedule for a time. */
export function eventOf(
  { _id, ...stored }: Pick<ScheduleDoc, "_id"> & Stored,
  id: string,
  time: Date,
): CloudEvent {
  return {
    specversion: "1.0",
    id,
    source: `sensorium/schedules/${_id}`,
    time: time.toISOString(),
    ...givenEvent(stored),
  };
}

/** Returns the id of the event for a tick: the same one on every node, so that a repetition is a duplicate. */
function tickId({ secret }: Pick<ScheduleDoc, "secret">, tick: Date): string {
  return derivedId("evt", "tick", secret, tick.toISOString());
}

/** Returns an event as it is stored. @throws Fault invalid_event, with a field below `event`; payload_too_large */
export function checkEvent(schedule_id: string, given: Record<string, unknown>, maxBytes: number): Stored {
  try {
    for (const name of GIVEN)
      if (given[name] !== undefined)
        throw invalidEvent(name, given[name], "no value: each tick gives the event one");
    const now = new Date();
    const event = checkClientEvent(
      eventOf({ _id: schedule_id, ...toStored(given) }, derivedId("evt", "of a tick to come"), now),
      now.getTime(),
    );
    requireSize(Buffer.byteLength(JSON.stringify(event)), maxBytes);
  } catch (err) {
    if (!isFault(err) || err.type !== "invalid_event") throw err;
    const { field } = err.data as { field: string };
    throw new Fault("invalid_event", `event.${err.message}`, { ...err.data, field: `event.${field}` });
  }
  return toStored(given);
}
