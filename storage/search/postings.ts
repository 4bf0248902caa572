/** How often a term is in an entry, and whether in its title. Packed: the count up to 127, and 128 for the title. */
type Weight = number;
const IN_TITLE = 128;
const COUNT = 127;

/** Distinct terms with their weights: a map, or what stands for one. */
export interface Terms {
  forEach(visit: (weight: Weight, term: string) => void): void;
}

export function countTerms(title: readonly string[], text: readonly string[]): Terms {
  const counted = new Map<string, Weight>();
  for (const term of title) counted.set(term, Math.min((counted.get(term) ?? 0) + 1, COUNT));
  for (const [term, count] of counted) counted.set(term, count | IN_TITLE);
  for (const term of text) {
    const weight = counted.get(term) ?? 0;
    if ((weight & COUNT) < COUNT) counted.set(term, weight + 1);
  }
  return counted;
}

/** Which rows have a term. A posting is `row * 256 + weight`: small integers, which arrays hold without boxes. */
export class Postings {
  readonly #lists = new Map<string, number[]>();

  add(row: number, terms: Terms): void {
    terms.forEach((weight, term) => {
      const list = this.#lists.get(term);
      if (list) list.push(row * 256 + weight);
      else this.#lists.set(term, [row * 256 + weight]);
    });
  }

  of(term: string): readonly number[] {
    return this.#lists.get(term) ?? [];
  }
}

export const rowOf = (posting: number): number => posting >>> 8;
export const countOf = (posting: number): number => posting & COUNT;
export const isInTitle = (posting: number): boolean => (posting & IN_TITLE) !== 0;
