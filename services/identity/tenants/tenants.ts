import type { ServiceBroker } from "moleculer";
import type { Collection } from "mongodb";
import { newApiKey } from "../../../lib/access/api-key.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { listNodes } from "../../../lib/broker/between-nodes.ts";
import { requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { newPassword } from "../../../lib/crypto/password.ts";
import { newId } from "../../../lib/ids.ts";
import { Due } from "../../../mixins/due.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { backupsUntil, scrub } from "../../platform/system/scrub.ts";
import type { Counts } from "../../platform/usage/tally.ts";
import { toStorage, type Usage } from "../../platform/usage/usage.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import { type Founding, firstIds, found } from "./founding.ts";
import { originOf } from "./origin.ts";
import { announceAuthChange } from "./routing-change.ts";
import type * as contract from "./tenants.contract.ts";
import { Tenant, TenantUsage } from "./tenants.contract.ts";
import type { TenantDoc } from "./tenants.model.ts";

const USABLE = { $in: ["active", "suspended"] as ("active" | "suspended")[] };

/** The operator's operations on tenants. */
export class Tenants {
  readonly #runtime: Runtime;
  readonly #rows: TenantCollection<TenantDoc>;
  #hasSettled = false;
  #erasing: (() => Promise<boolean>) | undefined;

  constructor(runtime: Runtime, rows: TenantCollection<TenantDoc>) {
    this.#runtime = runtime;
    this.#rows = rows;
  }

  async create(ctx: CallOf<typeof contract.createTenant>) {
    const { secrets, usage, config } = this.#runtime;
    const { slug, name, admin_email } = ctx.params;
    const seed = ctx.meta.idempotency_seed;
    const admin = { email: admin_email, password: newPassword(secrets, seed) };
    const api_key = newApiKey(secrets, seed);
    const ingest_url = await originOf(ctx.broker, config);
    const tenant = await this.found(ctx, { tenant_id: newId("tn", seed), slug, name, admin, api_key });
    return {
      tenant: present(tenant, await usage.of(tenant._id)),
      admin,
      agent: { id: firstIds(tenant._id).agent_id, api_key },
      ingest_url,
    };
  }

  found(ctx: Call, founding: Founding): Promise<TenantDoc> {
    return found(this.#rows, ctx, this.#runtime.store.now(), founding);
  }

  async list({ params: { offset = 0, limit = 50 } }: CallOf<typeof contract.listTenants>) {
    const shown = { status: { $in: [...USABLE.$in, "importing" as const] } };
    const options = { sort: { created_at: 1, _id: 1 } as const, skip: offset, limit };
    const [docs, total] = await Promise.all([
      this.#rows.system.find(shown, options).toArray() as Promise<TenantDoc[]>,
      this.#rows.system.countDocuments(shown),
    ]);
    const usages = await this.#runtime.usage.ofAll(docs.map(({ _id }) => _id));
    return { tenants: docs.map((doc) => present(doc, usages.get(doc._id) as Usage)), total };
  }

  /** Returns what tenants use, the largest first. */
  async usage({
    params: { hours = 24, sort = "cpu_ms", offset = 0, limit = 50 },
  }: CallOf<typeof contract.listTenantUsage>) {
    await this.#runtime.traffic.flush();
    const all = (await this.usageOf(hours)).sort((a, b) => b[sort] - a[sort] || (a.slug < b.slug ? -1 : 1));
    return { tenants: all.slice(offset, offset + limit), total: all.length };
  }

  /** The same without this node's latest counts, in no order. */
  async usageOf(hours: number) {
    const { usage, traffic } = this.#runtime;
    const projection = { slug: 1, name: 1, status: 1 };
    const [docs, used] = await Promise.all([
      this.#rows.system.find({ status: USABLE }, { projection }).toArray() as Promise<TenantDoc[]>,
      traffic.use(hours),
    ]);
    const stored = await usage.ofAll(docs.map(({ _id }) => _id));
    const cpu = docs.reduce((sum, { _id }) => sum + (used.get(_id)?.cpu_ms ?? 0), 0);
    return docs.map((doc) => presentUsage(doc, used.get(doc._id) ?? {}, stored.get(doc._id) as Usage, cpu));
  }

  async update(ctx: CallOf<typeof contract.updateTenant>) {
    const { usage, store } = this.#runtime;
    const { tenant_id, status, storage_quota_mb, requests_per_minute } = ctx.params;
    const $set = {
      ...(status && { status }),
      ...(requests_per_minute != null && { requests_per_minute }),
      updated_at: new Date(store.now()),
    };
    const $unset = requests_per_minute === null && { $unset: { requests_per_minute: 1 } };
    const change = { $set, ...$unset };
    const active = { _id: tenant_id, status: "active" as const };
    const ending = { ...change, $inc: { token_version: 1 } };
    const ended = status === "suspended" ? await this.#rows.update(tenant_id, active, ending) : null;
    const written = ended ?? (await this.#rows.update(tenant_id, { ...active, status: USABLE }, change));
    const tenant = requireFound(written, "tenant", tenant_id);
    if (storage_quota_mb !== undefined) await usage.setQuota(tenant_id, storage_quota_mb);
    if (status) await announce(ctx, tenant_id);
    else if (requests_per_minute !== undefined) await announceAuthChange(ctx, { tenant_id });
    return present(tenant, await usage.of(tenant_id));
  }

  async erase(ctx: CallOf<typeof contract.eraseTenant>) {
    const { store, config } = this.#runtime;
    const { tenant_id } = ctx.params;
    const left = { _id: tenant_id, status: { $ne: "erased" as const } };
    requireFound(await this.#rows.findOne(tenant_id, left), "tenant", tenant_id);
    // Refuses requests first, so that nobody adds rows during the erasure.
    const erasing = { status: "erasing", erase_due_at: new Date(store.now()) } as const;
    await this.#rows.update(tenant_id, { _id: tenant_id }, { $set: erasing });
    await announce(ctx, tenant_id);
    const erased = await erase(this.#holdings(), tenant_id);
    const storage = await this.#eraseElsewhere(ctx.broker, tenant_id);
    const at = new Date(store.now());
    const backups_until = backupsUntil(at, config);
    const statement = { erased_at: at.toISOString(), erased, storage, backups_until };
    const receipt = await ctx.call("auth.sign_receipt", { claims: { tenant_id, ...statement } });
    return { tenant_id, ...statement, receipt };
  }

  /** Carries out due erasures, except at start: a node that does not see search yet would skip its index. */
  async eraseDue(broker: ServiceBroker): Promise<boolean> {
    if (!this.#hasSettled) {
      this.#hasSettled = true;
      return false;
    }
    this.#erasing ??= newErasing(this.#holdings(), (tenant_id) => this.#eraseElsewhere(broker, tenant_id));
    return this.#erasing();
  }

  #holdings() {
    const { store, blobs } = this.#runtime;
    return { store, blobs, tenants: this.#rows };
  }

  /** Resolves when search and the files of the store hold nothing of the tenant on any node. */
  async #eraseElsewhere(broker: ServiceBroker, tenant_id: string) {
    await broker.broadcast("tenants.erased", { tenant_id });
    if (listNodes(broker, "search.drop_tenant").length)
      await broker.call("search.drop_tenant", { tenant_id });
    return scrub(broker, this.#runtime.store);
  }
}

/** Announces changed permissions in the tenant: tokens are checked again, and pushes stop or continue. */
export async function announce(ctx: Call, tenant_id: string): Promise<void> {
  await announceAuthChange(ctx, { tenant_id });
  await ctx.broadcast("tenants.changed", { tenant_id });
}

const presentUsage = (doc: TenantDoc, counts: Counts, { used_bytes }: Usage, allCpuMs: number) => {
  const { requests = 0, published = 0, created = 0, delivered = 0, dead_lettered = 0, searches = 0 } = counts;
  const { cpu_ms = 0 } = counts;
  return presentAs(TenantUsage, doc, {
    ...{ status: doc.status as "active" | "suspended", requests, searches },
    ...{ events: published, deliveries: created, attempts: delivered, dead_letters: dead_lettered },
    ...{ stored_bytes: Math.round(used_bytes), cpu_ms: Math.round(cpu_ms) },
    cpu_share: allCpuMs > 0 ? cpu_ms / allCpuMs : 0,
  });
};

const present = (doc: TenantDoc, usage: Usage) =>
  presentAs(Tenant, doc, {
    status: doc.status as "active" | "suspended" | "importing",
    storage: toStorage(usage),
    storage_quota_mb: usage.quota_mb,
    requests_per_minute: doc.requests_per_minute ?? null,
  });

/** The storage that erasures work on. */
interface Holdings {
  store: Store;
  blobs: Blobs;
  tenants: TenantCollection<TenantDoc>;
}

/** Collections that are not erased by row: that of the tenants, and the files of `blobs`. */
const NOT_BY_ROWS = ["tenants", "blobs", "blobs.files", "blobs.chunks"];

/** Erased rows by collection; `blobs`: bodies and documents. */
type Erased = Record<string, number>;

const BATCH = 1000;
/** How long a node may still write for the tenant after its tokens are refused. */
const LATE_WRITES_MS = 60_000;

/**
 * Erases all of a tenant's data in every collection, and leaves an empty row under its id. Repeated after a minute for
 * rows that a node was still writing.
 */
export async function erase(holdings: Holdings, tenant_id: string): Promise<Erased> {
  const { store, tenants } = holdings;
  const erase_due_at = new Date(store.now() + LATE_WRITES_MS);
  const left = { _id: tenant_id, status: { $ne: "erased" as const } };
  await tenants.update(tenant_id, left, { $set: { status: "erasing", erase_due_at } });
  const erased = await eraseHoldings(holdings, tenant_id);
  const emptied = { status: "erased", slug: tenant_id, name: "", updated_at: new Date(store.now()) } as const;
  await tenants.update(tenant_id, { _id: tenant_id, status: "erasing" }, { $set: emptied });
  return erased;
}

/**
 * Returns the task that carries out due erasures: interrupted ones, and late writes of finished ones. It returns whether
 * there may be more. @param erased called when nothing of the tenant is left in the store: erases its data elsewhere
 */
export function newErasing(
  holdings: Holdings,
  erased: (tenant_id: string) => Promise<unknown>,
): () => Promise<boolean> {
  const { store, tenants } = holdings;
  const due = new Due<TenantDoc>({ rows: tenants, by: "erase_due_at", now: () => store.now(), batch: 1 });
  return () =>
    due.each(async ({ _id, status, erase_due_at }) => {
      const isRepeated = status === "erased";
      await (isRepeated ? eraseHoldings(holdings, _id) : erase(holdings, _id));
      // Repeated: an interrupted erasure may not have reported, and late writes reached other storage too.
      await erased(_id);
      if (isRepeated) await tenants.update(_id, { _id, erase_due_at }, { $unset: { erase_due_at: 1 } });
    });
}

async function eraseHoldings({ store, blobs }: Holdings, tenant_id: string): Promise<Erased> {
  const erased: Erased = {};
  const files = await blobs.erase(tenant_id);
  if (files) erased.blobs = files;
  for (const [name, collection] of await store.collections()) {
    if (NOT_BY_ROWS.includes(name)) continue;
    const count = await eraseFrom(collection, tenant_id);
    if (count) erased[name] = count;
  }
  return erased;
}

/** In batches: one delete of a million rows would block all other writes. */
async function eraseFrom(collection: Collection, tenant_id: string): Promise<number> {
  const options = { projection: { _id: 1 }, limit: BATCH };
  let count = 0;
  for (;;) {
    const rows = await collection.find({ tenant_id }, options).toArray();
    if (rows.length === 0) return count;
    const { deletedCount } = await collection.deleteMany({ _id: { $in: rows.map((row) => row._id) } });
    count += deletedCount;
  }
}
