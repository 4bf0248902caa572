import type { Collection } from "mongodb";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { TenantDoc } from "./tenants.model.ts";

/** What erasing works on. */
interface Holdings {
  store: Store;
  blobs: Blobs;
  tenants: TenantCollection<TenantDoc>;
}

/** Collections that are not emptied by rows: that of the tenants themselves, and what `blobs` keeps of its files. */
const NOT_BY_ROWS = ["tenants", "blobs", "blobs.files", "blobs.chunks"];

/** Rows that were erased, by collection; `blobs`: bodies and documents. */
type Erased = Record<string, number>;

const BATCH = 1000;
/** A node may still be writing for the tenant for this long after its tokens are refused. */
const LATE_WRITES_MS = 60_000;

/**
 * Erases all that a tenant has, in every collection of the store, and leaves an empty row under its id. That row is
 * erased for a second time after a minute, for what a node was still writing.
 */
export async function erase(holdings: Holdings, tenant_id: string): Promise<Erased> {
  const { store, tenants } = holdings;
  const due = new Date(store.now() + LATE_WRITES_MS);
  await tenants.update(
    tenant_id,
    { _id: tenant_id, status: { $ne: "erased" } },
    { $set: { status: "erasing", erase_due_at: due } },
  );
  const erased = await eraseHoldings(holdings, tenant_id);
  await tenants.update(
    tenant_id,
    { _id: tenant_id, status: "erasing" },
    { $set: { status: "erased", slug: tenant_id, name: "", updated_at: new Date(store.now()) } },
  );
  return erased;
}

/** Who hears of what comes of erasures that are due. */
interface Listeners {
  /** Nothing of the tenant is left in the store: what others hold of it goes too. */
  erased(tenant_id: string): Promise<unknown>;
  failed(err: unknown, tenant_id: string): void;
}

/** Erases what is due: interrupted erasures, and late writes of those that were done. One that fails stops no other. */
export async function eraseDue(holdings: Holdings, { erased, failed }: Listeners): Promise<void> {
  const { store, tenants } = holdings;
  const now = new Date(store.now());
  const due = await tenants.system
    .find({ erase_due_at: { $lte: now } })
    .limit(BATCH)
    .toArray();
  for (const tenant of due as TenantDoc[]) {
    await eraseAgain(holdings, tenant, erased).catch((err) => failed(err, tenant._id));
  }
}

async function eraseAgain(
  holdings: Holdings,
  { _id, status, erase_due_at }: TenantDoc,
  erased: Listeners["erased"],
): Promise<void> {
  if (status !== "erased") await erase(holdings, _id);
  else await eraseHoldings(holdings, _id);
  // Whoever began may have been cut off before it told, and what was written late came to the others too.
  await erased(_id);
  if (status === "erased")
    await holdings.tenants.update(_id, { _id, erase_due_at }, { $unset: { erase_due_at: 1 } });
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
