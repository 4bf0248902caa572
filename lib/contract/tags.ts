import { Type } from "./type.ts";

/** Tags as callers send them: any spelling, each once after folding. */
export const TagsInput = Type.Array(Type.String({ maxLength: 100, pattern: "[^\\s_-]" }), {
  maxItems: 50,
  description: "Folded: lower case, NFC, white space, `_` and `-` to one `-`.",
  examples: [["billing", "q3-review"]],
});

/** The form a tag is kept and compared in (spec: Memory, tags; api: Small print). */
function canonicalTag(tag: string): string {
  const folded = tag.normalize("NFC").toLowerCase().normalize("NFC");
  return folded.replace(/[\s_-]+/g, "-").replace(/^-|-$/g, "");
}

/** Canonical tags, each once, in the order they were given; what folds to nothing is left out. */
export function canonicalTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(canonicalTag).filter(Boolean))];
}

/** Tags of a query string: repeated, comma-separated or both. A tag may hold commas itself: each is looked for whole too. */
export function tagsOfQuery(given: readonly string[]): string[] {
  return canonicalTags(given.flatMap((each) => [...each.split(","), each]));
}
