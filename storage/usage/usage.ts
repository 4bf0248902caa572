import { type Fault, ruleBroken } from "../../lib/contract/faults.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { Blobs } from "../blobs/blobs.ts";
import type { Claim } from "../blobs/guarded.ts";
import type { Store } from "../connection.ts";
import { rowBytes } from "./row-bytes.ts";
import { FLUSH_MS, type Usage, UsageCounts } from "./usage-counts.ts";

export type { Usage } from "./usage-counts.ts";

/** Formats usage for callers. */
export function toStorage({ used_bytes, quota_bytes }: Usage) {
  return {
    used_bytes: Math.round(used_bytes),
    quota_bytes: Number.isFinite(quota_bytes) ? quota_bytes : null,
  };
}

const LOOK_MS = 60_000;
/** A node that crashes while measuring blocks the tenant's measurements for this long. */
const LEASE_MS = 600_000;
/** Deletes free space only at the next measurement: a full tenant is measured this often, if its cost allows. */
const FULL_MS = 5000;
/** Measuring takes at most a twentieth of the time. */
const REST = 20;

/**
 * Enforces the tenants' quotas. A measurement corrects the counts and detects freed space. Nodes together may exceed a
 * quota by what they accept between two flushes of the counts.
 */
export class StorageUsage extends UsageCounts {
  readonly #blobs: Blobs;
  /** Bytes of blobs that are being written. */
  readonly #claimed = new Map<string, number>();
  readonly #measuring = new Map<string, Promise<void>>();
  #timers: NodeJS.Timeout[] = [];

  constructor({ store, blobs, defaultMb }: { store: Store; blobs: Blobs; defaultMb: number }) {
    super(store, defaultMb);
    this.#blobs = blobs;
  }

  /** @param report called with errors of background tasks */
  start(report: (err: unknown) => void): void {
    const every = (task: () => Promise<void>, ms: number) =>
      setInterval(() => task().catch(report), ms).unref();
    this.#timers = [every(() => this.refresh(), FLUSH_MS), every(() => this.measureDue(), LOOK_MS)];
  }

  /** Does not wait for measurements or a lost store: unwritten counts are measured later. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush().catch(() => {});
  }

  /**
   * Requires capacity for more bytes. Synchronous if the tenant is known to have the space.
   *
   * @throws Fault business_rule_violation, rule `storage_quota`
   */
  require(tenant_id: string, bytes: number): void | Promise<void> {
    return this.#fits(tenant_id, bytes) ? undefined : this.#recheck(tenant_id, bytes);
  }

  /** Whether a tenant is known to have reached its quota. */
  isFull(tenant_id: string): boolean {
    return this.#left(tenant_id) <= 0;
  }

  /** Claims a part of the tenant's quota for a blob until it is counted. */
  readonly claim = (tenant_id: string): Claim => {
    let claimed = 0;
    const add = (bytes: number) => {
      claimed += bytes;
      this.#claimed.set(tenant_id, (this.#claimed.get(tenant_id) ?? 0) + bytes);
    };
    return {
      extend: async (bytes) => {
        await this.require(tenant_id, bytes);
        // Another request may have claimed it meanwhile.
        if (!this.#fits(tenant_id, bytes)) throw this.#exceeded(tenant_id);
        add(bytes);
      },
      end: () => {
        add(-claimed);
        if (this.#claimed.get(tenant_id) === 0) this.#claimed.delete(tenant_id);
      },
    };
  };

  /** Measures the tenants that are due, one after the other. */
  async measureDue(): Promise<void> {
    for (;;) {
      const due = { due_at: { $lte: new Date(this.store.now()) } };
      const [row] = await this.rows.system.find(due).limit(1).toArray();
      if (!row) return;
      await this.measure(row._id);
    }
  }

  /** Measures a tenant's storage; concurrent calls share one measurement. */
  measure(tenant_id: string): Promise<void> {
    const running = this.#measuring.get(tenant_id) ?? this.#measure(tenant_id);
    this.#measuring.set(tenant_id, running);
    return running.finally(() => this.#measuring.delete(tenant_id));
  }

  async #measure(tenant_id: string): Promise<void> {
    // Bytes counted by then are part of the measurement.
    await this.flush();
    const due_at = new Date(this.store.now() + LEASE_MS);
    const row = await this.change(tenant_id, { $set: { due_at } });
    const began = performance.now();
    const measured = (await rowBytes(this.store, tenant_id)) + (await this.#blobs.bytesOf(tenant_id));
    const rest = REST * (performance.now() - began);
    const now = this.store.now();
    const $set = { measured, measured_at: new Date(now), due_at: new Date(now + Math.max(HOUR_MS, rest)) };
    // If two nodes measure at once, one result counts.
    const guard = { _id: tenant_id, measured_at: row.measured_at };
    const after = await this.rows.update(tenant_id, guard, { $set, $inc: { added: -row.added } });
    if (after) this.learn(after);
    const cached = this.cache.get(tenant_id);
    if (cached) cached.measurable_at = Date.now() + Math.max(FULL_MS, rest);
  }

  /** Returns the bytes left of a tenant's quota as far as this node knows it; `NaN` if it does not. */
  #left(tenant_id: string): number {
    const { quota_bytes, used_bytes } = this.known(tenant_id) ?? { quota_bytes: Number.NaN, used_bytes: 0 };
    return quota_bytes - used_bytes - (this.#claimed.get(tenant_id) ?? 0);
  }

  #fits(tenant_id: string, bytes: number): boolean {
    const left = this.#left(tenant_id);
    return left > 0 && left >= bytes;
  }

  /** Checks again before refusing: another node, the operator or a deletion may have freed space. */
  async #recheck(tenant_id: string, bytes: number): Promise<void> {
    await this.load(tenant_id);
    if (this.#fits(tenant_id, bytes)) return;
    if ((this.cache.get(tenant_id)?.measurable_at ?? 0) <= Date.now()) await this.measure(tenant_id);
    if (!this.#fits(tenant_id, bytes)) throw this.#exceeded(tenant_id);
  }

  #exceeded(tenant_id: string): Fault {
    const { used_bytes, quota_bytes } = this.known(tenant_id) as Usage;
    const message =
      `The request would exceed the organisation's storage quota: it uses ${used_bytes} of ${quota_bytes} bytes. ` +
      "Delete data, or ask the operator for a higher quota.";
    return ruleBroken("storage_quota", message, { used_bytes, quota_bytes });
  }
}
