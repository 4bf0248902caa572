import { terms } from "../../../lib/text/terms.ts";
import { MAX_QUERY_TERMS } from "../../../storage/search/features.ts";
import { type DateRange, dateRanges } from "./date-words.ts";

/** What a query asks for, read once; it is plain JSON. */
export interface ParsedQuery {
  /** Distinct, in order of appearance: bit i of a mask is `terms[i]`. Empty when it has only words that say nothing. */
  terms: string[];
  /** It asks when or how long. */
  asksTime: boolean;
  /** The times that it names. */
  dates: DateRange[];
}

const ASKS_TIME =
  /\bwhen\b|\bhow (?:long|recently)\b|\b(?:what|which) (?:date|day|time|week|month|season|year|weekday)\b/i;

/** Reads a query; `now` (milliseconds) is what "yesterday" is relative to. */
export function parseQuery(text: string, now: number): ParsedQuery {
  return {
    terms: [...new Set(terms(text))].slice(0, MAX_QUERY_TERMS),
    asksTime: ASKS_TIME.test(text),
    dates: dateRanges(text, now),
  };
}
