import { acronymTerm } from "../../lib/text/exact-terms.ts";

/** A form of one or more terms of the query that counts as them: an acronym for its words, or the words for it. */
export interface Variant {
  term: string;
  /** Bits of the terms. */
  mask: number;
}

/** Shorter words begin too many others. */
const LEAST_PREFIX = 3;
/** A word that begins a term of the query stands for it if it is at least this long, and half of it. */
const LEAST_BEGINNING = 4;

/** Whether words that begin with a term may stand for it, if no entry has the term itself. */
export function isPrefix(term: string): boolean {
  return term.length >= LEAST_PREFIX;
}

/** Whether a word of an entry may stand for a term that no entry has. */
export function standsFor(word: string, term: string): boolean {
  return (isPrefix(term) && word.startsWith(term)) || listForms(term).includes(word);
}

/** Returns other forms of a term that no entry has, best first: its beginnings, and words with these initials. */
export function listForms(term: string): string[] {
  const forms: string[] = [];
  const least = Math.max(LEAST_BEGINNING, Math.ceil(term.length / 2));
  for (let end = term.length - 1; end >= least; end--) forms.push(term.slice(0, end));
  return [...forms, acronymTerm(term)];
}
