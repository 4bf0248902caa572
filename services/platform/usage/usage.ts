import type { Collection } from "mongodb";
import type { SqliteCollection } from "mongoose-sqlite";
import { type Fault, ruleBroken } from "../../../lib/contract/faults.ts";
import { HOUR_MS } from "../../../lib/time.ts";
import { Due } from "../../../mixins/due.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { Claim } from "../../../storage/blobs/guarded.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { Growth, roughSize } from "../../../storage/growth.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import { type UsageDoc, UsageModel } from "./usage.model.ts";

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

type Row = Pick<UsageDoc, "_id"> & Partial<UsageDoc>;

/** A tenant's row as this node last read it. */
interface Known {
  row: Row;
  asked_at: number;
  /** When it may be measured again because it is full. */
  measurable_at: number;
}

const MB = 1_000_000;
const FLUSH_MS = 5000;
const FORGET_MS = 600_000;
const LOOK_MS = 60_000;
/** A node that crashes while measuring blocks the tenant's measurements for this long. */
const LEASE_MS = 600_000;
/** Deletes free space only at the next measurement: a full tenant is measured this often, if its cost allows. */
const FULL_MS = 5000;
/** Measuring takes at most a twentieth of the time. */
const REST = 20;

/**
 * Counts each tenant's storage and enforces the quotas. Growth is counted in memory (`store.growth`) and added to the
 * tenant's row every few seconds, which shows each node the total. A measurement corrects the count and detects freed
 * space. Nodes together may exceed a quota by what they accept between two flushes; a node that is killed loses the
 * growth since its last flush until the next measurement.
 */
export class StorageUsage {
  readonly #store: Store;
  readonly #rows: TenantCollection<UsageDoc>;
  readonly #blobs: Blobs;
  readonly #defaultMb: number;
  readonly #due: Due<UsageDoc>;
  readonly #known = new Map<string, Known>();
  /** Bytes of blobs that are being written. */
  readonly #claimed = new Growth();
  readonly #measuring = new Map<string, Promise<void>>();
  #flushing: Promise<void> = Promise.resolve();
  #timers: NodeJS.Timeout[] = [];

