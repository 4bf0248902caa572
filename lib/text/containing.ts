/** Returns a filter for a text field that contains this, in any case. */
export function containing(text: string): { $regex: string; $options: "i" } {
  return { $regex: literal(text), $options: "i" };
}

/** Returns the regular expression that matches a text literally. MongoDB refuses NUL in a pattern. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\0", "\\x00");
}
