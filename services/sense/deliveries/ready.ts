import type { OfAgent } from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Front } from "../../../storage/commands.ts";
import { type DeliveryDoc, SHORTEST } from "./deliveries.model.ts";
import { type Lease, leaseUpdate } from "./lease.ts";

/** Rows that one read adds to an agent's list, and the longest list. */
const LOAD = 500;
const MOST_ROWS = 1_000;
/** Rows in the lists of all agents, and agents with a list; the lists used least are dropped. */
const MOST_IN_ALL = 50_000;
const MOST_AGENTS = 10_000;
/** A lease that lasts longer is written. Less than the shortest lease, whose end the sweep must find. */
const KEPT_MS = 500;
const CHECK_MS = 250;

/** A claimed delivery whose lease is not written yet. */
interface HandedOut {
  lease: Lease;
  at: Date;
}

interface Known extends OfAgent {
  /** Ready ones in their order; null: not known. */
  rows: DeliveryDoc[] | null;
  /** Ids that the last read returned: such a delivery may be announced as new only after it. */
  read: ReadonlySet<string>;
  /** Whether the store has no others behind them. */
  complete: boolean;
  /** Replaced when unclaimed deliveries are no longer ready. */
  mark: object;
  readonly handedOut: Map<string, HandedOut>;
  /** Number of writes under way, by delivery: a read may not see them yet. */
  readonly writing: Map<string, number>;
  /** Changes since a read began. */
  reading: { added: DeliveryDoc[]; gone: Set<string>; isStale: boolean } | null;
}

/** Deliveries that are written as acknowledged together. */
export interface ToAcknowledge {
  ids: string[];
  /** When they were claimed, if that is not written yet. */
  handed_out_at?: Date;
}

/**
 * The ready deliveries of agents in memory, on a store with one node: handing them out reads nothing, and writes
 * their leases only if they are not acknowledged within half a second. After a crash they are ready, as the store says.
 *
 * As the collection's `Front` it writes leases before others read or change rows, and forgets what is ready when they
 * change it: only what comes through here keeps a list current.
 */
export class ReadyDeliveries implements Front<DeliveryDoc> {
  /** The rows, past this front: for those that are neither ready nor leased here. */
  readonly rows: TenantCollection<DeliveryDoc>;
  readonly #report: (err: unknown) => void;
  readonly #now: () => number;
  /** In order of last use. */
  readonly #agents = new Map<string, Known>();
  readonly #byTenant = new Map<string, Set<Known>>();
  /** Leases that are being written, by tenant. */
  readonly #flushing = new Map<string, Promise<unknown>>();
  #inLists = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param behind sets the collection's front, and returns the collection behind it */
  constructor(
    behind: (front: Front<DeliveryDoc>) => TenantCollection<DeliveryDoc>,
    report: (err: unknown) => void,
    now: () => number,
  ) {
    this.rows = behind(this);
    this.#report = report;
    this.#now = now;
  }

  /** Adds deliveries that were written to `rows` as ready. */
  add(rows: readonly DeliveryDoc[]): void {
    for (const row of rows) {
      const known = this.#agents.get(row.agent_id as string);
      if (known?.reading) known.reading.added.push(row);
      else if (known?.rows && !known.read.has(row._id)) this.#insertInto(known, known.rows, row);
    }
  }

  /** Deletes deliveries that were written, and never added: the store has refused their events. */
  async withdraw(rows: readonly DeliveryDoc[]): Promise<void> {
    const [{ tenant_id }] = rows as [DeliveryDoc];
    const ids = rows.map(({ _id }) => _id);
    for (const agent_id of new Set(rows.map((row) => row.agent_id as string))) {
      const known = this.#agents.get(agent_id);
      if (known) this.#remove(known, new Set(ids));
    }
    await this.rows.deleteMany(tenant_id, { _id: { $in: ids } });
  }

