import type { TenantCollection } from "../collection.ts";
import type { Store } from "../connection.ts";
import { isDuplicateKey } from "../write-errors.ts";
import { type UsageDoc, UsageModel } from "./usage.model.ts";

/** A tenant's storage use and quota; `Infinity` without one. */
export interface Usage {
  used_bytes: number;
  quota_bytes: number;
  quota_mb: number | null;
}

interface Known extends Usage {
  asked_at: number;
  /** When it may be measured again because it is full. */
  measurable_at: number;
}

const MB = 1_000_000;
export const FLUSH_MS = 5000;
const FORGET_MS = 600_000;

/**
 * Counts each tenant's storage. Inserts and blobs are counted in memory and added to the tenant's row every few
 * seconds, which shows each node the total.
 */
export class UsageCounts {
  protected readonly store: Store;
  protected readonly rows: TenantCollection<UsageDoc>;
  readonly #defaultMb: number;
  protected readonly cache = new Map<string, Known>();
  #flushing: Promise<void> = Promise.resolve();

  /** @param defaultMb the installation's quota per tenant in megabytes (10^6 bytes); 0: none */
  constructor(store: Store, defaultMb: number) {
    this.store = store;
    this.rows = store.collection(UsageModel);
    this.#defaultMb = defaultMb;
  }

  async of(tenant_id: string): Promise<Usage> {
    if (!this.cache.has(tenant_id)) await this.load(tenant_id);
    return this.known(tenant_id) as Usage;
  }

  async ofAll(tenant_ids: string[]): Promise<Map<string, Usage>> {
    await this.flush();
    const rows = (await this.rows.system.find({ _id: { $in: tenant_ids } }).toArray()) as UsageDoc[];
    const found = new Map(rows.map((row) => [row._id, row]));
    return new Map(tenant_ids.map((id) => [id, this.#withGrowth(id, this.#toUsage(found.get(id)))]));
  }

  /** Returns the totals of all tenants. */
  async totals(): Promise<{ used_bytes: number; full: number; tenants: number }> {
    await this.flush();
    const rows = (await this.rows.system.find({}).toArray()) as UsageDoc[];
    const all = rows.map((row) => this.#withGrowth(row._id, this.#toUsage(row)));
    return {
      used_bytes: all.reduce((sum, { used_bytes }) => sum + used_bytes, 0),
      full: all.filter(({ used_bytes, quota_bytes }) => used_bytes >= quota_bytes).length,
      tenants: all.length,
    };
  }

  /** @param quota_mb null for the installation's */
  async setQuota(tenant_id: string, quota_mb: number | null): Promise<void> {
    await this.change(tenant_id, quota_mb === null ? { $unset: { quota_mb: 1 } } : { $set: { quota_mb } });
  }

  /** Adds the counted bytes to the tenants' rows. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#writeGrowth());
    return this.#flushing;
  }

  async #writeGrowth(): Promise<void> {
    const { growth } = this.store;
    await Promise.all(
      growth.entries().map(async ([tenant_id, bytes]) => {
        await this.change(tenant_id, { $inc: { added: bytes } }, () => growth.add(tenant_id, -bytes));
      }),
    );
  }

  /** Writes this node's counts and reads those of other nodes. */
  protected async refresh(): Promise<void> {
    const now = Date.now();
    await this.flush();
    const asked: string[] = [];
    for (const [tenant_id, { asked_at }] of this.cache) {
      if (asked_at < now - FORGET_MS) this.cache.delete(tenant_id);
      else if (asked_at >= now - FLUSH_MS) asked.push(tenant_id);
    }
    // The embedded store has one process, which knows everything.
    if (this.store.driver === "sqlite" || asked.length === 0) return;
    for (const row of await this.rows.system.find({ _id: { $in: asked } }).toArray())
      this.learn(row as UsageDoc);
  }

  protected async change(tenant_id: string, update: object, then: () => void = () => {}): Promise<UsageDoc> {
    const first = { measured: 0, added: 0, measured_at: null, due_at: new Date(this.store.now()) };
    const changed = new Set(Object.values(update).flatMap((fields: object) => Object.keys(fields)));
    const $setOnInsert = Object.fromEntries(Object.entries(first).filter(([name]) => !changed.has(name)));
    const write = () =>
      this.rows.system.findOneAndUpdate(
        { _id: tenant_id, tenant_id },
        { ...update, $setOnInsert },
        { upsert: true, returnDocument: "after" },
      );
    // If two nodes create the row at once, MongoDB refuses one.
    const doc = await write().catch((err) => (isDuplicateKey(err) ? write() : Promise.reject(err)));
    // In the same tick as `learn`, so that nothing is counted twice in between.
    then();
    this.learn(doc as UsageDoc);
    return doc as UsageDoc;
  }

  protected async load(tenant_id: string): Promise<void> {
    this.learn((await this.rows.findOne(tenant_id, { _id: tenant_id })) ?? { _id: tenant_id });
  }

  protected learn(row: Partial<UsageDoc> & { _id: string }): void {
    const { asked_at = Date.now(), measurable_at = 0 } = this.cache.get(row._id) ?? {};
    this.cache.set(row._id, { ...this.#toUsage(row), asked_at, measurable_at });
  }

  /** Returns a tenant's usage if this node knows it, which keeps it known. */
  protected known(tenant_id: string): Usage | undefined {
    const known = this.cache.get(tenant_id);
    if (!known) return undefined;
    known.asked_at = Date.now();
    return this.#withGrowth(tenant_id, known);
  }

  #toUsage({ measured = 0, added = 0, quota_mb }: Partial<UsageDoc> = {}): Usage {
    const mb = quota_mb ?? this.#defaultMb;
    return {
      used_bytes: measured + added,
      quota_bytes: mb === 0 ? Number.POSITIVE_INFINITY : mb * MB,
      quota_mb: quota_mb ?? null,
    };
  }

  #withGrowth(tenant_id: string, { used_bytes, quota_bytes, quota_mb }: Usage): Usage {
    const used = Math.max(0, used_bytes + this.store.growth.of(tenant_id));
    return { used_bytes: used, quota_bytes, quota_mb };
  }
}
