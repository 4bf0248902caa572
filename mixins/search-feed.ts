import type { Filter } from "mongodb";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import type { SearchEntriesAnswer, SearchEntriesPage, SearchEntry } from "../storage/search/entry.ts";

/** So many rows fit into one message between nodes, if they are not long ones. */
const MOST_ENTRIES = 200;

interface Changing extends TenantDocument {
  changed_at: Date;
}

/** For search to follow: rows in order of their last change, behind a place in it, of one tenant or of all. */
export function changedAfter<T extends Changing>(
  rows: TenantCollection<T>,
  { tenant_id, after, limit }: SearchEntriesPage,
): Promise<T[]> {
  const at = after && new Date(after.changed_at);
  const filter = {
    // The range lets an index begin there.
    ...(at && { changed_at: { $gte: at }, $or: [{ changed_at: { $gt: at } }, { _id: { $gt: after.id } }] }),
    ...(tenant_id !== undefined && { tenant_id }),
  };
  const options = { sort: { changed_at: 1, _id: 1 }, limit: Math.min(limit, MOST_ENTRIES) } as const;
  return rows.system.find(filter as Filter<T>, options).toArray() as Promise<T[]>;
}

/** The answer to `search_entries`: what search is to know of these rows, and where the next page begins. */
export function entriesOf<T extends Changing>(
  rows: readonly T[],
  toEntry: (row: T) => SearchEntry,
): SearchEntriesAnswer {
  const last = rows.at(-1);
  return {
    entries: rows.map((row) => ({ ...toEntry(row), tenant_id: row.tenant_id })),
    last: last ? { changed_at: last.changed_at.getTime(), id: last._id } : null,
  };
}
