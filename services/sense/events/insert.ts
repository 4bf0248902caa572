import { pagesBySize } from "../../../lib/broker/between-nodes.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { atTickEnd } from "../../../lib/queue/tick-end.ts";
import { memory } from "../../../lib/queue/work.ts";
import { metrics } from "../../../observability/metrics.ts";
import { isDuplicateKey, refusedRows } from "../../../storage/write-errors.ts";
import type { RoutingRaised } from "../../identity/tenants/routing-change.ts";
import { noteChange } from "../../platform/usage/tally.ts";
import type { Prepared } from "../deliveries/enqueue.ts";
import type { Match, Matches, NewDelivery } from "../interests/receiver.ts";
import { type Matchable, matchEvents, toDeliveries } from "./deliver.ts";
import type { EventDeps, EventDoc, Publication } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";
import { listKey } from "./position.ts";
import type { RecentEvents } from "./recent-events.ts";

/** The outcome for a row: durable, duplicate key, or its own error. */
export type Inserted = "inserted" | "duplicate" | Error;

interface InserterDeps extends EventDeps {
  fanOut: Pick<FanOut, "lease" | "isUpToDate">;
  recent: RecentEvents;
}

/** The events of one call, which are written together. */
interface Group {
  tenant_id: string;
  publications: Publication[];
  resolve(results: Inserted[]): void;
  reject(err: unknown): void;
}

/** Limits of a write, which only a single larger group may exceed. */
const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1_048_576;
/** Memory of an event that is being written, by its bytes: as it was sent, and as a row. A smaller one counts as much. */
const IN_MEMORY = 2;
const LEAST_BYTES = 3_355;

/** An event with more receivers is fanned out after its acceptance. */
const MAX_RECEIVERS = 1_000;
/** The same applies to a tenant's events while so many of its deliveries are being written, or batches matched. */
const MAX_DELIVERIES = 4_000;
const MAX_MATCHING = 2;
/** Matching time before a publish is accepted; after a longer match, the tenant's next publishes are not matched first for a while. */
const MATCH_MS = 10;
const SLOW_MS = 1_000;
const MAX_TENANTS = 10_000;

const sizeOf = (publications: Publication[], least: number) =>
  publications.reduce((sum, { row }) => sum + Math.max(row.size, least), 0);

interface UnderWay {
  matching: number;
  deliveries: number;
}

/**
 * Inserts events. Those of one event loop tick share a round trip, which does not wait for earlier ones: the store's
 * driver batches better.
 *
 * On a store that commits what is sent in one tick together, events are matched first and written with their deliveries.
 * Events that cannot be matched at once are written as due, and fanned out from there (`FanOut`): those of a store that
 * cannot, of a tenant whose earlier ones wait, with many receivers, with waits, or that take long to match.
 */
export class EventInserter {
  readonly #deps: InserterDeps;
  readonly #underWay = new Map<string, UnderWay>();
  /** By tenant, until when its events are written as due. */
  readonly #slow = new LruMap<string, number>(MAX_TENANTS);
  /** The latest routing versions that were announced. */
  readonly #raised = new LruMap<string, number>(MAX_TENANTS);
  #groups: Group[] = [];

  constructor(deps: InserterDeps) {
    this.#deps = deps;
  }

  /** Resolves when the events of a tenant are durable, with the outcome of each. @throws Fault as `FairQueue.enter` */
  insert(publications: Publication[]): Promise<Inserted[]> {
    const { tenant_id } = (publications[0] as Publication).row;
    const leave = memory.enter({ tenant_id, caller: "" }, IN_MEMORY * sizeOf(publications, LEAST_BYTES));
    if (this.#groups.length === 0) atTickEnd(() => this.#flush());
    return new Promise<Inserted[]>((resolve, reject) => {
      this.#groups.push({ tenant_id, publications, resolve, reject });
    }).finally(leave);
  }

  /** A tenant's routing has changed: what was matched before is not written with its deliveries. */
  raised({ tenant_id, version }: RoutingRaised): void {
    this.#raised.set(tenant_id, version);
  }

  #flush(): void {
    const tenants = Map.groupBy(this.#groups, ({ tenant_id }) => tenant_id);
    this.#groups = [];
    const weightOf = ({ publications }: Group) => sizeOf(publications, MAX_BYTES / MAX_ROWS);
    for (const groups of tenants.values())
      for (const batch of pagesBySize(groups, weightOf, MAX_BYTES)) void this.#write(batch);
  }

  async #write(groups: Group[]): Promise<void> {
    try {
      const results = await this.#insert(groups.flatMap(({ publications }) => publications));
      for (const { publications, resolve } of groups) resolve(results.splice(0, publications.length));
    } catch (err) {
      for (const { reject } of groups) reject(err);
    }
  }

