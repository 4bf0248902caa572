import { terms } from "../../../lib/text/terms.ts";
import { MAX_QUERY_TERMS } from "../../../storage/search/features.ts";
import { dateRanges } from "./date-words.ts";
import type { ParsedQuery } from "./features.ts";

const ASKS_TIME =
  /\bwhen\b|\bhow (?:long|recently)\b|\b(?:what|which) (?:date|day|time|week|month|season|year|weekday)\b/i;

/** Parses a query; `now` (milliseconds) is the reference of "yesterday". */
export function parseQuery(text: string, now: number): ParsedQuery {
  return {
    terms: [...new Set(terms(text))].slice(0, MAX_QUERY_TERMS),
    asksTime: ASKS_TIME.test(text),
    dates: dateRanges(text, now),
  };
}
