import { UUIDS } from "../lib/ids.ts";
import { namesSubject, writings } from "../lib/text/subject.ts";
import type { TenantCollection, TenantDocument } from "./collection.ts";
import { byFields, type Where } from "./query.ts";
import type { Erased } from "./replace-texts.ts";

const PAGE = 100;
/**
 * Deletes, or counts, the rows with a JSON text that has a field `subject` with this value or mentions one of these
 * ids. Reads all of the tenant's, within the bytes of a page: they are few, and an index would cost every write.
 */
export async function eraseTexts<T extends TenantDocument>(
  rows: TenantCollection<T>,
  fields: readonly (keyof T & string)[],
  { tenant_id, subject, ids = [], dry_run }: Erased,
): Promise<string[]> {
  const known = new Set(ids);
  const subjects = new Set(subject === undefined ? [] : writings(subject));
  const isErased = (text: string) =>
    (known.size > 0 && (text.match(UUIDS) ?? []).some((id) => known.has(id))) ||
    (subjects.size > 0 && namesSubject(JSON.parse(text), subjects));
  const projection = Object.fromEntries(fields.map((field) => [field, 1]));
  const erased: string[] = [];
  for await (const page of rows.batches(tenant_id, {}, { limit: PAGE, projection })) {
    const names = (row: T) => fields.some((field) => row[field] != null && isErased(String(row[field])));
    const matching = page.filter(names).map(({ _id }) => _id);
    const filter: Where<TenantDocument> = { _id: { $in: matching } };
    if (matching.length && !dry_run) await rows.deleteMany(tenant_id, byFields<T, TenantDocument>(filter));
    erased.push(...matching);
  }
  return erased;
}
