import type { Loaded } from "../interests/explain.ts";

/** The kept part of a row; the rest would take most of the memory. */
type Kept = Omit<Loaded, "event_id" | "traceparent"> & {
  _id: string;
  tenant_id: string;
  traceparent?: string | undefined;
};

/**
 * The most recent events, so that waiting receivers cost no read. Bounded by the length of the envelopes. Two
 * generations: dropping a whole map costs nothing, while deleting from the front of one is slow.
 */
export class RecentEvents {
  readonly #maxLength: number;
  #young = new Map<string, Kept>();
  #old = new Map<string, Kept>();
  #youngLength = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add({ _id, tenant_id, envelope, accepted_at, traceparent }: Kept): void {
    this.#young.set(_id, { _id, tenant_id, envelope, accepted_at, traceparent });
    this.#youngLength += envelope.length;
    if (this.#youngLength <= this.#maxLength / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngLength = 0;
  }

  get(tenant_id: string, event_id: string): Loaded | null {
    const row = this.#young.get(event_id) ?? this.#old.get(event_id);
    return row?.tenant_id === tenant_id ? toLoaded(row) : null;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngLength = 0;
  }

  forget(event_ids: string[]): void {
    for (const id of event_ids) {
      this.#young.delete(id);
      this.#old.delete(id);
    }
  }
}

export function toLoaded({ _id, envelope, accepted_at, traceparent }: Omit<Kept, "tenant_id">): Loaded {
  return { event_id: _id, envelope, accepted_at, ...(traceparent !== undefined && { traceparent }) };
}
