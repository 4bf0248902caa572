/** A filter of a text field: it has this in it, in any case. */
export function containing(text: string): { $regex: string; $options: "i" } {
  return { $regex: text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), $options: "i" };
}
