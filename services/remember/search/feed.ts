import type { Filter } from "mongodb";
import { MESSAGE_BYTES } from "../../../lib/broker/between-nodes.ts";
import type { TenantCollection, TenantDocument } from "../../../storage/collection.ts";
import type { SearchEntriesAnswer, SearchEntriesPage, SearchEntry } from "../../../storage/search/entry.ts";

/** Rows of one message between nodes, unless they are long. */
const MOST_ENTRIES = 200;

interface Changing extends TenantDocument {
  changed_at: Date;
}

/** Returns rows for search in order of their last change, after a position, of one tenant or of all. */
export async function changedAfter<T extends Changing>(
  rows: TenantCollection<T>,
  { tenant_id, after, limit }: SearchEntriesPage,
): Promise<T[]> {
  const at = after && new Date(after.changed_at);
  const filter = {
    // The range lets an index scan start there.
    ...(at && { changed_at: { $gte: at }, $or: [{ changed_at: { $gt: at } }, { _id: { $gt: after.id } }] }),
    ...(tenant_id !== undefined && { tenant_id }),
  };
  const options = {
    sort: { changed_at: 1, _id: 1 },
    limit: Math.min(limit, MOST_ENTRIES),
    bytes: MESSAGE_BYTES,
  } as const;
  return (await rows.findAnyWithin(filter as Filter<T>, options)).rows;
}

/**
 * Builds the answer to `search_entries`: the rows' entries for search, and the start of the next page. A row that has none
 * holds up no other.
 */
export function toEntriesPage<T extends Changing>(
  rows: readonly T[],
  toEntry: (row: T) => SearchEntry,
): SearchEntriesAnswer {
  const last = rows.at(-1);
  const unreadable: string[] = [];
  const entries = rows.flatMap((row) => {
    try {
      return { ...toEntry(row), tenant_id: row.tenant_id };
    } catch (err) {
      unreadable.push(`${row.tenant_id} ${row._id}: ${(err as Error).message}`);
      return [];
    }
  });
  return {
    entries,
    unreadable,
    last: last ? { changed_at: last.changed_at.getTime(), id: last._id } : null,
  };
}
