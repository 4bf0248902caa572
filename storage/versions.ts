import type { TenantCollection, TenantDocument } from "./collection.ts";
import { guardedWrite } from "./guarded-write.ts";
import { byFields, type Where } from "./query.ts";
import { nullIfTaken } from "./write-errors.ts";

/** One version of a named resource; versions are immutable (spec: Versioning 2). */
interface VersionDoc extends TenantDocument {
  version_num: number;
}

/** Returns the newest version that matches a filter, or null. The filter and `version_num` need a unique index. */
export function newestVersion<T extends VersionDoc>(
  rows: TenantCollection<T>,
  tenant_id: string,
  named: Where<T>,
): Promise<T | null> {
  return rows.findOne(tenant_id, named, { sort: { version_num: -1 } });
}

/**
 * Stores a row as the version after the newest of its name; if its id exists, returns that row unchanged.
 *
 * @throws Fault conflict if too many others store at the same time
 */
export async function insertNextVersion<T extends VersionDoc>(
  rows: TenantCollection<T>,
  named: Where<T>,
  row: T,
): Promise<T> {
  const { tenant_id, _id } = row;
  const made = await rows.findOne(tenant_id, byFields<T, VersionDoc>({ _id }));
  if (made) return made;
  return guardedWrite(async () => {
    const newest = await newestVersion(rows, tenant_id, named);
    return rows.insertOnce({ ...row, version_num: (newest?.version_num ?? 0) + 1 }).catch(nullIfTaken);
  }, "Too many concurrent new versions. Retry.");
}
