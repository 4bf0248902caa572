/** A filter of a text field: it has this in it, in any case. */
export function containing(text: string): { $regex: string; $options: "i" } {
  return { $regex: literal(text), $options: "i" };
}

/** The regular expression of a text. MongoDB takes none with a NUL in it. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\0", "\\x00");
}
