import type { SearchKind } from "./entry.ts";

/** By then, a row read before its erasure has been put, or never will be. */
const KEPT_MS = 15 * 60_000;

/** Recently erased ids: earlier reads of them must not be written any more. */
export class ErasedIds {
  readonly #now: () => number;
  /** Time of each erasure, oldest first. */
  readonly #at = new Map<string, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(tenant_id: string, kind: SearchKind, ids: readonly string[]): void {
    this.#forgetOld();
    // A later version of an output reuses the ids of its passages.
    if (kind === "output") return;
    for (const id of ids) this.#note(`${tenant_id} ${kind} ${id}`);
  }

  addTenant(tenant_id: string): void {
    this.#forgetOld();
    this.#note(tenant_id);
  }

  /** Returns the entries that were not erased. */
  without<T extends { kind: SearchKind; id: string }>(
    tenant_id: string,
    entries: readonly T[],
  ): readonly T[] {
    if (this.#at.size === 0) return entries;
    if (this.#at.has(tenant_id)) return [];
    return entries.filter(({ kind, id }) => !this.#at.has(`${tenant_id} ${kind} ${id}`));
  }

  #note(key: string): void {
    this.#at.delete(key);
    this.#at.set(key, this.#now());
  }

  #forgetOld(): void {
    const before = this.#now() - KEPT_MS;
    for (const [key, at] of this.#at) {
      if (at > before) return;
      this.#at.delete(key);
    }
  }
}
