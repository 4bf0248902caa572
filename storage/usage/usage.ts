import { type Fault, ruleBroken } from "../../lib/contract/faults.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { Blobs } from "../blobs/blobs.ts";
import type { Claim } from "../blobs/guarded.ts";
import { isDuplicateKey, type TenantCollection } from "../collection.ts";
import type { Store } from "../connection.ts";
import { rowBytes } from "./measure.ts";
import { type UsageDoc, UsageModel } from "./rows.ts";

/** A tenant's storage use and quota; `Infinity` without one. */
export interface Usage {
  used_bytes: number;
  quota_bytes: number;
  quota_mb: number | null;
}

/** Formats usage for callers. */
export function toStorage({ used_bytes, quota_bytes }: Usage) {
  return {
    used_bytes: Math.round(used_bytes),
    quota_bytes: Number.isFinite(quota_bytes) ? quota_bytes : null,
  };
}

interface Known extends Usage {
  asked_at: number;
  /** When it may be measured again because it is full. */
  measurable_at: number;
}

const MB = 1_000_000;
const FLUSH_MS = 5000;
const LOOK_MS = 60_000;
const FORGET_MS = 600_000;
/** A node that crashes while measuring blocks the tenant's measurements for this long. */
const LEASE_MS = 600_000;
/** Deletes free space only at the next measurement: a full tenant is measured this often, if its cost allows. */
const FULL_MS = 5000;
/** Measuring takes at most a twentieth of the time. */
const REST = 20;

interface Parts {
  store: Store;
  blobs: Blobs;
  /** The installation's quota per tenant in megabytes (10^6 bytes); 0: none. */
  defaultMb: number;
}

/**
 * Counts each tenant's storage and enforces its quota. Inserts and blobs are counted in memory and added to the
 * tenant's row every few seconds, which shows each node the total; a measurement corrects it and detects freed space.
 * Nodes together may exceed a quota by what they accept within `FLUSH_MS`.
 */
