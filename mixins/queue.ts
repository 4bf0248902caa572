import { newUuid } from "../../lib/ids.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { DocumentDoc } from "./documents.model.ts";

/** A node that dies holds up a document for so long; one that lives renews in time. */
export const LEASE_MS = 15_000;
const DIGITS = 15;
const PAGE = 500;

/** A document that something is to be done with. */
export type Queued = DocumentDoc & { queue: string };

/**
 * Where a document stands in the queue: by tenant, then by when it is due. It changes with every claim, so that a write
 * which names it is the write of whoever holds the lease.
 */
export function place(tenant_id: string, due: number): string {
  return `${tenant_id} ${String(due).padStart(DIGITS, "0")} ${newUuid()}`;
}

const dueOf = (queue: string) => Number(queue.split(" ")[1]);

/** After all that a tenant has in the queue: `~` follows every character of an id. */
const pastTenant = (queue: string) => `${queue.split(" ")[0]} ~`;

/** Gives out documents to work on: tenants take turns, each with what is due first. */
export class Queue {
  readonly #documents: TenantCollection<DocumentDoc>;
  readonly #now: () => number;
  #last = "";

  constructor(documents: TenantCollection<DocumentDoc>, now: () => number) {
    this.#documents = documents;
    this.#now = now;
  }

  /** A document under a lease, or null when none is due. */
  async claim(): Promise<Queued | null> {
    for (;;) {
      const row = (await this.#dueAfter(this.#last)) ?? (await this.#dueAfter(""));
      if (!row) return null;
      this.#last = pastTenant(row.queue);
      const leased = await this.#move(row, this.#now() + LEASE_MS);
      if (leased) return leased;
    }
  }

  /** Holds the lease for longer; null when it is lost. */
  renew(row: Queued): Promise<Queued | null> {
    return this.#move(row, this.#now() + LEASE_MS);
  }

  /** Gives a document back, due at a time; null when the lease is lost. */
  release(row: Queued, due: number, more: Partial<DocumentDoc> = {}): Promise<Queued | null> {
    return this.#move(row, due, more);
  }

  /** An embedded store has one process at a time: leases that are there at its start are of one that died. */
  async reclaim(): Promise<void> {
    const all: Queued[] = [];
    for (let after = "", page: Queued[]; ; after = (page.at(-1) as Queued).queue) {
      const options = { sort: { queue: 1 }, limit: PAGE } as const;
      page = (await this.#documents.system.find({ queue: { $gt: after } }, options).toArray()) as Queued[];
      all.push(...page);
      if (page.length < PAGE) break;
    }
    for (const row of all) await this.#move(row, this.#now());
  }

  async #dueAfter(after: string): Promise<Queued | null> {
    for (let from = after; ; ) {
      const [row] = (await this.#documents.system
        .find({ queue: { $gt: from } }, { sort: { queue: 1 }, limit: 1 })
        .toArray()) as Queued[];
      if (!row) return null;
      if (dueOf(row.queue) <= this.#now()) return row;
      from = pastTenant(row.queue);
    }
  }

  #move(
    { _id, tenant_id, queue }: Queued,
    due: number,
    more: Partial<DocumentDoc> = {},
  ): Promise<Queued | null> {
    const $set = { ...more, queue: place(tenant_id, due) };
    return this.#documents.update(tenant_id, { _id, queue }, { $set }) as Promise<Queued | null>;
  }
}
