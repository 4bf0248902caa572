/** Characters that one message between nodes takes of rows; each may be some bytes (see `max_payload` of NATS). */
const MESSAGE_CHARACTERS = 2_500_000;

/** The first of the rows, as many as one message takes; the very first always. */
export function upToSize<T>(rows: T[], charactersOf: (row: T) => number): T[] {
  let characters = 0;
  const over = rows.findIndex((row) => {
    characters += charactersOf(row);
    return characters > MESSAGE_CHARACTERS;
  });
  return over < 0 ? rows : rows.slice(0, Math.max(over, 1));
}
