/** Characters that one message between nodes takes of rows; each may be some bytes (see `max_payload` of NATS). */
const MESSAGE_CHARACTERS = 2_500_000;
/** Bytes of events in one answer, or in one message between nodes. */
export const MESSAGE_BYTES = 4 * 1_048_576;

/** Returns the first of the rows whose sizes add up to no more than `most`; the very first always. */
export function upToSize<T>(rows: T[], sizeOf: (row: T) => number, most = MESSAGE_CHARACTERS): T[] {
  let size = 0;
  const over = rows.findIndex((row) => {
    size += sizeOf(row);
    return size > most;
  });
  return over < 0 ? rows : rows.slice(0, Math.max(over, 1));
}

/** Yields all rows in pages of that size. */
export function* pagesBySize<T>(rows: T[], sizeOf: (row: T) => number, most: number): Generator<T[]> {
  for (let rest = rows; rest.length > 0; ) {
    const page = upToSize(rest, sizeOf, most);
    yield page;
    rest = rest.slice(page.length);
  }
}
