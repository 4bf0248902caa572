import type { Filter } from "mongodb";
import { newUuid } from "../lib/ids.ts";
import { asBackground } from "../lib/queue/work.ts";
import { HOUR_MS } from "../lib/time.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import { byFields } from "../storage/query.ts";
import { Quiet } from "./quiet.ts";

/** A crashed node blocks a row for this long; a live one renews in time. */
export const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 4;
/** Longest lease and delay: a row due later was written while the clock was ahead. */
const LONGEST_MS = 2 * HOUR_MS;
const DIGITS = 15;
const PAGE = 500;
/** Limit of tenants whose last served caller is remembered. */
const MOST_REMEMBERED = 1000;

/** A row that may have work. */
interface Workable extends TenantDocument {
  /** Its position in the queue and the worker's lease; absent without work. Needs a sparse index. */
  queue?: string;
}

/** A row that has work. */
export type Queued<T> = T & { queue: string };

/**
 * Returns a row's position in the queue: by tenant, by caller if given, then by due time. It changes with every claim,
 * so only the lease holder's writes match it.
 */
export function place(tenant_id: string, due: number, caller?: string): string {
  const lane = caller === undefined ? tenant_id : `${tenant_id} ${caller}`;
  return `${lane} ${String(Math.ceil(due)).padStart(DIGITS, "0")} ${newUuid()}`;
}

/** Whether a position is one of `place`: any other would not sort among those of its tenant. */
const isPlace = ({ tenant_id, queue }: Workable) =>
  queue?.startsWith(`${tenant_id} `) && /^\S+( \S+)? \d{15} \S+$/.test(queue);

const dueOf = (queue: string) => Number(queue.split(" ").at(-2));
const tenantOf = (queue: string) => queue.split(" ", 1)[0] as string;
/** Rows without a caller share one lane, which sorts before those of callers: `:` follows every digit. */
const pastCaller = (queue: string) => {
  const caller = callerOf(queue);
  return caller === undefined ? `${tenantOf(queue)} :` : `${tenantOf(queue)} ${caller} ~`;
};

/** Returns a position of an imported row, in its lane. */
export const placeAnew = (tenant_id: string, queue: string, now: number) =>
  place(tenant_id, now, /^[\w.:[\]-]{1,255}$/.exec(callerOf(queue) ?? "")?.[0]);

function callerOf(queue: string): string | undefined {
  const parts = queue.split(" ");
  return parts.length === 4 ? parts[1] : undefined;
}

/** Returns where to look on behind the group of `key`: past the key in any case, should it sort elsewhere. */
export const pastGroup = (end: string, key: string) => (end > key ? end : key);

/** Sorts after all of a tenant's positions: `~` follows every character of an id. */
const pastTenant = (queue: string) => `${tenantOf(queue)} ~`;

/** Limits of rows that `begin` has in work: of all tenants, of one, and of one caller of it. */
interface Limits {
  capacity: number;
  perTenant: number;
  perCaller: number;
}

const ANY = Number.POSITIVE_INFINITY;
const UNLIMITED: Limits = { capacity: ANY, perTenant: ANY, perCaller: ANY };

/** Leases rows of a collection to workers, due ones first, in rotation of tenants, and of callers within a tenant. */
export class Queue<T extends Workable> {
  readonly #rows: TenantCollection<T>;
  readonly #now: () => number;
  readonly #limits: Limits;
  /** Rows in work here, by their work. */
  readonly #inWork = new Map<Promise<void>, string>();
  /** Positions after the last served tenant, and after each tenant's last served caller. */
  #last = "";
  readonly #lastCallers = new Map<string, string>();
  readonly #quiet: Quiet;
  /** When the first of the rows is due that a look passed over; null if limits may hold any back. */
  #nextDue: number | null = null;

  constructor(rows: TenantCollection<T>, now: () => number, limits = UNLIMITED) {
    this.#rows = rows;
    this.#now = now;
    this.#limits = limits;
    this.#quiet = new Quiet(rows.name, now);
  }

