/**
 * Values stored under a prefix (or suffix) of texts. Finds all that apply to a text with one hash look-up per distinct
 * length of affix, however many affixes there are.
 */
export class AffixTable<Value> {
  readonly #side: "start" | "end";
  readonly #values = new Map<string, Value>();
  /** Length of affix → number of stored affixes. */
  readonly #lengths = new Map<number, number>();

  constructor(side: "start" | "end") {
    this.#side = side;
  }

  get size(): number {
    return this.#values.size;
  }

  get(affix: string): Value | undefined {
    return this.#values.get(affix);
  }

  set(affix: string, value: Value): void {
    if (!this.#values.has(affix)) this.#count(affix.length, 1);
    this.#values.set(affix, value);
  }

  delete(affix: string): void {
    if (this.#values.delete(affix)) this.#count(affix.length, -1);
  }

  /** Returns the values of all affixes of the text with at least `minLength` characters. */
  find(text: string, minLength = 0): Value[] {
    const found: Value[] = [];
    for (const length of this.#lengths.keys()) {
      if (length < minLength || length > text.length) continue;
      const value = this.#values.get(
        this.#side === "start" ? text.slice(0, length) : text.slice(text.length - length),
      );
      if (value !== undefined) found.push(value);
    }
    return found;
  }

  #count(length: number, change: number): void {
    const count = (this.#lengths.get(length) ?? 0) + change;
    if (count === 0) this.#lengths.delete(length);
    else this.#lengths.set(length, count);
  }
}
