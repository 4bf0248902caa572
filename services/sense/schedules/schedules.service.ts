import type { Context, ServiceBroker } from "moleculer";
import { askedAt, type Caller, callerId, isAdmin, type Meta } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { defined } from "../../../lib/defined.ts";
import { newId, newUuid } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/time.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { eraseTexts } from "../../../storage/erase-texts.ts";
import { guardedWrite, requireCapacity } from "../../../storage/writes.ts";
import type { EraseContent } from "../../erasers.ts";
import { action, type CallOf, idempotent, type Runtime, type ServiceFactory } from "../../runtime.ts";
import type { ScheduleStatus } from "./schedules.contract.ts";
import * as contract from "./schedules.contract.ts";
import { type ScheduleDoc, ScheduleModel } from "./schedules.model.ts";
import { checkEvent, eventOf, givenEvent, TICK_MS, Ticker } from "./ticker.ts";
import { inWords, readTiming, tickAfter, ticksAfter, type When } from "./timing.ts";

const ENDED_DAYS = 30;

export const schedulesService: ServiceFactory = (runtime) => {
  const { store, usage, modes } = runtime;
  const rows = store.collection(ScheduleModel);
  let ticker: Ticker;
  let schedules: Schedules;
  // Ticks due during maintenance are late, as after a standstill.
  const run = async () => (modes.isMaintenance ? false : ticker.run());
  const ticks = new SharedLoop("ticks", run, TICK_MS);
  const before = () => store.now() - ENDED_DAYS * DAY_MS;
  const ended = new SharedLoop("ended", deletion({ rows, by: "ended_at", now: before }), HOUR_MS);

  return {
    name: "schedules",
    mixins: [ticks.mixin, ended.mixin],
    events: {
      /** A tick is due soon. */
      "schedules.due": ({ params: { due } }: Context<{ due: number }>) => {
        if (ticks.isOwn) ticks.within(due - store.now());
      },
    },
    actions: {
      create: action(contract.createSchedule, (ctx) => schedules.create(ctx)),
      list: action(contract.listSchedules, (ctx) => schedules.list(ctx)),
      get: action(contract.getSchedule, (ctx) => schedules.get(ctx)),
      update: action(contract.updateSchedule, (ctx) => schedules.update(ctx)),
      delete: action(contract.deleteSchedule, (ctx) => schedules.delete(ctx)),
      run: action(contract.runSchedule, (ctx) => schedules.run(ctx)),
      test: action(contract.testSchedule, (ctx) => schedules.test(ctx)),

      /** Erases, or counts, schedules of an agent, about a person, or that mention memories. */
      erase: idempotent<EraseContent>(async ({ params: { agent_id: owner_id, ...given } }) => {
        const { tenant_id, dry_run } = given;
        if (owner_id === undefined)
          return { schedules: (await eraseTexts(rows, ["event", "content"], given)).length };
        const count = dry_run
          ? rows.count(tenant_id, { owner_id })
          : rows.deleteMany(tenant_id, { owner_id });
        return { schedules: await count };
      }),
    },

    created() {
      ticker = new Ticker({ rows, store, usage, broker: this.broker as ServiceBroker });
      schedules = new Schedules(runtime, rows, ticker);
    },
  };
};

const DEFAULTS = { time_zone: "UTC", on_missed: "run_once", paused: false } as const;

type Parts = Pick<Runtime, "config" | "store">;

export class Schedules {
  readonly #runtime: Parts;
  readonly #rows: TenantCollection<ScheduleDoc>;
  readonly #ticker: Ticker;

  constructor(runtime: Parts, rows: TenantCollection<ScheduleDoc>, ticker: Ticker) {
    this.#runtime = runtime;
    this.#rows = rows;
    this.#ticker = ticker;
  }