  /** Returns an agent's first ready deliveries, whether there are others, and the mark by which they are still ready. */
  async first(tenant_id: string, agent_id: string, limit: number) {
    const known = this.#of(tenant_id, agent_id);
    const rows = known.rows && (known.complete || known.rows.length >= limit) ? known.rows : null;
    const ready = rows ?? (await this.#read(known));
    return { rows: ready.slice(0, limit), more: ready.length > limit || !known.complete, mark: known.mark };
  }

  /** Whether what `first` returned is still ready: it may be acknowledged late, when its lease has ended. */
  isReady(agent_id: string, mark: object): boolean {
    return this.#agents.get(agent_id)?.mark === mark;
  }

  /** Leases deliveries that `first` returned, in memory. */
  handOut(tenant_id: string, agent_id: string, rows: readonly DeliveryDoc[], lease: Lease): void {
    const known = this.#of(tenant_id, agent_id);
    const handedOut = { lease, at: new Date(this.#now()) };
    const ids = new Set(rows.map(({ _id }) => _id));
    this.#remove(known, ids);
    for (const row of rows) {
      row.attempt_count++;
      known.handedOut.set(row._id, handedOut);
    }
    this.#timer ??= setTimeout(() => this.#check(), CHECK_MS).unref();
  }

  /** Acknowledges with a write for each part. @returns how many were pending */
  async acknowledge(
    agent_id: string,
    ids: readonly string[],
    write: (rows: TenantCollection<DeliveryDoc>, part: ToAcknowledge) => Promise<number>,
  ): Promise<number> {
    const known = this.#agents.get(agent_id);
    if (!known) return write(this.rows, { ids: [...ids] });
    const others = ids.filter((id) => !known.handedOut.has(id));
    if (others.length > 0) {
      this.#remove(known, new Set(others));
      known.mark = {};
    }
    for (const id of ids) known.reading?.gone.add(id);
    const parts = takeHandedOut(known, ids);
    return this.#written(known, ids, async () => {
      const counts = await Promise.all(parts.map((part) => write(this.rows, part)));
      return counts.reduce((sum, count) => sum + count, 0);
    });
  }

  flush(tenant_id: string, of: { agent_id?: unknown }): Promise<unknown> | undefined {
    for (const known of this.#those(tenant_id, of)) this.#writeLeases(known);
    return this.#flushing.get(tenant_id);
  }

  changed(tenant_id: string, of: { agent_id?: unknown }): void {
    for (const known of this.#those(tenant_id, of)) this.#forget(known);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    for (const known of this.#agents.values()) this.#writeLeases(known);
    await Promise.all(this.#flushing.values());
  }

  /** Returns what is known of an agent of the tenant, or of all of them. */
  #those(tenant_id: string, { agent_id }: { agent_id?: unknown }): Iterable<Known> {
    const all = this.#byTenant.get(tenant_id) ?? new Set();
    if (typeof agent_id !== "string") return all;
    const known = this.#agents.get(agent_id);
    return known && all.has(known) ? [known] : [];
  }

  #of(tenant_id: string, agent_id: string): Known {
    const there = this.#agents.get(agent_id);
    const known = there ?? {
      ...{ tenant_id, agent_id, rows: null, read: NONE, complete: false, mark: {}, reading: null },
      ...{ handedOut: new Map(), writing: new Map() },
    };
    this.#agents.delete(agent_id);
    this.#agents.set(agent_id, known);
    this.#byTenant.set(tenant_id, (this.#byTenant.get(tenant_id) ?? new Set()).add(known));
    return known;
  }

  #delete(known: Known): void {
    this.#agents.delete(known.agent_id);
    const own = this.#byTenant.get(known.tenant_id);
    own?.delete(known);
    if (own?.size === 0) this.#byTenant.delete(known.tenant_id);
  }

  async #read(known: Known): Promise<DeliveryDoc[]> {
    const { tenant_id, agent_id, handedOut, writing } = known;
    const reading = { added: [], gone: new Set([...handedOut.keys(), ...writing.keys()]), isStale: false };
    const limit = LOAD + reading.gone.size;
    this.#forget(known);
    known.reading = reading;
    try {
      const ready = { state: "ready", agent_id } as const;
      const sort = { priority: -1, created_at: 1 } as const;
      const stored = await this.rows.find(tenant_id, ready, { sort, limit, projection: SHORTEST });
      const rows = stored.filter(({ _id }) => !reading.gone.has(_id));
      known.complete = stored.length < limit;
      if (reading.isStale) return rows;
      known.rows = rows;
      this.#inLists += rows.length;
      known.read = new Set(stored.map(({ _id }) => _id));
      for (const row of reading.added as DeliveryDoc[])
        if (!known.read.has(row._id) && !reading.gone.has(row._id)) this.#insertInto(known, rows, row);
      this.#dropOthers(known);
      return rows;
    } finally {
      known.reading = null;
    }
  }

