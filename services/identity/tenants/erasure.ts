import type { Collection } from "mongodb";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { TenantDoc } from "./tenants.model.ts";

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

/** Callbacks for the results of due erasures. */
interface Listeners {
  /** Nothing of the tenant is left in the store: erases its data elsewhere. */
  erased(tenant_id: string): Promise<unknown>;
  failed(err: unknown, tenant_id: string): void;
}

/** Carries out due erasures: interrupted ones, and late writes of finished ones. A failure does not stop the others. */
export async function eraseDue(holdings: Holdings, { erased, failed }: Listeners): Promise<void> {
  const { store, tenants } = holdings;
  const due = { erase_due_at: { $lte: new Date(store.now()) } };
  const rows = (await tenants.system.find(due, { limit: BATCH }).toArray()) as TenantDoc[];
  for (const { _id, status, erase_due_at } of rows) {
    try {
      const isRepeated = status === "erased";
      await (isRepeated ? eraseHoldings(holdings, _id) : erase(holdings, _id));
      // Repeated: an interrupted erasure may not have reported, and late writes reached other storage too.
      await erased(_id);
      if (isRepeated) await tenants.update(_id, { _id, erase_due_at }, { $unset: { erase_due_at: 1 } });
    } catch (err) {
      failed(err, _id);
    }
  }
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
