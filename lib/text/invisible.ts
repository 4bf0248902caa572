/** Soft hyphens, joiners, zero-width spaces, marks of direction: no reader sees them (Unicode's own list). */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Removes characters that are never seen: they neither divide nor join words. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, "");
}
