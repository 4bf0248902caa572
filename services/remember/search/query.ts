import { queryTerms } from "../../../lib/text/exact-terms.ts";
import { withoutInvisible } from "../../../lib/text/invisible.ts";
import { MAX_QUERY_TERMS } from "../../../storage/search/features.ts";
import { dateRanges } from "./date-words.ts";
import type { ParsedQuery } from "./features.ts";

const ASKS_TIME =
  /\bwhen\b|\bhow (?:long|recently)\b|\b(?:what|which) (?:date|day|time|week|month|season|year|weekday)\b/i;

/** Parses a query; `now` (milliseconds) is the reference of "yesterday". */
export function parseQuery(query: string, now: number): ParsedQuery {
  const text = withoutInvisible(query);
  const found = queryTerms(query);
  const terms = [...new Set(found.terms)].slice(0, MAX_QUERY_TERMS);
  return {
    text,
    terms: [...new Set([...terms, ...found.exact])].slice(0, MAX_QUERY_TERMS),
    exactFrom: terms.length,
    asksTime: ASKS_TIME.test(text),
    dates: dateRanges(text, now),
  };
}
