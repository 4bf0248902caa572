import { Type } from "typebox";

/** Tags as callers send them: in any spelling, deduplicated after folding. */
export const TagsInput = Type.Array(Type.String({ maxLength: 100, pattern: "[^\\s_-]" }), {
  maxItems: 50,
  description: "Tags. Stored in lower case, with each run of white space, `_` and `-` as one `-`.",
  examples: [["billing", "q3-review"]],
});

/** Returns the form in which a tag is stored and compared (spec: Memory, tags; api: Small print). */
function canonicalTag(tag: string): string {
  const folded = tag.normalize("NFC").toLowerCase().normalize("NFC");
  return folded.replace(/[\s_-]+/g, "-").replace(/^-|-$/g, "");
}

/** Returns the distinct canonical tags in the given order, without empty ones. */
export function canonicalTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(canonicalTag).filter(Boolean))];
}

/** Returns the tags of a query string, repeated or comma-separated; each also counts whole, as a tag may have commas. */
export function tagsOfQuery(tags: readonly string[]): string[] {
  return canonicalTags(tags.flatMap((each) => [...each.split(","), each]));
}