export class StorageUsage {
  readonly #parts: Parts;
  readonly #rows: TenantCollection<UsageDoc>;
  readonly #known = new Map<string, Known>();
  readonly #claimed = new Map<string, number>();
  readonly #measuring = new Map<string, Promise<void>>();
  #timers: NodeJS.Timeout[] = [];
  #flushing: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rows = parts.store.collection(UsageModel);
  }

  /** @param report called with errors of background tasks */
  start(report: (err: unknown) => void): void {
    const every = (task: () => Promise<void>, ms: number) =>
      setInterval(() => task().catch(report), ms).unref();
    this.#timers = [every(() => this.#refresh(), FLUSH_MS), every(() => this.measureDue(), LOOK_MS)];
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
    const known = this.#known.get(tenant_id);
    return known !== undefined && this.#leftOf(tenant_id, known) <= 0;
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
        if (!this.#fits(tenant_id, bytes)) await this.#recheck(tenant_id, bytes);
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

  async of(tenant_id: string): Promise<Usage> {
    const known = this.#known.get(tenant_id) ?? (await this.#load(tenant_id));
    known.asked_at = Date.now();
    return this.#usageOf(tenant_id, known);
  }

  async ofAll(tenant_ids: string[]): Promise<Map<string, Usage>> {
    await this.flush();
    const rows = await this.#rows.system.find({ _id: { $in: tenant_ids } }).toArray();
    const found = new Map(rows.map((row) => [row._id, row as UsageDoc]));
    return new Map(tenant_ids.map((id) => [id, this.#usageOf(id, this.#toUsage(found.get(id) ?? null))]));
  }

  /** Returns the totals of all tenants. */
  async totals(): Promise<{ used_bytes: number; full: number; tenants: number }> {
    await this.flush();
    const rows = (await this.#rows.system.find({}).toArray()) as UsageDoc[];
    const all = rows.map((row) => this.#usageOf(row._id, this.#toUsage(row)));
    return {
      used_bytes: all.reduce((sum, { used_bytes }) => sum + used_bytes, 0),
      full: all.filter(({ used_bytes, quota_bytes }) => used_bytes >= quota_bytes).length,
      tenants: all.length,
    };
  }

  /** @param quota_mb null for the installation's */
  async setQuota(tenant_id: string, quota_mb: number | null): Promise<void> {
    await this.#change(tenant_id, quota_mb === null ? { $unset: { quota_mb: 1 } } : { $set: { quota_mb } });
  }

  /** Adds the counted bytes to the tenants' rows. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#writeGrowth());
    return this.#flushing;
  }

  /** Measures the tenants that are due, one after the other. */
  async measureDue(): Promise<void> {
    for (;;) {
      const due = { due_at: { $lte: new Date(this.#parts.store.now()) } };
      const [row] = await this.#rows.system.find(due).limit(1).toArray();
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
    const { store, blobs } = this.#parts;
    // Bytes counted by then are part of the measurement.
    await this.flush();
    const due_at = new Date(store.now() + LEASE_MS);
    const row = await this.#change(tenant_id, { $set: { due_at } });
    const began = performance.now();
    const measured = (await rowBytes(store, tenant_id)) + (await blobs.bytesOf(tenant_id));
    const rest = REST * (performance.now() - began);
    const now = store.now();
    const $set = { measured, measured_at: new Date(now), due_at: new Date(now + Math.max(HOUR_MS, rest)) };
    // If two nodes measure at once, one result counts.
    const guard = { _id: tenant_id, measured_at: row.measured_at };
    const after = await this.#rows.update(tenant_id, guard, { $set, $inc: { added: -row.added } });
    if (after) this.#learn(after);
    const known = this.#known.get(tenant_id);
    if (known) known.measurable_at = Date.now() + Math.max(FULL_MS, rest);
  }

  async #writeGrowth(): Promise<void> {
    const { growth } = this.#parts.store;
    await Promise.all(
      growth.entries().map(async ([tenant_id, bytes]) => {
        await this.#change(tenant_id, { $inc: { added: bytes } }, () => growth.add(tenant_id, -bytes));
      }),
    );
  }

  /** Writes this node's counts and reads those of other nodes. */
  async #refresh(): Promise<void> {
    const now = Date.now();
    await this.flush();
    const asked: string[] = [];
    for (const [tenant_id, { asked_at }] of this.#known) {
      if (asked_at < now - FORGET_MS) this.#known.delete(tenant_id);
      else if (asked_at >= now - FLUSH_MS) asked.push(tenant_id);
    }
    // The embedded store has one process, which knows everything.
    if (this.#parts.store.driver === "sqlite" || asked.length === 0) return;
    for (const row of await this.#rows.system.find({ _id: { $in: asked } }).toArray())
      this.#learn(row as UsageDoc);
  }

  async #change(tenant_id: string, update: object, then: () => void = () => {}): Promise<UsageDoc> {
    const first = { measured: 0, added: 0, measured_at: null, due_at: new Date(this.#parts.store.now()) };
    const changed = new Set(Object.values(update).flatMap((fields: object) => Object.keys(fields)));
    const $setOnInsert = Object.fromEntries(Object.entries(first).filter(([name]) => !changed.has(name)));
    const write = () =>
      this.#rows.system.findOneAndUpdate(
        { _id: tenant_id, tenant_id },
        { ...update, $setOnInsert },
        { upsert: true, returnDocument: "after" },
      );
    // If two nodes create the row at once, MongoDB refuses one.
    const doc = await write().catch((err) => (isDuplicateKey(err) ? write() : Promise.reject(err)));
    // In the same tick as `#learn`, so that nothing is counted twice in between.
    then();
    this.#learn(doc as UsageDoc);
    return doc as UsageDoc;
  }

  async #load(tenant_id: string): Promise<Known> {
    return this.#learn((await this.#rows.findOne(tenant_id, { _id: tenant_id })) ?? { _id: tenant_id });
  }

  #learn(row: Partial<UsageDoc> & { _id: string }): Known {
    const before = this.#known.get(row._id);
    const { asked_at, measurable_at } = before ?? { asked_at: Date.now(), measurable_at: 0 };
    const known = { ...this.#toUsage(row), asked_at, measurable_at };
    this.#known.set(row._id, known);
    return known;
  }

  #toUsage(row: Partial<UsageDoc> | null): Usage {
    const { measured = 0, added = 0, quota_mb } = row ?? {};
    const mb = quota_mb ?? this.#parts.defaultMb;
    return {
      used_bytes: measured + added,
      quota_bytes: mb === 0 ? Number.POSITIVE_INFINITY : mb * MB,
      quota_mb: quota_mb ?? null,
    };
  }

  #usageOf(tenant_id: string, { used_bytes, quota_bytes, quota_mb }: Usage): Usage {
    const used = Math.max(0, used_bytes + this.#parts.store.growth.of(tenant_id));
    return { used_bytes: used, quota_bytes, quota_mb };
  }

  #leftOf(tenant_id: string, { used_bytes, quota_bytes }: Usage): number {
    const here = this.#parts.store.growth.of(tenant_id) + (this.#claimed.get(tenant_id) ?? 0);
    return quota_bytes - used_bytes - here;
  }

  #fits(tenant_id: string, bytes: number): boolean {
    const known = this.#known.get(tenant_id);
    if (!known) return false;
    known.asked_at = Date.now();
    return this.#leftOf(tenant_id, known) > 0 && this.#leftOf(tenant_id, known) >= bytes;
  }

  /** Checks again before refusing: another node, the operator or a deletion may have freed space. */
  async #recheck(tenant_id: string, bytes: number): Promise<void> {
    await this.#load(tenant_id);
    if (this.#fits(tenant_id, bytes)) return;
    const known = this.#known.get(tenant_id) as Known;
    if (known.measurable_at <= Date.now()) await this.measure(tenant_id);
    if (!this.#fits(tenant_id, bytes)) throw this.#exceeded(tenant_id);
  }

  #exceeded(tenant_id: string): Fault {
    const usage = this.#usageOf(tenant_id, this.#known.get(tenant_id) as Known);
    const { used_bytes, quota_bytes } = usage;
    const message =
      `The organisation stores ${used_bytes} bytes of the ${quota_bytes} it may, and this would exceed its quota: ` +
      "delete something, or ask the operator for more.";
    return ruleBroken("storage_quota", message, { used_bytes, quota_bytes });
  }
}
