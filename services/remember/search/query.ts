import { acronyms, acronymTerm, queryTerms, windows } from "../../../lib/text/exact-terms.ts";
import { withoutInvisible } from "../../../lib/text/invisible.ts";
import { fold, terms } from "../../../lib/text/terms.ts";
import { MAX_QUERY_TERMS } from "../../../storage/search/features.ts";
import type { Variant } from "../../../storage/search/related.ts";
import { dateRanges } from "./date-words.ts";
import type { ParsedQuery } from "./features.ts";

const ASKS_TIME =
  /\bwhen\b|\bhow (?:long|recently)\b|\b(?:what|which) (?:date|day|time|week|month|season|year|weekday)\b/i;
const MAX_VARIANTS = 32;

/** Parses a query; `now` (milliseconds) is the reference of "yesterday". */
export function parseQuery(query: string, now: number): ParsedQuery {
  const text = withoutInvisible(query);
  const found = queryTerms(query);
  const words = [...new Set(found.terms)].slice(0, MAX_QUERY_TERMS);
  return {
    text,
    terms: [...new Set([...words, ...found.exact])].slice(0, MAX_QUERY_TERMS),
    words: words.length,
    variants: findVariants(query, words),
    asksTime: ASKS_TIME.test(text),
    dates: dateRanges(text, now),
  };
}

/** Returns the initials that stand for words of the query, and those that its acronyms stand for. */
function findVariants(query: string, words: readonly string[]): Variant[] {
  const maskOf = (each: readonly string[]) =>
    each.reduce((mask, word) => (words.includes(word) ? mask | (1 << words.indexOf(word)) : mask), 0);
  const spelled = acronyms(query).map(({ initials, word }) => ({
    term: acronymTerm(initials),
    mask: maskOf([word]),
  }));
  const short = [...windows(fold(query))].map((window) => ({
    term: window.initials,
    mask: maskOf(window.words.flatMap(terms)),
  }));
  return [...spelled, ...short].filter(({ mask }) => mask !== 0).slice(0, MAX_VARIANTS);
}