  /** @param defaultMb the installation's quota per tenant in megabytes (10^6 bytes); 0: none */
  constructor({ store, blobs, defaultMb }: { store: Store; blobs: Blobs; defaultMb: number }) {
    this.#store = store;
    this.#rows = store.collection(UsageModel);
    this.#due = new Due({ rows: this.#rows, by: "due_at", now: () => store.now(), batch: 1 });
    this.#blobs = blobs;
    this.#defaultMb = defaultMb;
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

  async of(tenant_id: string): Promise<Usage> {
    return this.#usage(tenant_id) ?? this.#toUsage(await this.#load(tenant_id));
  }

  async ofAll(tenant_ids: string[]): Promise<Map<string, Usage>> {
    const rows = await this.#find({ _id: { $in: tenant_ids } });
    const byTenant = new Map(rows.map((row) => [row._id, row]));
    return new Map(tenant_ids.map((_id) => [_id, this.#toUsage(byTenant.get(_id) ?? { _id })]));
  }

  /** Returns the totals of all tenants, as far as nodes have written their counts: reading them writes nothing. */
  async totals(): Promise<{ used_bytes: number; full: number }> {
    const all = (await this.#find({})).map((row) => this.#toUsage(row));
    return {
      used_bytes: all.reduce((sum, { used_bytes }) => sum + used_bytes, 0),
      full: all.filter(({ used_bytes, quota_bytes }) => used_bytes >= quota_bytes).length,
    };
  }

  /** @param quota_mb null for the installation's */
  async setQuota(tenant_id: string, quota_mb: number | null): Promise<void> {
    await this.#change(tenant_id, quota_mb === null ? { $unset: { quota_mb: 1 } } : { $set: { quota_mb } });
  }

  /**
   * Requires capacity for more bytes. Synchronous if the tenant is known to have the space.
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
    return {
      extend: async (bytes) => {
        await this.require(tenant_id, bytes);
        // Another request may have claimed it meanwhile.
        if (!this.#fits(tenant_id, bytes)) throw this.#exceeded(tenant_id);
        claimed += bytes;
        this.#claimed.add(tenant_id, bytes);
      },
      end: () => this.#claimed.add(tenant_id, -claimed),
    };
  };

  /** Adds the counted bytes to the tenants' rows. */
  flush(): Promise<void> {
    const { growth } = this.#store;
    const write = async () => {
      const writes = growth.entries().map(async ([tenant_id, bytes]) => {
        await this.#change(tenant_id, { $inc: { added: bytes } }, () => growth.add(tenant_id, -bytes));
      });
      await Promise.all(writes);
    };
    this.#flushing = this.#flushing.catch(() => {}).then(write);
    return this.#flushing;
  }

  /** Measures the tenants that are due. */
  async measureDue(): Promise<void> {
    while (await this.#due.each(({ _id }) => this.measure(_id)));
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
    const due_at = new Date(this.#store.now() + LEASE_MS);
    const row = await this.#change(tenant_id, { $set: { due_at } });
    const began = performance.now();
    const measured = (await rowBytes(this.#store, tenant_id)) + (await this.#blobs.bytesOf(tenant_id));
    const rest = REST * (performance.now() - began);
    const now = this.#store.now();
    const $set = { measured, measured_at: new Date(now), due_at: new Date(now + Math.max(HOUR_MS, rest)) };
    // If two nodes measure at once, one result counts.
    const guard = { _id: tenant_id, measured_at: row.measured_at };
    const after = await this.#rows.update(tenant_id, guard, { $set, $inc: { added: -row.added } });
    if (after) this.#learn(after);
    const known = this.#known.get(tenant_id);
    if (known) known.measurable_at = Date.now() + Math.max(FULL_MS, rest);
  }

  /** Writes this node's counts and reads those of other nodes. */
  async #refresh(): Promise<void> {
    const now = Date.now();
    await this.flush();
    const requested: string[] = [];
    for (const [tenant_id, { asked_at }] of this.#known) {
      if (asked_at < now - FORGET_MS) this.#known.delete(tenant_id);
      else if (asked_at >= now - FLUSH_MS) requested.push(tenant_id);
    }
    // The embedded store has one process, which knows everything.
    if (this.#store.driver === "sqlite" || requested.length === 0) return;
    for (const row of await this.#find({ _id: { $in: requested } })) this.#learn(row);
  }

  /** Changes a tenant's row. @param then runs when this node learns the new row, so that nothing is counted twice */
  async #change(tenant_id: string, update: object, then: () => void = () => {}): Promise<UsageDoc> {
    const first = { measured: 0, added: 0, measured_at: null, due_at: new Date(this.#store.now()) };
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
    then();
    this.#learn(doc as UsageDoc);
    return doc as UsageDoc;
  }

  #find(filter: object): Promise<UsageDoc[]> {
    return this.#rows.system.find(filter).toArray() as Promise<UsageDoc[]>;
  }

  async #load(tenant_id: string): Promise<Row> {
    const row = (await this.#rows.findOne(tenant_id, { _id: tenant_id })) ?? { _id: tenant_id };
    this.#learn(row);
    return row;
  }

  #learn(row: Row): void {
    const { asked_at = Date.now(), measurable_at = 0 } = this.#known.get(row._id) ?? {};
    this.#known.set(row._id, { row, asked_at, measurable_at });
  }

  /** Returns a tenant's usage if this node knows it, which keeps it known. */
  #usage(tenant_id: string): Usage | undefined {
    const known = this.#known.get(tenant_id);
    if (!known) return undefined;
    known.asked_at = Date.now();
    return this.#toUsage(known.row);
  }

  #toUsage({ _id, measured = 0, added = 0, quota_mb }: Row): Usage {
    const mb = quota_mb ?? this.#defaultMb;
    return {
      used_bytes: Math.max(0, measured + added + this.#store.growth.of(_id)),
      quota_bytes: mb === 0 ? Number.POSITIVE_INFINITY : mb * MB,
      quota_mb: quota_mb ?? null,
    };
  }

  /** Returns the bytes left of a tenant's quota as far as this node knows it; `NaN` if it does not. */
  #left(tenant_id: string): number {
    const { quota_bytes, used_bytes } = this.#usage(tenant_id) ?? { quota_bytes: Number.NaN, used_bytes: 0 };
    return quota_bytes - used_bytes - this.#claimed.of(tenant_id);
  }

  #fits(tenant_id: string, bytes: number): boolean {
    const left = this.#left(tenant_id);
    return left > 0 && left >= bytes;
  }

  /** Checks again before refusing: another node, the operator or a deletion may have freed space. */
  async #recheck(tenant_id: string, bytes: number): Promise<void> {
    await this.#load(tenant_id);
    if (this.#fits(tenant_id, bytes)) return;
    if ((this.#known.get(tenant_id)?.measurable_at ?? 0) <= Date.now()) await this.measure(tenant_id);
    if (!this.#fits(tenant_id, bytes)) throw this.#exceeded(tenant_id);
  }

  #exceeded(tenant_id: string): Fault {
    const { used_bytes, quota_bytes } = this.#usage(tenant_id) as Usage;
    const message =
      `The request would exceed the organisation's storage quota: it uses ${used_bytes} of ${quota_bytes} bytes. ` +
      "Delete data, or ask the operator for a higher quota.";
    return ruleBroken("storage_quota", message, { used_bytes, quota_bytes });
  }
}

/** Collections without a tenant's rows, or with statistics of it: blobs are measured by their files. */
const NOT_COUNTED = new Set(["tenants", "storage_usage", "traffic", "blobs", "blobs.files", "blobs.chunks"]);
/** Sample size for a server that cannot measure rows. */
const SAMPLE = 100;

/** Returns the approximate size of a tenant's rows in bytes, without indexes. */
async function rowBytes(store: Store, tenant_id: string): Promise<number> {
  let bytes = 0;
  for (const [name, collection] of await store.collections()) {
    if (NOT_COUNTED.has(name)) continue;
    const embedded = collection as Collection & Partial<Pick<SqliteCollection, "estimateBytes">>;
    bytes += await (embedded.estimateBytes?.({ tenant_id }) ?? bytesIn(collection, tenant_id));
  }
  return bytes;
}

async function bytesIn(collection: Collection, tenant_id: string): Promise<number> {
  const own = { $match: { tenant_id } };
  const sum = { $group: { _id: null, bytes: { $sum: { $bsonSize: "$$ROOT" } } } };
  try {
    const [row] = await collection.aggregate<{ bytes: number }>([own, sum]).toArray();
    return row?.bytes ?? 0;
  } catch (err) {
    if (!/\$bsonSize/.test((err as Error).message)) throw err;
    return sampled(collection, tenant_id);
  }
}

async function sampled(collection: Collection, tenant_id: string): Promise<number> {
  const rows = await collection.find({ tenant_id }).limit(SAMPLE).toArray();
  if (rows.length < SAMPLE) return roughSize(rows);
  return ((await collection.countDocuments({ tenant_id })) * roughSize(rows)) / rows.length;
}
