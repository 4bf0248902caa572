import type { Config } from "../../../config.ts";
import { fromFieldName, toFieldName } from "../../../lib/text/field-name.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/time.ts";
import { deletion } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import { COUNTED, type Counted, type Counts, drainTally, drainUse, NOBODY, noteWork } from "./tally.ts";
import {
  type RecordedDoc,
  RecordedModel,
  type TrafficDoc,
  TrafficModel,
  type Unit,
} from "./traffic.model.ts";

const FLUSH_MS = 5000;
/** Rows per write: more would delay the writes of others. */
const PIECE = 50;
/** Work of a node for an event, a delivery or an attempt, in milliseconds: about what each takes. */
const COUNTED_MS = 0.1;

const iso = (ms: number) => new Date(ms).toISOString();

/** Counts of a tenant, or of one of its agents. */
interface Tallied {
  tenant_id: string;
  agent_id: string | null;
  counts: Counts;
  types: Map<string, Counts>;
}

/**
 * The counts of each tenant's traffic by minute and by hour. Each node counts in memory (`tally`) and adds that to the
 * rows every few seconds, if there is anything. A node that is killed loses its last counts: they are statistics, the
 * record is in the events and deliveries.
 */
export class Traffic {
  readonly #store: Store;
  readonly #rows: TenantCollection<TrafficDoc>;
  readonly #recorded: TenantCollection<RecordedDoc>;
  /** Tasks that delete rows past their retention; each returns whether there may be more. */
  readonly removals: Record<"minutes" | "hours" | "recorded", () => Promise<boolean>>;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #flushing: Promise<void> = Promise.resolve();
  /** The last minute that this node has marked as recorded. */
  #marked = 0;
  /** Processor time of this process until the last time that it was divided. */
  #cpu = process.cpuUsage();

