import type { Filter } from "mongodb";
import { newUuid } from "../lib/ids.ts";
import { HOUR_MS } from "../lib/time.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import { byFields } from "../storage/query.ts";

/** A node that dies holds up a row for so long; one that lives renews in time. */
export const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 4;
/** No lease ends later, nor is a row put off for longer: one that is due after that was so by a clock that was ahead. */
const LONGEST_MS = 2 * HOUR_MS;
const DIGITS = 15;
const PAGE = 500;
/** Tenants whose caller served last is remembered. */
const MOST_REMEMBERED = 1000;

/** A row that something may be to be done with. */
interface Workable extends TenantDocument {
  /** Its place in the queue and the lease of whoever works on it; absent when nothing is to do. Needs a sparse index. */
  queue?: string;
}

/** A row that something is to be done with. */
export type Queued<T> = T & { queue: string };

/**
 * A row's position in the queue: by tenant, by caller where one is named, then by when it is due. It changes with every
 * claim, so a write that names it is the write of the lease holder.
 */
export function place(tenant_id: string, due: number, caller?: string): string {
  const lane = caller === undefined ? tenant_id : `${tenant_id} ${caller}`;
  return `${lane} ${String(due).padStart(DIGITS, "0")} ${newUuid()}`;
}

const dueOf = (queue: string) => Number(queue.split(" ").at(-2));
const tenantOf = (queue: string) => queue.split(" ", 1)[0] as string;
/** Rows without a caller share one lane, which sorts before those of callers: `:` follows every digit. */
const pastCaller = (queue: string) => {
  const caller = callerOf(queue);
  return caller === undefined ? `${tenantOf(queue)} :` : `${tenantOf(queue)} ${caller} ~`;
};

function callerOf(queue: string): string | undefined {
  const parts = queue.split(" ");
  return parts.length === 4 ? parts[1] : undefined;
}

/** Tenant and caller of a position, as `IsFull` gets them. */
export function laneOf(queue: string): string {
  return [tenantOf(queue), callerOf(queue)].filter((each) => each !== undefined).join(" ");
}

/** After all that a tenant has in the queue: `~` follows every character of an id. */
const pastTenant = (queue: string) => `${tenantOf(queue)} ~`;

/** Who may not be given another row now: a tenant's id, or tenant and caller with a space between them. */
export type IsFull = (lane: string) => boolean;

/** Hands out rows of a collection to work on. Tenants take turns, and within a tenant its callers; due rows first. */
export class Queue<T extends Workable> {
  readonly #rows: TenantCollection<T>;
  readonly #now: () => number;
  /** Past the tenant served last, and past each tenant's caller served last. */
  #last = "";
  readonly #lastCallers = new Map<string, string>();

  constructor(rows: TenantCollection<T>, now: () => number) {
    this.#rows = rows;
    this.#now = now;
  }

  /** Leases a row; null when none is due. Tenants and callers that are full are passed over. */
  async claim(isFull: IsFull = () => false): Promise<Queued<T> | null> {
    for (;;) {
      const row = (await this.#dueAfter(this.#last, isFull)) ?? (await this.#dueAfter("", isFull));
      if (!row) return null;
      this.#last = pastTenant(row.queue);
      if (this.#lastCallers.size >= MOST_REMEMBERED) this.#lastCallers.clear();
      this.#lastCallers.set(tenantOf(row.queue), pastCaller(row.queue));
      const leased = await this.#move(row, this.#now() + LEASE_MS);
      if (leased) return leased;
    }
  }

  /**
   * Does something with a row for as long as that takes, and holds its lease meanwhile. The row changes hands with every
   * renewal: `queue` of what the task is given is always the lease held now, and one that fits no row when it is lost.
   *
   * @param failed is told with what the task threw, while the lease is held
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
      await task(holding(claimed, () => row));
    } catch (err) {
      if (row) await failed(row, err);
    } finally {
      clearInterval(renew);
    }
  }

  /** Holds the lease for longer; null when it is lost. */
  renew(row: Queued<T>): Promise<Queued<T> | null> {
    return this.#move(row, this.#now() + LEASE_MS);
  }

  /** Gives a row back, due at a time; null when the lease is lost. */
  release(row: Queued<T>, due: number, more: Partial<T> = {}): Promise<Queued<T> | null> {
    return this.#move(row, due, more);
  }

  /** An embedded store has one process at a time: leases that are there at its start are of one that died. */
  async reclaim(): Promise<void> {
    const all: Queued<T>[] = [];
    for (let after = "", page: Queued<T>[]; ; after = (page.at(-1) as Queued<T>).queue) {
      page = await this.#after(after, PAGE);
      all.push(...page);
      if (page.length < PAGE) break;
    }
    for (const row of all) await this.#move(row, this.#now());
  }

  async #dueAfter(after: string, isFull: IsFull): Promise<Queued<T> | null> {
    for (let from = after; ; ) {
      const [row] = await this.#after(from, 1);
      if (!row) return null;
      const due = await this.#dueOfTenant(row, isFull);
      if (due) return due;
      from = pastTenant(row.queue);
    }
  }

  /** A due row of the tenant whose first row this is. */
  async #dueOfTenant(first: Queued<T>, isFull: IsFull): Promise<Queued<T> | null> {
    const tenant_id = tenantOf(first.queue);
    if (isFull(tenant_id)) return null;
    const last = this.#lastCallers.get(tenant_id);
    const [next] = last === undefined ? [] : await this.#after(last, 1);
    return (
      (next && (await this.#dueFrom(next, tenant_id, isFull))) ?? this.#dueFrom(first, tenant_id, isFull)
    );
  }

  async #dueFrom(first: Queued<T>, tenant_id: string, isFull: IsFull): Promise<Queued<T> | null> {
    for (let row: Queued<T> | undefined = first; row && tenantOf(row.queue) === tenant_id; ) {
      const ahead = dueOf(row.queue) - this.#now();
      if ((ahead <= 0 || ahead > LONGEST_MS) && !isFull(laneOf(row.queue))) return row;
      [row] = await this.#after(pastCaller(row.queue), 1);
    }
    return null;
  }

  #after(queue: string, limit: number): Promise<Queued<T>[]> {
    const filter = { queue: { $gt: queue } } as Filter<T>;
    return this.#rows.system.find(filter, { sort: { queue: 1 }, limit }).toArray() as Promise<Queued<T>[]>;
  }

  #move({ _id, tenant_id, queue }: Queued<T>, due: number, more: Partial<T> = {}): Promise<Queued<T> | null> {
    const $set = { ...more, queue: place(tenant_id, due, callerOf(queue)) };
    const held = byFields<T, Workable>({ _id, queue });
    return this.#rows.update(tenant_id, held, { $set }) as Promise<Queued<T> | null>;
  }
}

/** The row as it was claimed, under the lease that is held now; a lost one fits no row. */
function holding<T extends Workable>(claimed: Queued<T>, held: () => Queued<T> | null): Queued<T> {
  return Object.defineProperty({ ...claimed }, "queue", { enumerable: true, get: () => held()?.queue ?? "" });
}