  /**
   * Leases a row and begins its work; then calls `ended`. If it rejects, the row is worked on again when its lease ends.
   *
   * @returns false if none is due, or this node is at its limit
   */
  async begin(work: (row: Queued<T>) => Promise<void>, ended: () => void): Promise<boolean> {
    if (this.#inWork.size >= this.#limits.capacity) return false;
    const row = await this.claim();
    if (!row) return false;
    const over = () => {
      this.#inWork.delete(working);
      ended();
    };
    const working = asBackground(row.tenant_id, this.#rows.name, () => work(row)).then(over, over);
    this.#inWork.set(working, row.queue);
    return true;
  }

  /** Resolves when all that was begun has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#inWork.keys());
  }

  /** Whether a tenant, or a caller if given, has as many rows in work as it may. */
  #isFull(tenant_id: string, caller?: string): boolean {
    const lane = caller === undefined ? `${tenant_id} ` : `${tenant_id} ${caller} `;
    const inWork = [...this.#inWork.values()].filter((queue) => queue.startsWith(lane)).length;
    return inWork >= (caller === undefined ? this.#limits.perTenant : this.#limits.perCaller);
  }

  /** Leases a row; null if none is due. Skips tenants and callers that are at their limit. */
  async claim(): Promise<Queued<T> | null> {
    if (this.#quiet.isQuiet) return null;
    for (;;) {
      this.#quiet.begin();
      this.#nextDue = Number.POSITIVE_INFINITY;
      const row = (this.#last && (await this.#dueAfter(this.#last))) || (await this.#dueAfter(""));
      if (!row) {
        const next = this.#nextDue;
        if (next !== null) await this.#quiet.foundNothing(() => next - this.#now());
        return null;
      }
      this.#last = pastTenant(row.queue);
      if (this.#lastCallers.size >= MOST_REMEMBERED) this.#lastCallers.clear();
      this.#lastCallers.set(tenantOf(row.queue), pastCaller(row.queue));
      const leased = await this.renew(row);
      if (leased) return leased;
    }
  }

  /**
   * Processes a row and renews its lease meanwhile. Each renewal changes the row's `queue`: the task's row always has
   * the current lease, or one that matches no row once it is lost.
   *
   * @param failed called with the task's error, while the lease is held
   */
  async hold(
    claimed: Queued<T>,
    task: (row: Queued<T>) => Promise<void>,
    failed: (row: Queued<T>, err: unknown) => Promise<void>,
  ): Promise<void> {
    let row: Queued<T> | null = claimed;
    const renew = setInterval(async () => {
      row = (row && (await this.renew(row).catch(() => row))) ?? null;
    }, RENEW_MS);
    try {
      const held = holding(claimed, () => row);
      await asBackground(claimed.tenant_id, this.#rows.name, () => task(held));
    } catch (err) {
      if (row) await failed(row, err);
    } finally {
      clearInterval(renew);
    }
  }

  /** Renews the lease; null if it is lost. */
  renew(row: Queued<T>): Promise<Queued<T> | null> {
    return this.release(row, this.#now() + LEASE_MS);
  }

  /** An embedded store has one process at a time: leases found at its start belong to a crashed one. */
  async reclaim(): Promise<void> {
    const all: Queued<T>[] = [];
    for (let after = ""; ; after = (all.at(-1) as Queued<T>).queue) {
      const filter = { queue: { $gt: after } } as Filter<T>;
      const options = { sort: { queue: 1 }, limit: PAGE, projection: { tenant_id: 1, queue: 1 } } as const;
      const { rows, more } = await this.#rows.findAnyWithin(filter, options);
      all.push(...(rows as Queued<T>[]));
      if (!more && rows.length < PAGE) break;
    }
    for (const row of all) await this.release(row, this.#now());
  }

  async #dueAfter(after: string): Promise<Queued<T> | null> {
    for (let from = after; ; ) {
      const row = await this.#after(from);
      if (!row) return null;
      const due = await this.#dueOfTenant(row);
      if (due) return due;
      from = pastTenant(row.queue);
    }
  }

  /** Returns a due row of the tenant, given its first row. */
  async #dueOfTenant(first: Queued<T>): Promise<Queued<T> | null> {
    const tenant_id = tenantOf(first.queue);
    if (this.#isFull(tenant_id)) {
      this.#nextDue = null;
      return null;
    }
    const last = this.#lastCallers.get(tenant_id);
    const next = last === undefined ? null : await this.#after(last);
    return (next && (await this.#dueFrom(next, tenant_id))) ?? this.#dueFrom(first, tenant_id);
  }

  async #dueFrom(first: Queued<T>, tenant_id: string): Promise<Queued<T> | null> {
    for (let row: Queued<T> | null = first; row && tenantOf(row.queue) === tenant_id; ) {
      const ahead = dueOf(row.queue) - this.#now();
      const isDue = ahead <= 0 || ahead > LONGEST_MS;
      if (isDue && !this.#isFull(tenant_id, callerOf(row.queue))) return row;
      if (isDue) this.#nextDue = null;
      else if (this.#nextDue !== null) this.#nextDue = Math.min(this.#nextDue, dueOf(row.queue));
      row = await this.#after(pastCaller(row.queue));
    }
    return null;
  }

  /** Returns the first row after a position. One that is no position is replaced: its row waits for its turn. */
  async #after(queue: string): Promise<Queued<T> | null> {
    const filter = { queue: { $gt: queue } } as Filter<T>;
    const row = (await this.#rows.system.findOne(filter, { sort: { queue: 1 } })) as Queued<T> | null;
    if (!row || isPlace(row)) return row;
    const $set = { queue: place(row.tenant_id, this.#now() + LEASE_MS) } as Partial<T>;
    await this.#rows.update(row.tenant_id, byFields<T, Workable>({ _id: row._id, queue: row.queue }), {
      $set,
    });
    return this.#after(queue);
  }

  /** Returns a row to the queue, due at a time; null if the lease is lost. */
  release(
    { _id, tenant_id, queue }: Queued<T>,
    due: number,
    more: Partial<T> = {},
  ): Promise<Queued<T> | null> {
    const $set = { ...more, queue: place(tenant_id, due, callerOf(queue)) };
    const held = byFields<T, Workable>({ _id, queue });
    return this.#rows.update(tenant_id, held, { $set }) as Promise<Queued<T> | null>;
  }
}

/** Returns the claimed row with the current lease; a lost one matches no row. */
function holding<T extends Workable>(claimed: Queued<T>, held: () => Queued<T> | null): Queued<T> {
  return Object.defineProperty({ ...claimed }, "queue", { enumerable: true, get: () => held()?.queue ?? "" });
}