  constructor(
    store: Store,
    retention: Pick<Config, "STATS_MINUTE_RETENTION_HOURS" | "STATS_HOUR_RETENTION_DAYS">,
  ) {
    this.#store = store;
    this.#rows = store.collection(TrafficModel);
    this.#recorded = store.collection(RecordedModel);
    const { STATS_MINUTE_RETENTION_HOURS: hours, STATS_HOUR_RETENTION_DAYS: days } = retention;
    const beforeDays = () => store.now() - days * DAY_MS;
    const minutes = { where: { unit: "minute" }, now: () => store.now() - hours * HOUR_MS };
    this.removals = {
      minutes: deletion({ rows: this.#rows, by: "at", ...minutes }),
      hours: deletion({ rows: this.#rows, by: "at", where: { unit: "hour" }, now: beforeDays }),
      recorded: deletion({ rows: this.#recorded, by: "at", now: beforeDays }),
    };
  }

  /** @param report called with errors of background writes */
  start(report: (err: unknown) => void): void {
    const next = () => {
      if (this.#stopped) return;
      // At multiples of the interval, so that counts belong to the minute that has just ended.
      const wait = FLUSH_MS - (this.#store.now() % FLUSH_MS);
      this.#timer = setTimeout(() => void this.#flush(false).catch(report).then(next), wait).unref();
    };
    this.#mark().catch(report);
    next();
  }

  /** Writes the last counts. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.flush().catch(() => {});
  }

  /** Adds what was counted since the last time to the rows. If that fails, it is lost: adding it again could count twice. */
  flush(): Promise<void> {
    return this.#flush(true);
  }

  /** @param isAll whether to write the tenants' use too, else only once a minute: polls alone must cost no more writes */
  #flush(isAll: boolean): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write(isAll));
    return this.#flushing;
  }

  /** Reads the history of a tenant, or of one of its agents; of all events, or of one type. */
  async read(tenant_id: string, range: Range, of: { agent_id?: string; type?: string }) {
    await this.flush();
    const { agent_id = null, type } = of;
    const span = computeSpan(range, this.#store.now());
    const at = { $gte: new Date(span.from) };
    const path = type === undefined ? "counts" : `types.${toFieldName(type)}`;
    const [rows, recorded] = await Promise.all([
      this.#rows.find(
        tenant_id,
        { agent_id, unit: span.unit, at },
        { projection: { at: 1, [path]: 1 as const } },
      ),
      this.#recorded.find(INSTALLATION, { at: { $gte: new Date(span.from - HOUR_MS) } }),
    ]);
    const points = rows.map((row): Point => {
      const counts = type === undefined ? row.counts : row.types?.[toFieldName(type)];
      return { at: row.at, counts: counts ?? {} };
    });
    const series = toSeries(span, points, recorded);
    return { span, series, totals: sumCounts(points.map(({ counts }) => counts)) };
  }

  /** Returns the types of a tenant's or an agent's events in a range, most frequent ones first. */
  async types(tenant_id: string, range: Range, agent_id: string | null, limit: number): Promise<string[]> {
    await this.flush();
    const { from } = computeSpan(range, this.#store.now());
    const hour = Math.floor(from / HOUR_MS) * HOUR_MS;
    const filter = { agent_id, unit: "hour" as const, at: { $gte: new Date(hour) } };
    const sums = new Map<string, number>();
    for await (const rows of this.#rows.batches(tenant_id, filter, { projection: { types: 1 } }))
      for (const { types = {} } of rows)
        for (const [key, { published = 0, created = 0 }] of Object.entries(types))
          sums.set(key, (sums.get(key) ?? 0) + published + created);
    const sorted = [...sums].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
    return sorted.slice(0, limit).map(([key]) => fromFieldName(key));
  }

  /** Returns the sums of agents' counts in the last hours, by agent; those without any are missing. */
  async totals(
    tenant_id: string,
    agent_ids: string[],
    hours: number,
  ): Promise<Map<string, Record<Counted, number>>> {
    await this.flush();
    const at = { $gt: new Date(this.#store.now() - hours * HOUR_MS) };
    const filter = { agent_id: { $in: agent_ids }, unit: "hour" as const, at };
    const rows = await this.#rows.find(tenant_id, filter, { projection: { agent_id: 1, counts: 1 } });
    const byAgent = Map.groupBy(rows, ({ agent_id }) => agent_id as string);
    return new Map([...byAgent].map(([id, own]) => [id, sumCounts(own.map(({ counts }) => counts))]));
  }

  /** Returns what each tenant used in this hour and the ones before, by tenant, as of the last flush. For the operator. */
  async use(hours: number): Promise<Map<string, Counts>> {
    const at = { $gt: new Date(this.#store.now() - hours * HOUR_MS) };
    const sums = new Map<string, Counts>();
    const options = { projection: { tenant_id: 1, counts: 1 } } as const;
    for await (const row of this.#rows.system.find({ agent_id: null, unit: "hour", at }, options)) {
      const sum = sums.get(row.tenant_id) ?? {};
      sums.set(row.tenant_id, sum);
      add(sum, row.counts);
    }
    return sums;
  }

  async #write(isAll: boolean): Promise<void> {
    // Most were counted before this moment, in the interval that ends now.
    const at = this.#store.now() - FLUSH_MS / 2;
    const isNewMinute = await this.#mark();
    const drained = drainTally();
    const changes: Parameters<TenantCollection<TrafficDoc>["upsert"]>[0] = [];
    for (const [tenant_id, byAgent] of drained)
      for (const tallied of toTallied(tenant_id, byAgent)) {
        changes.push(toUpsert("minute", at, tallied), toUpsert("hour", at, tallied));
        if (tallied.agent_id === null) noteWork(tenant_id, workOf(tallied.counts));
      }
    if (isAll || isNewMinute)
      for (const [tenant_id, counts] of this.#divideUse())
        changes.push(toUpsert("hour", at, { tenant_id, agent_id: null, counts, types: new Map() }));
    for (let i = 0; i < changes.length; i += PIECE) await this.#rows.upsert(changes.slice(i, i + PIECE));
  }

  /** Takes the tenants' use, and divides the processor time that this process has spent meanwhile by their work. */
  #divideUse(): [string, Counts][] {
    const used = drainUse();
    // Also without work: the tenant that works next must not get the time spent until then.
    const { user, system } = process.cpuUsage(this.#cpu);
    this.#cpu = process.cpuUsage();
    const all = [...used.values()].reduce((sum, { work }) => sum + work, 0);
    if (all === 0) return [...used].map(([tenant_id, { counts }]) => [tenant_id, counts]);
    const ms = (user + system) / 1000;
    return [...used].map(([tenant_id, { counts, work }]) => [
      tenant_id,
      { ...counts, cpu_ms: (ms * work) / all },
    ]);
  }

  /** Marks the current minute as recorded, once; returns whether it is a new one. */
  async #mark(): Promise<boolean> {
    const now = this.#store.now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === this.#marked) return false;
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    const filter = { _id: `recorded ${iso(hour).slice(0, 13)}`, tenant_id: INSTALLATION };
    const update = { $setOnInsert: { at: new Date(hour) }, $addToSet: { minutes: minute % 60 } };
    await this.#recorded.upsert([{ filter, update }]);
    this.#marked = minute;
    return true;
  }
}

/** Returns the sums of a tenant, and of each of its agents. */
function toTallied(tenant_id: string, byAgent: ReadonlyMap<string, Map<string, Counts>>): Tallied[] {
  const all: Tallied = { tenant_id, agent_id: null, counts: {}, types: new Map() };
  const tallied = [all];
  for (const [agent_id, types] of byAgent) {
    const own: Tallied = { tenant_id, agent_id, counts: {}, types };
    for (const [type, counts] of types) {
      add(own.counts, counts);
      add(all.counts, counts);
      const ofType = all.types.get(type) ?? {};
      all.types.set(type, ofType);
      add(ofType, counts);
    }
    if (agent_id !== NOBODY) tallied.push(own);
  }
  return tallied;
}

function add(sum: Counts, counts: Counts): void {
  for (const name of Object.keys(counts) as (keyof Counts)[])
    sum[name] = (sum[name] ?? 0) + (counts[name] as number);
}

const workOf = ({ published = 0, created = 0, delivered = 0 }: Counts) =>
  (published + created + delivered) * COUNTED_MS;

function toUpsert(unit: Unit, ms: number, { tenant_id, agent_id, counts, types }: Tallied) {
  const at = Math.floor(ms / UNIT_MS[unit]) * UNIT_MS[unit];
  const $inc: Record<`${string}.${string}`, number> = {};
  for (const [name, count] of Object.entries(counts)) $inc[`counts.${name}`] = count;
  for (const [type, ofType] of types)
    for (const [name, count] of Object.entries(ofType)) $inc[`types.${toFieldName(type)}.${name}`] = count;
  const _id = [tenant_id, unit, iso(at).slice(0, 16), ...(agent_id ? [agent_id] : [])].join(" ");
  return { filter: { _id, tenant_id }, update: { $setOnInsert: { unit, at: new Date(at), agent_id }, $inc } };
}

const UNIT_MS: Record<Unit, number> = { minute: MINUTE_MS, hour: HOUR_MS };

/** The time ranges that are read, the unit of their rows and the length of each value. */
export const RANGES = {
  "15m": { ms: 15 * MINUTE_MS, unit: "minute", step: MINUTE_MS },
  "1h": { ms: HOUR_MS, unit: "minute", step: MINUTE_MS },
  "24h": { ms: DAY_MS, unit: "minute", step: 5 * MINUTE_MS },
  "7d": { ms: 7 * DAY_MS, unit: "hour", step: HOUR_MS },
} as const;
export type Range = keyof typeof RANGES;

/** Equal spans of time up to the current one. */
interface Span {
  unit: Unit;
  /** Beginning of the first and end of the last, in ms. */
  from: number;
  to: number;
  step: number;
}

/** A time with counts. */
interface Point {
  at: Date;
  counts: Counts;
}

type Series = Record<Counted, (number | null)[]>;

/** Returns the span that ends with the value in progress. */
export function computeSpan(range: Range, now: number): Span {
  const { ms, unit, step } = RANGES[range];
  const to = (Math.floor(now / step) + 1) * step;
  return { unit, from: to - ms, to, step };
}

/** Sums points into the values of a span: null where nothing was recorded. */
export function toSeries(
  span: Span,
  points: Point[],
  recorded: Pick<RecordedDoc, "at" | "minutes">[],
): Series {
  const { from, to, step } = span;
  const length = (to - from) / step;
  const series = Object.fromEntries(COUNTED.map((name) => [name, new Array(length).fill(null)])) as Series;
  const slotOf = (ms: number) => Math.floor((ms - from) / step);
  const isRecorded = new Array<boolean>(length).fill(false);
  const mark = (ms: number) => {
    if (ms >= from && ms < to) isRecorded[slotOf(ms)] = true;
  };
  for (const { at, minutes } of recorded)
    for (const minute of minutes) mark(at.getTime() + minute * MINUTE_MS);
  // A count says the same, whether or not its minute was marked.
  for (const { at } of points) mark(at.getTime());
  for (const name of COUNTED) for (let i = 0; i < length; i++) if (isRecorded[i]) series[name][i] = 0;
  for (const { at, counts } of points) {
    const slot = slotOf(at.getTime());
    if (slot < 0 || slot >= length) continue;
    for (const name of COUNTED) (series[name][slot] as number) += counts[name] ?? 0;
  }
  return series;
}

function sumCounts(all: Counts[]): Record<Counted, number> {
  const sum = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<Counted, number>;
  for (const counts of all) for (const name of COUNTED) sum[name] += counts[name] ?? 0;
  return sum;
}
