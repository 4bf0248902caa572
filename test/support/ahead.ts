/**
 * Gives `use` a time that is `ms` ahead, for what it must do before then; where the time was over first, again, and one
 * twice as far ahead. `use` may be called several times, and must not be disturbed by its calls before.
 *
 * @param use gets the time in the ISO format
 */
export async function ahead<T>(ms: number, use: (at: string) => Promise<T>): Promise<T> {
  const at = new Date(Date.now() + ms);
  try {
    const result = await use(at.toISOString());
    if (Date.now() < at.getTime()) return result;
  } catch (err) {
    if (Date.now() < at.getTime()) throw err;
  }
  return ahead(2 * ms, use);
}
