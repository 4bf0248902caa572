import { hash } from "node:crypto";
import { entryTerms } from "../../lib/text/exact-terms.ts";
import { withoutInvisible } from "../../lib/text/invisible.ts";
import { findSigns } from "../../lib/text/terms.ts";
import type { SearchEntry } from "./entry.ts";

/** Terms and features of an entry's text, for any index; vectors are kept by the hash of the text. */
interface Reading {
  title_terms: string[];
  text_terms: string[];
  /** Terms in title and text, without the exact ones. */
  length: number;
  /** See `findSigns` in lib/text/terms.ts; of the text alone. */
  signs: number;
  /** Title and text: the input of the vector. */
  text: string;
  hash: string;
}

export function readEntry(given: Pick<SearchEntry, "title" | "text">): Reading {
  const { title, text } = entryTerms(given);
  const whole = withoutInvisible(given.title ? `${given.title}\n${given.text}` : given.text);
  return {
    title_terms: [...title.terms, ...title.exact],
    text_terms: [...text.terms, ...text.exact],
    length: title.terms.length + text.terms.length,
    ...{ signs: findSigns(given.text), text: whole, hash: hash("sha1", whole, "base64url") },
  };
}
