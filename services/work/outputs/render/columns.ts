/** Returns the widths of a table's columns: as wanted if they fit; otherwise the wide ones share the rest. */
export function sharedWidths(wanted: readonly number[], room: number): number[] {
  let left = room;
  let open = [...wanted.keys()];
  for (;;) {
    const share = left / open.length;
    const narrow = open.filter((n) => (wanted[n] as number) <= share);
    for (const n of narrow) left -= wanted[n] as number;
    open = open.filter((n) => !narrow.includes(n));
    if (open.length === 0) return [...wanted];
    if (narrow.length === 0) return wanted.map((each, n) => (open.includes(n) ? share : each));
  }
}
