import type { Caller } from "../../../../lib/access/caller.ts";
import type { Fault } from "../../../../lib/contract/faults.ts";
import type { AuthChange } from "../../../identity/tenants/auth-change.ts";
import type { Refuse } from "../exchange.ts";

/** A verified caller. */
export interface Entry {
  caller: Caller;
  /** When the store was last asked for the caller's state, on this process's monotonic clock. */
  checked_at: number;
  /** The tenant's access version that the state has at least; undefined if it is unknown. */
  version: number | undefined;
  /** Whether it was used since the last refresh. */
  used: boolean;
  /** Open requests of the caller: waiting polls and streams. */
  open: Set<Refuse>;
}

const CAPACITY = 50_000;

/** Verified callers by the Authorization of their requests, in the order of their last use. */
export class CallerEntries {
  readonly #entries = new Map<string, Entry>();

  get(header: string): Entry | undefined {
    return this.#entries.get(header);
  }

  /** Adds a verified caller, and drops the least recently used that no open request needs. */
  put(header: string, entry: Omit<Entry, "used" | "open">): void {
    const open = this.#entries.get(header)?.open ?? new Set();
    this.#move(header, { ...entry, used: false, open });
    if (this.#entries.size <= CAPACITY) return;
    for (const [oldest, { open }] of this.#entries) {
      if (open.size === 0) return void this.#entries.delete(oldest);
    }
  }

  /** Updates an entry in its place, unless another one has taken it: that is newer. */
  replace(header: string, entry: Entry, changes: Partial<Entry>): void {
    if (this.#entries.get(header) === entry) this.#entries.set(header, { ...entry, ...changes });
  }

  /** Removes an entry, unless another one has taken its place, and refuses its open requests. */
  drop(header: string, entry: Entry | undefined, fault: Fault): void {
    if (!entry || this.#entries.get(header) !== entry) return;
    this.#entries.delete(header);
    for (const refuse of entry.open) refuse(fault);
  }

  /** Returns the callers in use: with an open request, or with a request since this was last asked. */
  takeUsed(): [string, Entry][] {
    const used = [...this.#entries].filter(([, entry]) => entry.used || entry.open.size > 0);
    for (const [header, entry] of used) {
      entry.used = false;
      this.#move(header, entry);
    }
    return used;
  }

  /** Makes the state of callers unknown. Returns whether any of them has an open request. */
  outdate(change: AuthChange): boolean {
    let isOpen = false;
    for (const [header, entry] of this.#entries) {
      if (!concerns(change, entry.caller)) continue;
      // A new entry: a read that has begun already must not count.
      this.#entries.set(header, { ...entry, checked_at: Number.NEGATIVE_INFINITY, version: undefined });
      isOpen ||= entry.open.size > 0;
    }
    return isOpen;
  }

  #move(header: string, entry: Entry): void {
    this.#entries.delete(header);
    this.#entries.set(header, entry);
  }
}

function concerns(change: AuthChange, caller: Caller): boolean {
  return Object.entries(change).every(([name, value]) => caller[name as keyof Caller] === value);
}
