/** A page of a list by offset, as `usePages` wants it: the cursor is where the next one begins. */
export async function pageFrom<T>(
  cursor: string | undefined,
  load: (offset: number) => Promise<{ items: T[]; total: number }>,
): Promise<{ items: T[]; next: string | null }> {
  const offset = Number(cursor ?? 0);
  const { items, total } = await load(offset);
  const end = offset + items.length;
  return { items, next: items.length > 0 && end < total ? String(end) : null };
}
