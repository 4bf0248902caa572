/** Okapi BM25's usual parameters: how soon a term's repetition saturates, and how much a text's length counts. */
export const BM25 = { k1: 1.2, b: 0.75 } as const;

/** A store with few entries cannot tell which terms are rare, so this many are added. */
const UNSEEN_ENTRIES = 100;

/** Returns the weight of a term that `frequency` of the entries contain: inverse document frequency, above 0. */
export function rarity(frequency: number, documents: number): number {
  const seen = frequency + 1;
  return Math.log(1 + (documents + UNSEEN_ENTRIES - seen + 0.5) / (seen + 0.5));
}
