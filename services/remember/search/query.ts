import { terms } from "../../../lib/text/terms.ts";
import { MAX_QUERY_TERMS } from "../../../storage/search/features.ts";
import { type DateRange, dateRanges } from "./date-words.ts";

/** A parsed query, as plain JSON. */
export interface ParsedQuery {
  /** Distinct, in order of appearance: bit i of a mask is `terms[i]`. Empty if the query has only stop words. */
  terms: string[];
  /** It asks when or how long. */
  asksTime: boolean;
  /** The times that it names. */
  dates: DateRange[];
}

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
