import type { Collection } from "mongodb";
import type { TenantCollection } from "../../storage/collection.ts";
import type { Store } from "../../storage/connection.ts";
import type { TenantDoc } from "./tenants.model.ts";

/** Rows that were erased, by collection. */
type Erased = Record<string, number>;

const BATCH = 1000;
/** A node may still be writing for the tenant for this long after its tokens are refused. */
const LATE_WRITES_MS = 60_000;

/**
 * Erases all that a tenant has, in every collection of the store, and leaves an empty row under its id. That row is
 * erased for a second time after a minute, for what a node was still writing.
 */
export async function erase(
  store: Store,
  tenants: TenantCollection<TenantDoc>,
  tenant_id: string,
): Promise<Erased> {
  const due = new Date(store.now() + LATE_WRITES_MS);
  await tenants.update(
    tenant_id,
    { _id: tenant_id, status: { $ne: "erased" } },
    { $set: { status: "erasing", erase_due_at: due } },
  );
  const erased = await eraseRows(store, tenant_id);
  await tenants.update(
    tenant_id,
    { _id: tenant_id, status: "erasing" },
    { $set: { status: "erased", slug: tenant_id, name: "", updated_at: new Date(store.now()) } },
  );
  return erased;
}

/** Erases what is due: interrupted erasures, and late writes of those that were done. */
export async function eraseDue(store: Store, tenants: TenantCollection<TenantDoc>): Promise<void> {
  const now = new Date(store.now());
  const due = await tenants.system
    .find({ erase_due_at: { $lte: now } })
    .limit(BATCH)
    .toArray();
  for (const { _id, status, erase_due_at } of due as TenantDoc[]) {
    if (status !== "erased") await erase(store, tenants, _id);
    else {
      await eraseRows(store, _id);
      await tenants.update(_id, { _id, erase_due_at }, { $unset: { erase_due_at: 1 } });
    }
  }
}

async function eraseRows(store: Store, tenant_id: string): Promise<Erased> {
  const erased: Erased = {};
  for (const [name, collection] of await store.collections()) {
    if (name === "tenants") continue;
    const count = await eraseFrom(collection, tenant_id);
    if (count) erased[name] = count;
  }
  return erased;
}

/** In batches: one delete of a million rows would hold up everyone else's writes. */
async function eraseFrom(collection: Collection, tenant_id: string): Promise<number> {
  let count = 0;
  for (;;) {
    const rows = await collection
      .find({ tenant_id }, { projection: { _id: 1 } })
      .limit(BATCH)
      .toArray();
    if (rows.length === 0) return count;
    const { deletedCount } = await collection.deleteMany({ _id: { $in: rows.map((row) => row._id) } });
    count += deletedCount;
  }
}
