/** Rows as shown, and those of the same pages read again. */
interface Read<T> {
  items: readonly T[];
  next: string | null;
}

/** The rows to show: those on the page, as they are now. */
export interface Merged<T> extends Read<T> {
  items: T[];
  /** Number of rows that are not shown yet. */
  added: number;
}

const KEYS = [
  "id",
  "chunk_id",
  "event_id",
  "item_id",
  "document_id",
  "session_id",
  "memory_id",
  "key",
  "slug",
  "step_key",
  "agent_id",
  "type",
] as const;

/** Returns what identifies a row: its first field of `KEYS`. */
export function keyOf(row: object): string {
  const fields = row as Partial<Record<string, string>>;
  for (const key of KEYS) if (fields[key]) return fields[key];
  throw new Error("a row without a key");
}

/**
 * Updates the shown rows in place. New rows are only counted, so that nothing moves under the pointer; rows that follow
 * the last shown one, because others above are gone, are appended.
 */
export function mergeRows<T extends object>(shown: Read<T>, fresh: Read<T>): Merged<T> {
  const now = new Map(fresh.items.map((row) => [keyOf(row), row]));
  const known = new Set(shown.items.map(keyOf));
  const lastShown = shown.items.findLastIndex((row) => now.has(keyOf(row)));
  const lastFresh = fresh.items.findLastIndex((row) => known.has(keyOf(row)));
  const rows = shown.items.flatMap((row, at) => {
    const current = now.get(keyOf(row));
    // New rows may have pushed the last ones to a page that was not read.
    const isBeyond = fresh.next !== null && at > lastShown;
    return current ?? (isBeyond ? row : []);
  });
  if (rows.length === 0) return { items: [...fresh.items], next: fresh.next, added: 0 };
  const isEnd = shown.next === null;
  const isNew = (row: T, at: number) => !known.has(keyOf(row)) && (isEnd || lastFresh < 0 || at < lastFresh);
  const following = isEnd || lastFresh < 0 ? [] : fresh.items.slice(lastFresh + 1);
  return {
    items: [...rows, ...following],
    next: isEnd ? null : fresh.next,
    added: fresh.items.filter(isNew).length,
  };
}