  /** Writes a tenant's events: as many as possible with their deliveries, in their order. */
  async #insert(publications: Publication[]): Promise<Inserted[]> {
    const results: Inserted[] = [];
    while (results.length < publications.length) {
      const rest = results.length === 0 ? publications : publications.slice(results.length);
      results.push(...((await this.#insertMatched(rest)) ?? (await this.#insertDue(rest))));
    }
    return results;
  }

  /** Writes each event leased to this node's fan-out, or waiting for its time. */
  async #insertDue(publications: Publication[]): Promise<Inserted[]> {
    const { store, fanOut } = this.#deps;
    const now = store.now();
    const rows = publications.map(({ row }) => row);
    for (const row of rows) if (!row.due_at) fanOut.lease(row, now);
    return this.#outcomes(rows, this.#deps.events.insertMany(rows));
  }

  /** Writes the first events with their deliveries; null, with nothing written, if not even the first can be. */
  async #insertMatched(publications: Publication[]): Promise<Inserted[] | null> {
    const { store, fanOut } = this.#deps;
    const { tenant_id } = (publications[0] as Publication).row;
    if (store.driver !== "sqlite" || !fanOut.isUpToDate(tenant_id)) return null;
    if ((this.#slow.get(tenant_id) ?? 0) > performance.now()) return null;
    const isDelayed = publications.some(({ row }) => row.due_at);
    const underWay = this.#underWay.get(tenant_id) ?? { matching: 0, deliveries: 0 };
    if (isDelayed || underWay.matching >= MAX_MATCHING || underWay.deliveries >= MAX_DELIVERIES) return null;
    this.#underWay.set(tenant_id, underWay);
    let under = 0;
    try {
      underWay.matching++;
      const entries = publications.map(toMatchable);
      const { matches, version } = await this.#match(tenant_id, entries).finally(() => underWay.matching--);
      const matched = matches.slice(0, fitting(matches));
      if (matched.length === 0) return null;
      const deliveries = toDeliveries(tenant_id, entries, matched);
      under = deliveries.length;
      underWay.deliveries += under;
      const prepared = under > 0 ? await this.#prepare(deliveries) : NOTHING;
      if (!prepared) return null;
      // From here to the writes without a pause: a later change of the routing is committed later, too.
      if ((this.#raised.get(tenant_id) ?? 0) > version || !fanOut.isUpToDate(tenant_id)) {
        prepared.confirm(NONE);
        return null;
      }
      const rows = publications.slice(0, matched.length).map(({ row }) => row);
      return await this.#writeBoth(rows, matched, prepared);
    } finally {
      underWay.deliveries -= under;
      if (underWay.deliveries === 0 && underWay.matching === 0) this.#underWay.delete(tenant_id);
    }
  }

  async #match(tenant_id: string, entries: Matchable[]): Promise<Matches> {
    const limits = { max_receivers: MAX_RECEIVERS, max_ms: MATCH_MS };
    try {
      const matched = await matchEvents(this.#deps.broker, tenant_id, entries, limits, UNTIMED);
      const receivers = matched.matches.reduce((sum, match) => sum + match.receivers.length, 0);
      if (matched.matches.length < entries.length && receivers < MAX_RECEIVERS)
        this.#slow.set(tenant_id, performance.now() + SLOW_MS);
      return matched;
    } catch (err) {
      this.#failed(err);
      return { matches: [], version: 0 };
    }
  }

  async #prepare(deliveries: NewDelivery[]): Promise<Prepared | null> {
    const { broker } = this.#deps;
    try {
      return await broker.call("deliveries.prepare", { deliveries }, { nodeID: broker.nodeID, ...UNTIMED });
    } catch (err) {
      this.#failed(err);
      return null;
    }
  }

  /** A service that does not answer delays fan-out, not the acceptance. */
  #failed(err: unknown): void {
    this.#deps.broker.logger.warn({ err }, "events: accepted without their deliveries, which follow");
  }

  async #writeBoth(rows: EventDoc[], matches: Match[], prepared: Prepared): Promise<Inserted[]> {
    const { events, store, recent } = this.#deps;
    const [{ tenant_id }] = rows as [EventDoc];
    const at = new Date(store.now());
    rows.forEach((row, i) => {
      row.fanned_out_at = at;
      row.matched_count = (matches[i] as Match).receivers.length;
      if (row.matched_count === 0) row.unmatched_key = listKey(row);
    });
    // Sent in one event loop tick: one commit.
    const writing = events.insertMany(rows);
    const delivering = prepared.write();
    store.send();
    // Awaited below, unless the events fail first.
    delivering.catch(() => {});
    let written = NONE;
    try {
      const results = await this.#outcomes(rows, writing);
      const durable = rows.filter((_, i) => results[i] === "inserted");
      const inserted = durable.map(({ _id }) => _id);
      await delivering.catch(async (err) => {
        await events.deleteMany(tenant_id, { _id: { $in: inserted } });
        throw err;
      });
      written = new Set(inserted);
      // Before waiting requests get their deliveries.
      for (const row of durable) recent.add(row);
      metrics.eventsFannedOut.inc(inserted.length);
      const now = store.now();
      for (const { accepted_at } of durable) metrics.fanOutLag.observe((now - accepted_at.getTime()) / 1000);
      noteChange(tenant_id);
      return results;
    } finally {
      prepared.confirm(written);
    }
  }

  async #outcomes(rows: EventDoc[], writing: Promise<void>): Promise<Inserted[]> {
    const results: Inserted[] = rows.map(() => "inserted");
    try {
      await writing;
    } catch (err) {
      for (const { index, code, errmsg } of refusedRows(err, rows.length)) {
        const error = Object.assign(new Error(errmsg), { code });
        results[index] = isDuplicateKey(error) ? "duplicate" : error;
      }
    }
    return results;
  }
}

const NONE: ReadonlySet<string> = new Set();
/** Of calls within this process, whose caller has a limit: a timer each costs as much as matching. */
const UNTIMED = { timeout: 0 };
const NOTHING: Prepared = { write: async () => {}, confirm: () => {} };

function toMatchable({ event, row }: Publication): Matchable {
  return { event_id: row._id, event, due_at: row.accepted_at.getTime(), size: row.size };
}

/** Returns how many of the first events end no wait and have few receivers. */
function fitting(matches: Match[]): number {
  const beyond = matches.findIndex(({ receivers, waits }) => waits || receivers.length > MAX_RECEIVERS);
  return beyond === -1 ? matches.length : beyond;
}