  async create({ params, meta }: CallOf<typeof contract.createSchedule>) {
    const { name, event, ...given } = params;
    const _id = newId("sch", meta.idempotency_seed);
    const now = this.#now();
    const row: ScheduleDoc = {
      ...{ _id, tenant_id: meta.caller.tenant_id, owner_id: callerId(meta.caller), name },
      ...checkEvent(_id, event, this.#runtime.config.EVENT_MAX_BYTES),
      ...{ ...DEFAULTS, ...defined(given), ...whenOf(given, NEVER) },
      ...{ revision: 1, secret: newUuid(), next_at: null, failures: 0, run_count: 0 },
      ...{ last_run_at: null, last_event_id: null, last_missed_at: null },
      ...{ ...NO_ERROR, created_at: now, updated_at: now },
    };
    const next_at = this.#nextOf(row, meta);
    await this.#requireCapacity(row);
    const saved = await this.#rows.insertOnce({ ...row, next_at, ...(next_at && { due_at: next_at }) });
    this.#ticker.expect(saved.due_at);
    return present(saved);
  }

  async list({ params, meta }: CallOf<typeof contract.listSchedules>) {
    const { search, owner_id, status } = params;
    const own = isAdmin(meta.caller) ? owner_id : callerId(meta.caller);
    const filter = {
      ...(search && { name: containing(search) }),
      ...(own !== undefined && { owner_id: own }),
      // An agent that asks for those of others gets none.
      ...(owner_id !== undefined && own !== owner_id && { _id: "none" }),
      ...(status && WITH_STATUS[status]),
    };
    const sort = { created_at: 1, _id: 1 } as const;
    const page = { ...params, projection: { content: 0 } };
    const { rows, total } = await this.#rows.page(meta.caller.tenant_id, filter, sort, page);
    return { schedules: rows.map(present), total };
  }

  async get({ params: { schedule_id }, meta }: CallOf<typeof contract.getSchedule>) {
    return present(await this.#require(meta.caller, schedule_id));
  }

  async update({ params, meta }: CallOf<typeof contract.updateSchedule>) {
    const [{ schedule_id: _id }, { caller }] = [params, meta];
    const saved = await guardedWrite(
      async () => {
        const row = await this.#require(caller, _id);
        const { revision } = row;
        return this.#rows.update(caller.tenant_id, { _id, revision }, await this.#change(row, params, meta));
      },
      "The schedule is being changed by others. Read it again, then retry.",
      _id,
    );
    this.#ticker.expect(saved.due_at);
    return present(saved);
  }

  async delete({ params: { schedule_id: _id }, meta: { caller } }: CallOf<typeof contract.deleteSchedule>) {
    const deleted = await this.#rows.delete(caller.tenant_id, { _id, ...ownedBy(caller) });
    requireFound(deleted, "schedule", _id);
  }

  /** Publishes the event now, besides the ticks. */
  async run({ params: { schedule_id }, meta }: CallOf<typeof contract.runSchedule>) {
    const { tenant_id } = meta.caller;
    const row = await this.#require(meta.caller, schedule_id);
    const at = this.#now();
    const event_id = await this.#ticker.publish(row, eventOf(row, newId("evt", meta.idempotency_seed), at));
    const $set = { last_run_at: at, last_event_id: event_id };
    await this.#rows.update(tenant_id, { _id: schedule_id }, { $set, $inc: { run_count: 1 } });
    return { event_id, status: "accepted" };
  }

  test({ params }: CallOf<typeof contract.testSchedule>) {
    const now = this.#runtime.store.now();
    const timing = readTiming({ ...DEFAULTS, ...defined(params), ...whenOf(params, NEVER) }, now);
    return { when: inWords(timing), next: ticksAfter(timing, now) };
  }

  /** Returns the update for a change, of the row that was read. */
  async #change(row: ScheduleDoc, params: ParamsOf<typeof contract.updateSchedule>, meta: Meta) {
    const { name, event, on_missed, time_zone, paused = row.paused } = params;
    const more = event && checkEvent(row._id, event, this.#runtime.config.EVENT_MAX_BYTES);
    const changed = { ...row, ...defined({ time_zone }), ...whenOf(params, row), paused };
    const $set = { ...defined({ name, on_missed }), ...more, paused, updated_at: this.#now() };
    const $inc = { revision: 1 };
    const isTimed = [params.cron, params.at, time_zone].some((value) => value !== undefined);
    if (!isTimed && paused === row.paused) return { $set, $inc };
    const { cron, at } = changed;
    // Pausing is always possible, also when the only time is over.
    const next_at = isTimed || !paused ? this.#nextOf(changed, meta) : null;
    if (row.ended_at && next_at) await this.#requireCapacity(row);
    const timed = { ...$set, cron, at, time_zone: changed.time_zone, next_at, failures: 0, ...NO_ERROR };
    // It may have ended while it is changed to be paused, which keeps it from being deleted.
    return next_at
      ? { $set: { ...timed, due_at: next_at }, $unset: { ended_at: 1 as const }, $inc }
      : { $set: timed, $unset: { due_at: 1 as const, ended_at: 1 as const }, $inc };
  }

  /** Returns the next tick of a schedule that was created or changed. @throws Fault validation_error */
  #nextOf(row: When & Pick<ScheduleDoc, "paused">, meta: Meta): Date | null {
    const now = askedAt(meta, this.#runtime.store.now());
    const timing = readTiming(row, now);
    return row.paused ? null : tickAfter(timing, now);
  }

  async #requireCapacity({ tenant_id, _id, owner_id }: ScheduleDoc): Promise<void> {
    const { MAX_SCHEDULES_PER_AGENT, MAX_SCHEDULES_PER_TENANT } = this.#runtime.config;
    const instead = "Delete one first, or use one schedule for several receivers";
    const common = { of: this.#rows, rule: "schedule_limit", instead } as const;
    const standing = { ended_at: { $exists: false } };
    for (const limit of [
      { called: "an agent or person", most: MAX_SCHEDULES_PER_AGENT, within: { owner_id, ...standing } },
      { called: "the organisation", most: MAX_SCHEDULES_PER_TENANT, within: standing },
    ])
      await requireCapacity({ ...common, ...limit, called: `schedules of ${limit.called}` }, tenant_id, _id);
  }

  #now(): Date {
    return new Date(this.#runtime.store.now());
  }

  /** Returns a schedule that the caller may manage: their own, for admins any. @throws Fault not_found */
  async #require(caller: Caller, _id: string): Promise<ScheduleDoc> {
    const row = await this.#rows.findOne(caller.tenant_id, { _id, ...ownedBy(caller) });
    return requireFound(row, "schedule", _id);
  }
}

const NO_ERROR = { last_error: null, last_error_at: null };
const NEVER = { cron: null, at: null };

/** Returns when a changed schedule publishes: `cron` replaces `at`, and the reverse. */
function whenOf(
  { cron, at }: { cron?: string | null; at?: string | null },
  before: Pick<When, "cron" | "at">,
): Pick<When, "cron" | "at"> {
  return {
    cron: cron ?? (at || cron === null ? null : before.cron),
    at: at ? new Date(at) : cron || at === null ? null : before.at,
  };
}

const ownedBy = (caller: Caller) => (isAdmin(caller) ? {} : { owner_id: callerId(caller) });

const WITH_STATUS = {
  active: { next_at: { $ne: null } },
  paused: { paused: true },
  ended: { paused: false, next_at: null },
} satisfies Record<ScheduleStatus, object>;

function present(row: ScheduleDoc) {
  return presentAs(contract.Schedule, row, {
    ...{ status: scheduleStatus(row), event: givenEvent(row) },
    when: inWords(row),
    next_run_at: row.next_at?.toISOString() ?? null,
  });
}

function scheduleStatus({ paused, next_at }: ScheduleDoc): ScheduleStatus {
  if (paused) return "paused";
  return next_at ? "active" : "ended";
}