  /** Adds a delivery in its place; behind the last one only if the list has all. */
  #insertInto(known: Known, rows: DeliveryDoc[], row: DeliveryDoc): void {
    const before = rows.findLastIndex((other) => !comesBefore(row, other));
    if (before === rows.length - 1 && !known.complete) return;
    if (rows.length >= MOST_ROWS) {
      known.complete = false;
      if (before === rows.length - 1) return;
      rows.pop();
      this.#inLists--;
    }
    rows.splice(before + 1, 0, row);
    this.#inLists++;
  }

  #remove(known: Known, ids: ReadonlySet<string>): void {
    if (known.reading) for (const id of ids) known.reading.gone.add(id);
    const rows = known.rows;
    if (!rows) return;
    // Mostly the first ones, or none.
    let first = 0;
    while (first < rows.length && ids.has((rows[first] as DeliveryDoc)._id)) first++;
    const rest = rows.slice(first);
    known.rows = first === ids.size ? rest : rest.filter(({ _id }) => !ids.has(_id));
    this.#inLists -= rows.length - known.rows.length;
  }

  #forget(known: Known): void {
    if (known.reading) known.reading.isStale = true;
    this.#inLists -= known.rows?.length ?? 0;
    known.rows = null;
    known.read = NONE;
    known.complete = false;
    known.mark = {};
  }

  #dropOthers(used: Known): void {
    for (const known of this.#agents.values()) {
      if (this.#inLists <= MOST_IN_ALL && this.#agents.size <= MOST_AGENTS) break;
      if (known !== used) this.#forget(known);
      if (isIdle(known)) this.#delete(known);
    }
  }

  /** Writes leases that have lasted for a while, and forgets idle agents. */
  #check(): void {
    const until = this.#now() - KEPT_MS;
    let isLeft = false;
    for (const known of this.#agents.values()) {
      if (known.handedOut.size > 0) this.#writeLeases(known, until);
      isLeft ||= known.handedOut.size > 0;
      if (isIdle(known)) this.#delete(known);
    }
    this.#timer = isLeft ? setTimeout(() => this.#check(), CHECK_MS).unref() : undefined;
  }

  /** Writes the leases of deliveries claimed until a time. */
  #writeLeases(known: Known, until = Number.POSITIVE_INFINITY): void {
    if (known.handedOut.size === 0) return;
    const { tenant_id, agent_id } = known;
    const old = [...known.handedOut].filter(([, { at }]) => at.getTime() <= until);
    if (old.length === 0) return;
    const ids = old.map(([id]) => id);
    for (const id of ids) known.handedOut.delete(id);
    const writes = [...Map.groupBy(old, ([, handedOut]) => handedOut)].map(([{ lease, at }, group]) => {
      const filter = { tenant_id, _id: { $in: group.map(([id]) => id) }, agent_id, state: "ready" as const };
      return { updateMany: { filter, update: leaseUpdate(lease, at) } };
    });
    // Sent at once: what is sent afterwards finds the leases.
    const writing = this.#written(known, ids, () => this.rows.bulk(writes));
    const all = Promise.all([this.#flushing.get(tenant_id), writing])
      .catch(this.#report)
      .finally(() => {
        if (this.#flushing.get(tenant_id) === all) this.#flushing.delete(tenant_id);
      });
    this.#flushing.set(tenant_id, all);
  }

  /** Notes which deliveries are being written. After a failure nothing is known of them. */
  async #written<R>(known: Known, ids: readonly string[], write: () => Promise<R>): Promise<R> {
    const { writing } = known;
    for (const id of ids) writing.set(id, (writing.get(id) ?? 0) + 1);
    try {
      return await write();
    } catch (err) {
      this.#forget(known);
      throw err;
    } finally {
      for (const id of ids) {
        const left = (writing.get(id) ?? 1) - 1;
        if (left > 0) writing.set(id, left);
        else writing.delete(id);
      }
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function takeHandedOut({ handedOut }: Known, ids: readonly string[]): ToAcknowledge[] {
  const groups = Map.groupBy(ids, (id) => handedOut.get(id));
  for (const id of ids) handedOut.delete(id);
  return [...groups].map(([handedOut, own]) => ({
    ids: own,
    ...(handedOut && { handed_out_at: handedOut.at }),
  }));
}

const isIdle = ({ rows, reading, handedOut, writing }: Known): boolean =>
  !rows && !reading && handedOut.size === 0 && writing.size === 0;

function comesBefore(a: DeliveryDoc, b: DeliveryDoc): boolean {
  return a.priority === b.priority ? a.created_at < b.created_at : a.priority > b.priority;
}
