import type { TenantDocument } from "./model.ts";
import type { Where } from "./query.ts";

/**
 * Keeps part of the state of a collection's rows in memory for a while. Everything that reads or writes these rows,
 * except through the collection that `Store.behind` returned, passes it.
 */
export interface Front<T extends TenantDocument = TenantDocument> {
  /**
   * Sends the writes of what it keeps of rows that may match. @returns when they are durable; undefined: there are none
   */
  flush(tenant_id: string, filter: Where<T>): Promise<unknown> | undefined;
  /** Such rows are being changed; called again once they are. */
  changed(tenant_id: string, filter: Where<T>): void;
}

/** Rows that a write concerns: a tenant, and a filter within it. */
type Rows<T> = [tenant_id: string, filter: Where<T>];

/** Passes reads and writes by the front of their rows, if there is one by then. */
export class PastFront<T extends TenantDocument> {
  readonly #front: () => Front<T> | undefined;
  readonly #wrote: () => void;

  /** @param wrote called after each write */
  constructor(wrote: () => void, front: () => Front<T> | undefined = () => undefined) {
    this.#front = front;
    this.#wrote = wrote;
  }

  /** Reads after what the front keeps of these rows. */
  read<R>(tenant_id: string, filter: Where<T>, read: () => Promise<R>): Promise<R> {
    const flushing = this.#front()?.flush(tenant_id, filter);
    return flushing ? flushing.then(read) : read();
  }

  /** Writes after what the front keeps of these rows, and tells it of the write. */
  async write<R>(rowsOf: () => Rows<T>[], write: () => Promise<R>): Promise<R> {
    const front = this.#front();
    const owned = front ? rowsOf() : [];
    for (const rows of owned) {
      // Not awaited: the store keeps the order of writes.
      void front?.flush(...rows);
      front?.changed(...rows);
    }
    try {
      return await write();
    } finally {
      for (const rows of owned) front?.changed(...rows);
      this.#wrote();
    }
  }
}

/** Returns the tenant of a document, or of the filter of a bulk write, and a filter of the same rows within it. */
export function ownerOf<T extends TenantDocument>(owned: { tenant_id: string }): Rows<T> {
  const { tenant_id, ...filter } = owned;
  return [tenant_id, filter as Where<T>];
}
