import type { TenantCollection, TenantDocument } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import type { EraseContent } from "../../erasers.ts";

/**
 * Request of `memories` to every domain that keeps data about memories
 * (services/remember/memories/erase-everywhere.ts).
 */
export type EraseMemories = EraseContent & { ids: string[] };

/** Deletes, or counts, the rows that match any of these filters. */
export async function eraseRows<T extends TenantDocument>(
  rows: TenantCollection<T>,
  { tenant_id, dry_run }: EraseMemories,
  ...filters: Where<T>[]
): Promise<number> {
  if (dry_run) return rows.count(tenant_id, { $or: filters });
  let count = 0;
  for (const filter of filters) count += await rows.deleteMany(tenant_id, filter);
  return count;
}
