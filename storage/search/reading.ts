import { hash } from "node:crypto";
import { signsOf, singles, terms } from "../../lib/text/terms.ts";
import type { SearchEntry } from "./entry.ts";

/** Terms and features of an entry's text, for any index; vectors are kept by the hash of the text. */
interface Reading {
  title_terms: string[];
  text_terms: string[];
  /** Terms in title and text, without single characters inside others. */
  length: number;
  /** See `signsOf` in lib/text/terms.ts; of the text alone. */
  signs: number;
  /** Title and text: the input of the vector. */
  text: string;
  hash: string;
}

export function readEntry({ title, text }: Pick<SearchEntry, "title" | "text">): Reading {
  const title_terms = terms(title);
  const text_terms = terms(text);
  const whole = title ? `${title}\n${text}` : text;
  return {
    title_terms: [...title_terms, ...singles(title)],
    text_terms: [...text_terms, ...singles(text)],
    length: title_terms.length + text_terms.length,
    ...{ signs: signsOf(text), text: whole, hash: hash("sha1", whole, "base64url") },
  };
}
