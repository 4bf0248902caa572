import { newUuid } from "../lib/ids.ts";
import { HOUR_MS } from "../lib/time.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";

/** A node that dies holds up a row for so long; one that lives renews in time. */
export const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 4;
/** No lease ends later, nor is a row put off for longer: one that is due after that was so by a clock that was ahead. */
const LONGEST_MS = 2 * HOUR_MS;
const DIGITS = 15;
const PAGE = 500;

/** A row that something may be to be done with. */
interface Workable extends TenantDocument {
  /** Its place in the queue and the lease of whoever works on it; absent when nothing is to do. Needs a sparse index. */
  queue?: string;
}

/** A row that something is to be done with. */
export type Queued<T> = T & { queue: string };

/**
 * Where a row stands in the queue: by tenant, then by when it is due. It changes with every claim, so that a write
 * which names it is the write of whoever holds the lease.
 */
export function place(tenant_id: string, due: number): string {
  return `${tenant_id} ${String(due).padStart(DIGITS, "0")} ${newUuid()}`;
}

const dueOf = (queue: string) => Number(queue.split(" ")[1]);

/** After all that a tenant has in the queue: `~` follows every character of an id. */
const pastTenant = (queue: string) => `${queue.split(" ")[0]} ~`;

/** Gives out rows of a collection to work on: tenants take turns, each with what is due first. */
export class Queue<T extends Workable> {
  readonly #rows: TenantCollection<T>;
  readonly #now: () => number;
  #last = "";

  constructor(rows: TenantCollection<T>, now: () => number) {
    this.#rows = rows;
    this.#now = now;
  }

  /** A row under a lease, or null when none is due. */
  async claim(): Promise<Queued<T> | null> {
    for (;;) {
      const row = (await this.#dueAfter(this.#last)) ?? (await this.#dueAfter(""));
      if (!row) return null;
      this.#last = pastTenant(row.queue);
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

  async #dueAfter(after: string): Promise<Queued<T> | null> {
    for (let from = after; ; ) {
      const [row] = await this.#after(from, 1);
      if (!row) return null;
      const ahead = dueOf(row.queue) - this.#now();
      if (ahead <= 0 || ahead > LONGEST_MS) return row;
      from = pastTenant(row.queue);
    }
  }

  #after(queue: string, limit: number): Promise<Queued<T>[]> {
    const filter = { queue: { $gt: queue } };
    return this.#rows.system.find(filter as never, { sort: { queue: 1 }, limit }).toArray() as Promise<
      never[]
    >;
  }

  #move({ _id, tenant_id, queue }: Queued<T>, due: number, more: Partial<T> = {}): Promise<Queued<T> | null> {
    const $set = { ...more, queue: place(tenant_id, due) };
    return this.#rows.update(
      tenant_id,
      { _id, queue } as never,
      { $set } as never,
    ) as Promise<Queued<T> | null>;
  }
}

/** The row as it was claimed, under the lease that is held now; a lost one fits no row. */
function holding<T extends Workable>(claimed: Queued<T>, held: () => Queued<T> | null): Queued<T> {
  return Object.defineProperty({ ...claimed }, "queue", { enumerable: true, get: () => held()?.queue ?? "" });
}
