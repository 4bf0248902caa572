import { inTurns } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** Interval for writing access times in batches, rounded to the minute. */
const FLUSH_MS = 1000;
const FRESH_MS = 60_000;
const MOST_NOTED = 10_000;

/** Records when memories were read. A crash loses only access times. */
export class Touches {
  readonly #memories: TenantCollection<MemoryDoc>;
  readonly #noted = new Map<string, Set<string>>();
  readonly #onError: (err: unknown) => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(memories: TenantCollection<MemoryDoc>, onError: (err: unknown) => void) {
    this.#memories = memories;
    this.#onError = onError;
  }

  /** Records that rows of one tenant were shown to a caller, at a time in milliseconds. */
  note(docs: Pick<MemoryDoc, "_id" | "tenant_id" | "accessed_at">[], now: number): void {
    for (const { _id, tenant_id, accessed_at } of docs) {
      if (now - accessed_at.getTime() < FRESH_MS || this.#count >= MOST_NOTED) continue;
      const ids = this.#noted.get(tenant_id) ?? new Set();
      this.#noted.set(tenant_id, ids.add(_id));
      this.#count++;
    }
    if (this.#noted.size) this.#timer ??= setTimeout(() => this.flush(now).catch(this.#onError), FLUSH_MS);
  }

  async flush(now: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const noted = [...this.#noted];
    this.#noted.clear();
    this.#count = 0;
    const units = noted.map(([tenant_id, ids]) => ({ tenant_id, _id: { $in: [...ids] } }));
    await inTurns("memories", units, ({ tenant_id, _id }) =>
      this.#memories.updateMany(tenant_id, { _id }, { $set: { accessed_at: new Date(now) } }),
    );
  }
}
